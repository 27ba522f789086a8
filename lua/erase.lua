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
--- @key groups zset groups with work by turn; those at their limit after all others
--- @key group-active hash active jobs to their groups, and how many each group has
--- @each job hash <id> the job
--- @each lock string <id>:lock the token that holds it
--- @each logs list <id>:logs log lines
--- @each dependencies set <id>:dependencies children that are pending
--- @each processed hash <id>:processed results of children
--- @each failures hash <id>:failed errors of children
--- @item id id the job's id
--- @field version meta
--- @field paused meta
--- @field grouped meta
--- @field deid job
--- @field * reserved
--- @field * dedup
--- @field * group-active
--- @reply now ms the server's clock
--- @reply verdict word(erased|running) whether they were deleted, or left since the queue is not paused
--- @error EMQARGS the call is malformed; nothing was written
--- @error EMQVERSION the queue speaks another version of the protocol

local meta = redis.call('HMGET', KEYS[1], 'version', 'paused', 'grouped')
local version = meta[1]
local paused = meta[2] == '1'
if version and version ~= 'echomq:2.0.0' then
  return redis.error_reply('EMQVERSION expected echomq:2.0.0, found ' .. version)
end

local count = math.floor((#KEYS - 13) / 6)
if count < 1 or #KEYS ~= 13 + 6 * count or #ARGV ~= count then
  return redis.error_reply('EMQARGS erase takes 13 keys, then 6 keys and 1 argument for each job')
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
  local key = redis.pcall('HGET', KEYS[6 * i + 8], 'deid')
  if type(key) == 'string' then
    keyed[#keyed + 1] = key
    holders[#holders + 1] = ids[i]
  end
  keys[#keys + 1] = KEYS[6 * i + 8]
  keys[#keys + 1] = KEYS[6 * i + 9]
  keys[#keys + 1] = KEYS[6 * i + 10]
  keys[#keys + 1] = KEYS[6 * i + 11]
  keys[#keys + 1] = KEYS[6 * i + 12]
  keys[#keys + 1] = KEYS[6 * i + 13]
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
-- Those that are active no more leave the numbers of their groups.
local group = {}
local parted = {}
if meta[3] and #ids > 0 then
  local found = redis.call('HMGET', KEYS[13], unpack(ids))
  local gone = {}
  local fewer = {}
  for l = 1, #ids do
    local id = ids[l]
    if found[l] and not group[id] then
      group[id] = found[l]
      gone[#gone + 1] = id
      if not fewer[found[l]] then
        fewer[found[l]] = 0
        parted[#parted + 1] = found[l]
      end
      fewer[found[l]] = fewer[found[l]] + 1
    end
  end
  if #gone > 0 then
    redis.call('HDEL', KEYS[13], unpack(gone))
  end
  for p = 1, #parted do
    if redis.call('HINCRBY', KEYS[13], '|' .. parted[p], 0 - fewer[parted[p]]) < 1 then
      redis.call('HDEL', KEYS[13], '|' .. parted[p])
    end
  end
end
-- Groups that were at their limit take their turn again, behind the others.
if #parted > 0 then
  local scores = redis.call('ZMSCORE', KEYS[12], unpack(parted))
  local ring = {}
  for p = 1, #parted do
    if scores[p] and tonumber(scores[p]) >= 4503599627370496 then
      ring[#ring + 1] = 0
      ring[#ring + 1] = parted[p]
    end
  end
  if #ring > 0 then
    local turn = redis.call('HINCRBY', KEYS[1], 'grouped', math.floor(#ring / 2)) - math.floor(#ring / 2)
    for r = 1, #ring, 2 do
      turn = turn + 1
      ring[r] = turn
    end
    redis.call('ZADD', KEYS[12], unpack(ring))
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
