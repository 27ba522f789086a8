--- sweep shows a page of ended jobs, from the oldest on, to the one worker whose
--- turn it is to delete what is kept no longer.
---
--- A worker has the turn until the time that it asked for, and gives it back by
--- resting: until then nobody has it, and after that who comes first. How far the
--- jobs have been looked at is kept for the next one.
---
--- Whoever asks is told whether there is something for collect to be seen to.
---
--- @memory drains
--- @key meta hash the queue's version
--- @key completed zset ids by finishing time
--- @key failed zset ids by finishing time
--- @key outbox zset deliveries to other queues by when they are next tried
--- @key waiting-children zset parents by when their children are next looked for
--- @arg worker string the caller
--- @arg set word(completed|failed) which of the two is looked at
--- @arg step word(resume|look|rest) go on where the last one stopped, or from a rank; or give the turn back
--- @arg from int the rank of the first to be looked at, the oldest being 0
--- @arg limit int how many to look at, at most 500
--- @arg hold ms for how long the caller has the turn, or the rest is
--- @field version meta
--- @field turn meta
--- @field turnEnds meta
--- @field sweptCompleted meta
--- @field sweptFailed meta
--- @reply now ms the server's clock
--- @reply mine flag whether it is the caller's turn
--- @reply ends ms when the turn or the rest is over
--- @reply size int how many have ended so and are kept
--- @reply from int the rank of the first id
--- @reply ids records ended jobs, the oldest first
--- @record ids id string an id; it need not be one that a job can have
--- @record ids ended ms when it ended
--- @reply flows flag whether there are deliveries, or parents that wait for children
--- @error EMQARGS the call is malformed; nothing was written
--- @error EMQVERSION the queue speaks another version of the protocol

local meta = redis.call('HMGET', KEYS[1], 'version', 'turn', 'turnEnds', 'sweptCompleted', 'sweptFailed')
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

local worker = ARGV[1]
if #KEYS ~= 5 or #ARGV ~= 6 or worker == '' then
  return redis.error_reply('EMQARGS sweep takes 5 keys and 6 arguments, and the worker must have a name')
end
if ARGV[2] ~= 'completed' and ARGV[2] ~= 'failed' then
  return redis.error_reply('EMQARGS the set must be completed or failed')
end
if ARGV[3] ~= 'resume' and ARGV[3] ~= 'look' and ARGV[3] ~= 'rest' then
  return redis.error_reply('EMQARGS the step must be resume, look or rest')
end
if not whole(ARGV[4], 0, 9007199254740991) or not whole(ARGV[5], 1, 500) or not whole(ARGV[6], 1, 86400000) then
  return redis.error_reply('EMQARGS from must be a whole number from 0, limit from 1 to 500 and hold from 1 to 86400000')
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local set = ARGV[2] == 'completed' and KEYS[2] or KEYS[3]
local size = redis.call('ZCARD', set)
local flows = math.min(redis.call('EXISTS', KEYS[4], KEYS[5]), 1)
local ends = tonumber(meta[3] or 0) or 0
if not version or (meta[2] ~= worker and ends > now) then
  return { now, 0, math.floor(ends), size, 0, {}, flows }
end
ends = now + tonumber(ARGV[6])
local from = tonumber(ARGV[4])
if ARGV[3] == 'resume' then
  from = tonumber(ARGV[2] == 'completed' and meta[4] or ARGV[2] == 'failed' and meta[5] or 0) or 0
end
local page = redis.call('ZRANGE', set, from, from + tonumber(ARGV[5]) - 1, 'WITHSCORES')
if #page == 0 then
  from = 0
end
-- Taken out and put back, because the engine allows a removal, and then the
-- rest of the script, when it has no memory left.
redis.call('HDEL', KEYS[1], 'turn')
if ARGV[3] == 'rest' then
  redis.call('HSET', KEYS[1], 'turnEnds', ends)
  page = {}
elseif ARGV[2] == 'completed' then
  redis.call('HSET', KEYS[1], 'turn', worker, 'turnEnds', ends, 'sweptCompleted', from)
else
  redis.call('HSET', KEYS[1], 'turn', worker, 'turnEnds', ends, 'sweptFailed', from)
end
local ids = {}
for p = 1, #page, 2 do
  ids[#ids + 1] = page[p]
  ids[#ids + 1] = math.floor(tonumber(page[p + 1]))
end
return { now, 1, math.floor(ends), size, from, ids, flows }
