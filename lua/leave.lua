--- leave gives up active jobs whose handlers are stuck: they go on long after
--- their contexts have ended.
---
--- A job stays its worker's until another takes it back, but its lease ends now.
--- That is an event, once.
---
--- @memory drains
--- @key meta hash the queue's version
--- @key active zset ids by the deadline of their lease
--- @key events stream what happened
--- @each lock string <id>:lock the token that holds it
--- @arg events word(none|final|all) which events are written
--- @arg history int how many events are kept, about
--- @item id id the job's id
--- @item token string the token under which it was started
--- @item job string the job's wire name, for the event
--- @field version meta
--- @reply now ms the server's clock
--- @reply results records one per item, in order
--- @record results verdict word(left|lost) what happened; lost if the token holds it no more
--- @error EMQARGS the call is malformed; nothing was written
--- @error EMQVERSION the queue speaks another version of the protocol

local version = redis.call('HGET', KEYS[1], 'version')
if version and version ~= 'echomq:2.0.0' then
  return redis.error_reply('EMQVERSION expected echomq:2.0.0, found ' .. version)
end

-- Whether text is a plain whole number in range. Any other would be refused by
-- a command halfway through the script.
local function whole(text, low, high)
  local number = string.find(text, '^%-?%d+$') and tonumber(text)
  return number and number >= low and number <= high
end

local count = #KEYS - 3
if count < 1 or #ARGV ~= 2 + 3 * count then
  return redis.error_reply('EMQARGS leave takes 3 keys and 2 arguments, then 1 key and 3 arguments for each job')
end
local level = ARGV[1]
local history = tonumber(ARGV[2])
local levels = { none = true, final = true, all = true }
if not levels[level] or not whole(ARGV[2], 0, 9007199254740991) then
  return redis.error_reply('EMQARGS events must be none, final or all, and history a whole number from 0')
end
local ids = {}
local locks = {}
for i = 1, count do
  ids[i] = ARGV[3 * i]
  locks[i] = KEYS[3 + i]
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local tokens = redis.call('MGET', unpack(locks))
local scores = redis.call('ZMSCORE', KEYS[2], unpack(ids))
local leaving = {}
local names = {}
local leases = {}
local seen = {}
local verdicts = {}
for i = 1, count do
  verdicts[i] = 'lost'
  if ARGV[3 * i + 1] ~= '' and tokens[i] == ARGV[3 * i + 1] then
    verdicts[i] = 'left'
    if (tonumber(scores[i] or 0) or 0) > now and not seen[ids[i]] then
      seen[ids[i]] = true
      leaving[#leaving + 1] = ids[i]
      names[#names + 1] = ARGV[3 * i + 2]
      leases[#leases + 1] = now
      leases[#leases + 1] = ids[i]
    end
  end
end
if #leaving > 0 then
  -- Taken out and put back, because the engine allows a removal, and then the
  -- rest of the script, when it has no memory left.
  redis.call('ZREM', KEYS[2], unpack(leaving))
  redis.call('ZADD', KEYS[2], unpack(leases))
  for l = 1, #leaving do
    if level ~= 'none' then
      redis.call('XADD', KEYS[3], 'MAXLEN', '~', history, '*', 'event', 'stuck', 'jobId', leaving[l], 'name', names[l])
    end
  end
end
return { now, verdicts }
