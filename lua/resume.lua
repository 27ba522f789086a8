--- resume lets a paused queue give out jobs again.
---
--- Whether it is blocked by a limit or rate the next pick finds out.
---
--- Resuming a queue that is not paused changes nothing.
---
--- @memory drains
--- @key meta hash the queue's version, and whether it is paused
--- @key wait list ids without priority; the next to run is at the tail
--- @key prioritized zset ids with a priority
--- @key marker zset wakes idle workers
--- @key events stream what happened
--- @key groups zset groups with work by turn; those at their limit after all others
--- @key grouped zset jobs that wait in their groups: group, place and id
--- @arg events word(none|final|all) which events are written
--- @arg history int how many events are kept, about
--- @field version meta
--- @field paused meta
--- @field blocked meta
--- @field grouped meta
--- @reply now ms the server's clock
--- @reply changed flag whether it was paused before
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

if #KEYS ~= 7 or #ARGV ~= 2 then
  return redis.error_reply('EMQARGS resume takes 7 keys and 2 arguments')
end
local level = ARGV[1]
local history = tonumber(ARGV[2])
local levels = { none = true, final = true, all = true }
if not levels[level] or not whole(ARGV[2], 0, 9007199254740991) then
  return redis.error_reply('EMQARGS events must be none, final or all, and history a whole number from 0')
end
local changed = meta[2] == '1'

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

redis.call('HDEL', KEYS[1], 'paused', 'blocked')
-- The job that comes next of those that may be taken: one without a group, or of
-- the group whose turn it is.
local function first()
  local head = redis.call('LINDEX', KEYS[2], -1) or redis.call('ZRANGE', KEYS[3], 0, 0)[1]
  if head or not meta[3] then
    return head
  end
  local group = redis.call('ZRANGE', KEYS[6], 0, 0, 'WITHSCORES')
  if group[1] and tonumber(group[2]) < 4503599627370496 then
    local member = redis.call('ZRANGEBYLEX', KEYS[7], '[' .. group[1] .. '|', '(' .. group[1] .. '}', 'LIMIT', 0, 1)[1]
    head = member and string.match(member, '[^|]*$')
  end
  return head
end
local head = first()
if head then
  redis.call('ZADD', KEYS[4], 0, head)
end
if changed and level ~= 'none' then
  redis.call('XADD', KEYS[5], 'MAXLEN', '~', history, '*', 'event', 'resumed')
end
return { now, changed and 1 or 0 }
