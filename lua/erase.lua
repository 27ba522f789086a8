--- erase deletes jobs of a paused queue with every key of theirs, whether active
--- or not, on the way to its end. Those that wait in the list are drained first.
---
--- @memory drains
--- @key meta hash the queue's version
--- @key prioritized zset ids with a priority
--- @key delayed zset ids by due time
--- @key active zset ids by the deadline of their lease
--- @key reserved hash ids to the token they are reserved for
--- @key completed zset ids by finishing time
--- @key failed zset ids by finishing time
--- @key quarantine zset ids that cannot be run
--- @key waiting-children zset parents by when their children are next looked for
--- @each job hash <id> the job
--- @each lock string <id>:lock the token that holds it
--- @each logs list <id>:logs log lines
--- @each dependencies set <id>:dependencies children that are pending
--- @each processed hash <id>:processed results of children
--- @each failures hash <id>:failed errors of children
--- @item id id the job's id
--- @field version meta
--- @field paused meta
--- @field * reserved
--- @reply now ms the server's clock
--- @reply verdict word(erased|running) whether they were deleted, or left since the queue is not paused
--- @error EMQARGS the call is malformed; nothing was written
--- @error EMQVERSION the queue speaks another version of the protocol

local meta = redis.call('HMGET', KEYS[1], 'version', 'paused')
local version = meta[1]
local paused = meta[2] == '1'
if version and version ~= 'echomq:2.0.0' then
  return redis.error_reply('EMQVERSION expected echomq:2.0.0, found ' .. version)
end

local count = math.floor((#KEYS - 9) / 6)
if count < 1 or #KEYS ~= 9 + 6 * count or #ARGV ~= count then
  return redis.error_reply('EMQARGS erase takes 9 keys, then 6 keys and 1 argument for each job')
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
if not paused then
  return { now, 'running' }
end
local ids = {}
local keys = {}
for i = 1, count do
  ids[i] = ARGV[i]
  keys[#keys + 1] = KEYS[6 * i + 4]
  keys[#keys + 1] = KEYS[6 * i + 5]
  keys[#keys + 1] = KEYS[6 * i + 6]
  keys[#keys + 1] = KEYS[6 * i + 7]
  keys[#keys + 1] = KEYS[6 * i + 8]
  keys[#keys + 1] = KEYS[6 * i + 9]
end
redis.call('DEL', unpack(keys))
redis.call('ZREM', KEYS[2], unpack(ids))
redis.call('ZREM', KEYS[3], unpack(ids))
redis.call('ZREM', KEYS[4], unpack(ids))
redis.call('HDEL', KEYS[5], unpack(ids))
redis.call('ZREM', KEYS[6], unpack(ids))
redis.call('ZREM', KEYS[7], unpack(ids))
redis.call('ZREM', KEYS[8], unpack(ids))
redis.call('ZREM', KEYS[9], unpack(ids))
return { now, 'erased' }
