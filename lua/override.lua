--- override sets an operator's overrides of a queue's limits, or takes them away.
---
--- They hold from the next pick on, of every worker, over what directives say
--- and under what a worker's options do. What the change may allow to be taken
--- wakes a worker. An empty argument leaves that override as it is.
---
--- @memory drains
--- @key meta hash the queue's version, whether it is paused or blocked, and the overrides
--- @key wait list ids without priority; the next to run is at the tail
--- @key prioritized zset ids with a priority
--- @key marker zset wakes idle workers
--- @key groups zset groups with work by turn; those at their limit after all others
--- @key grouped zset jobs that wait in their groups: group, place and id
--- @arg limit string how many jobs may be active, from 1; none for any number; clear for no override
--- @arg rate string tokens and interval in ms, as 100/1000; none for no rate; clear for no override
--- @arg groupLimit string how many jobs of one group may be active, as limit
--- @field version meta
--- @field paused meta
--- @field blocked meta
--- @field limit meta
--- @field rate meta
--- @field groupLimit meta
--- @field grouped meta
--- @reply now ms the server's clock
--- @error EMQARGS the call is malformed; nothing was written
--- @error EMQVERSION the queue speaks another version of the protocol

local meta = redis.call('HMGET', KEYS[1], 'version', 'paused', 'grouped')
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

if #KEYS ~= 6 or #ARGV ~= 3 then
  return redis.error_reply('EMQARGS override takes 6 keys and 3 arguments')
end
local words = { [''] = true, none = true, clear = true }
if not words[ARGV[1]] and not whole(ARGV[1], 1, 2147483647) then
  return redis.error_reply('EMQARGS limit must be a whole number from 1 to 2147483647, none or clear')
end
local many, span = string.match(ARGV[2], '^(%d+)/(%d+)$')
if not words[ARGV[2]] and not (many and whole(many, 1, 1000000) and whole(span, 1, 2678400000)) then
  return redis.error_reply('EMQARGS rate must be tokens from 1 to 1000000, / and an interval from 1 to 2678400000, or none or clear')
end
if not words[ARGV[3]] and not whole(ARGV[3], 1, 2147483647) then
  return redis.error_reply('EMQARGS groupLimit must be a whole number from 1 to 2147483647, none or clear')
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

-- The deletion goes first: the engine allows it, and then the rest of the script,
-- when it has no memory left.
redis.call('HDEL', KEYS[1], 'blocked')
if ARGV[1] == 'clear' then
  redis.call('HDEL', KEYS[1], 'limit')
elseif ARGV[1] ~= '' then
  redis.call('HSET', KEYS[1], 'limit', ARGV[1])
end
if ARGV[2] == 'clear' then
  redis.call('HDEL', KEYS[1], 'rate')
elseif ARGV[2] ~= '' then
  redis.call('HSET', KEYS[1], 'rate', ARGV[2])
end
if ARGV[3] == 'clear' then
  redis.call('HDEL', KEYS[1], 'groupLimit')
elseif ARGV[3] ~= '' then
  redis.call('HSET', KEYS[1], 'groupLimit', ARGV[3])
end
if not version then
  redis.call('HSET', KEYS[1], 'version', 'echomq:2.0.0')
end
local head = redis.call('LINDEX', KEYS[2], -1) or redis.call('ZRANGE', KEYS[3], 0, 0)[1]
if not head and meta[3] then
  -- Also of a group that is at its limit, which may be another now.
  local group = redis.call('ZRANGE', KEYS[5], 0, 0)[1]
  local member = group and redis.call('ZRANGEBYLEX', KEYS[6], '[' .. group .. '|', '(' .. group .. '}', 'LIMIT', 0, 1)[1]
  head = member and string.match(member, '[^|]*$')
end
if head and meta[2] ~= '1' then
  redis.call('ZADD', KEYS[4], 0, head)
end
return { now }
