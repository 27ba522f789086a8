--- pause makes a queue give out no further jobs until it is resumed.
---
--- What is held goes on, and what is reserved may still be started. Jobs are
--- added as before, and delayed ones keep their due times and are promoted then.
--- Pausing a paused queue changes nothing.
---
--- @memory drains
--- @key meta hash the queue's version, and whether it is paused
--- @key delayed zset ids by due time
--- @key marker zset wakes idle workers
--- @key events stream what happened
--- @arg events word(none|final|all) which events are written
--- @arg history int how many events are kept, about
--- @field version meta
--- @field paused meta
--- @field slot meta
--- @reply now ms the server's clock
--- @reply changed flag whether it was not paused before
--- @error EMQARGS the call is malformed; nothing was written
--- @error EMQVERSION the queue speaks another version of the protocol

local meta = redis.call('HMGET', KEYS[1], 'version', 'paused', 'slot')
local version = meta[1]
if version and version ~= 'echomq:2.0.0' then
  return redis.error_reply('EMQVERSION expected echomq:2.0.0, found ' .. version)
end

-- Whether text is a plain whole number in range. Any other would be refused by
-- a command halfway through the script.
local function whole(text, low, high)
  local number = string.find(text, '^%-?%d+$') and tonumber(text)
  return number and number >= low and number <= high
end

if #KEYS ~= 4 or #ARGV ~= 2 then
  return redis.error_reply('EMQARGS pause takes 4 keys and 2 arguments')
end
local level = ARGV[1]
local history = tonumber(ARGV[2])
local levels = { none = true, final = true, all = true }
if not levels[level] or not whole(ARGV[2], 0, 9007199254740991) then
  return redis.error_reply('EMQARGS events must be none, final or all, and history a whole number from 0')
end
local changed = meta[2] ~= '1'

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

-- Nobody is to be woken for a job. What the marker tells of a due time or a slot
-- may be news still, so that is told again.
redis.call('DEL', KEYS[3])
redis.call('HSET', KEYS[1], 'version', 'echomq:2.0.0', 'paused', '1')
if meta[3] or redis.call('EXISTS', KEYS[2]) == 1 then
  redis.call('ZADD', KEYS[3], 1, '~due')
end
if changed and level ~= 'none' then
  redis.call('XADD', KEYS[4], 'MAXLEN', '~', history, '*', 'event', 'paused')
end
return { now, changed and 1 or 0 }
