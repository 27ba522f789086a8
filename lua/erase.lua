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
--- @key dedup hash unique keys to the id of the job that holds each
--- @key dedup-due zset unique keys by when their time is over
--- @each job hash <id> the job
--- @each lock string <id>:lock the token that holds it
--- @each logs list <id>:logs log lines
--- @each dependencies set <id>:dependencies children that are pending
--- @each processed hash <id>:processed results of children
--- @each failures hash <id>:failed errors of children
--- @item id id the job's id
--- @field version meta
--- @field paused meta
--- @field deid job
--- @field * reserved
--- @field * dedup
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

local count = math.floor((#KEYS - 11) / 6)
if count < 1 or #KEYS ~= 11 + 6 * count or #ARGV ~= count then
  return redis.error_reply('EMQARGS erase takes 11 keys, then 6 keys and 1 argument for each job')
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
if not paused then
  return { now, 'running' }
end
local ids = {}
local keys = {}
local keyed = {}
local holders = {}
for i = 1, count do
  ids[i] = ARGV[i]
  local key = redis.pcall('HGET', KEYS[6 * i + 6], 'deid')
  if type(key) == 'string' then
    keyed[#keyed + 1] = key
    holders[#holders + 1] = ids[i]
  end
  keys[#keys + 1] = KEYS[6 * i + 6]
  keys[#keys + 1] = KEYS[6 * i + 7]
  keys[#keys + 1] = KEYS[6 * i + 8]
  keys[#keys + 1] = KEYS[6 * i + 9]
  keys[#keys + 1] = KEYS[6 * i + 10]
  keys[#keys + 1] = KEYS[6 * i + 11]
end
redis.call('DEL', unpack(keys))
-- A key is released only by the job that holds it.
if #keyed > 0 then
  local owners = redis.call('HMGET', KEYS[10], unpack(keyed))
  local free = {}
  for k = 1, #keyed do
    if owners[k] == holders[k] then
      free[#free + 1] = keyed[k]
    end
  end
  if #free > 0 then
    redis.call('HDEL', KEYS[10], unpack(free))
    redis.call('ZREM', KEYS[11], unpack(free))
  end
end
redis.call('ZREM', KEYS[2], unpack(ids))
redis.call('ZREM', KEYS[3], unpack(ids))
redis.call('ZREM', KEYS[4], unpack(ids))
redis.call('HDEL', KEYS[5], unpack(ids))
redis.call('ZREM', KEYS[6], unpack(ids))
redis.call('ZREM', KEYS[7], unpack(ids))
redis.call('ZREM', KEYS[8], unpack(ids))
redis.call('ZREM', KEYS[9], unpack(ids))
return { now, 'erased' }
