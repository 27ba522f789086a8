--- promote makes delayed jobs that are due ready to run.
---
--- A job that has run before goes to the front of its priority, where it came
--- from; a new one goes behind those that wait already. A job of a group goes to its
--- group in the same way. One whose hash is gone
--- is dropped, one whose hash cannot be used is put into quarantine.
---
--- @memory drains
--- @key meta hash the queue's version, and whether it is paused or blocked
--- @key wait list ids without priority; the next to run is at the tail
--- @key prioritized zset ids with a priority
--- @key pc string counter that orders jobs of one priority
--- @key delayed zset ids by due time
--- @key quarantine zset ids whose hash cannot be used
--- @key marker zset wakes idle workers
--- @key events stream what happened
--- @key groups zset groups with work by turn; those at their limit after all others
--- @key grouped zset jobs that wait in their groups: group, place and id
--- @each job hash <id> the job
--- @arg events word(none|final|all) which events are written
--- @arg history int how many events are kept, about
--- @item id id a job that is believed to be due, the earliest first
--- @field version meta
--- @field paused meta
--- @field blocked meta
--- @field grouped meta
--- @field name job
--- @field priority job
--- @field ats job
--- @field delay job
--- @field grp job
--- @field gpl job
--- @reply now ms the server's clock
--- @reply due ms when the next delayed job is due; 0 if there is none
--- @reply results records one per item, in order
--- @record results verdict word(promoted|early|gone|orphan|quarantined) what happened
--- @error EMQARGS the call is malformed; nothing was written
--- @error EMQVERSION the queue speaks another version of the protocol

local meta = redis.call('HMGET', KEYS[1], 'version', 'paused', 'blocked', 'grouped')
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

local count = #KEYS - 10
local level = ARGV[1]
local history = tonumber(ARGV[2])
if count < 1 or #ARGV ~= 2 + count then
  return redis.error_reply('EMQARGS promote takes 10 keys and 2 arguments, then 1 key and 1 argument for each job')
end
local levels = { none = true, final = true, all = true }
if not levels[level] or not whole(ARGV[2], 0, 9007199254740991) then
  return redis.error_reply('EMQARGS events must be none, final or all, and history a whole number from 0')
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

-- Whether nobody is to be woken for a job: the queue is paused, or blocked until
-- one of its jobs ends or until a time that a worker waits for.
local stopped = meta[2] == '1' or meta[3] == 'limit' or (meta[3] and now < (tonumber(meta[3]) or 0))

local ids = {}
for i = 1, count do
  ids[i] = ARGV[2 + i]
end
local scores = redis.call('ZMSCORE', KEYS[5], unpack(ids))
local verdicts = {}
local seen = {}
local leaving = {}
local waiting = {}
local front = {}
local ranked = {}
local joining = {}
local groups = {}
local priorities = {}
local before = {}
local foremost = {}
local broken = {}
local delays = {}
local names = {}
for i = 1, count do
  local id = ids[i]
  local due = scores[i] and not seen[id] and tonumber(scores[i])
  if not due then
    verdicts[i] = 'gone'
  elseif due > now then
    verdicts[i] = 'early'
  else
    seen[id] = true
    leaving[#leaving + 1] = id
    local fields = redis.pcall('HMGET', KEYS[10 + i], 'name', 'priority', 'ats', 'delay', 'grp')
    if fields.err and not string.find(fields.err, 'WRONGTYPE', 1, true) then
      return fields
    end
    if fields.err or (not fields[1] and redis.call('EXISTS', KEYS[10 + i]) == 1) then
      verdicts[i] = 'quarantined'
      broken[#broken + 1] = now
      broken[#broken + 1] = id
    elseif not fields[1] then
      verdicts[i] = 'orphan'
    else
      verdicts[i] = 'promoted'
      delays[i] = fields[4]
      names[i] = fields[1]
      local priority = tonumber(fields[2] or 0) or 0
      local started = tonumber(fields[3] or 0) or 0
      if fields[5] then
        joining[#joining + 1] = i
        groups[i] = fields[5]
        priorities[i] = priority
        before[i] = started > 0
      elseif priority > 0 and started > 0 then
        foremost[#foremost + 1] = priority * 4294967296
        foremost[#foremost + 1] = id
      elseif priority > 0 then
        ranked[#ranked + 1] = priority
        ranked[#ranked + 1] = id
      elseif started > 0 then
        front[#front + 1] = id
      else
        waiting[#waiting + 1] = id
      end
    end
  end
end

if #leaving > 0 then
  redis.call('ZREM', KEYS[5], unpack(leaving))
end
for i = 1, count do
  if delays[i] then
    redis.call('HDEL', KEYS[10 + i], 'delay')
  end
  if verdicts[i] == 'orphan' or verdicts[i] == 'quarantined' then
    if level ~= 'none' then
      redis.call('XADD', KEYS[8], 'MAXLEN', '~', history, '*', 'event', verdicts[i], 'jobId', ids[i])
    end
  elseif verdicts[i] == 'promoted' and level == 'all' then
    redis.call('XADD', KEYS[8], 'MAXLEN', '~', history, '*', 'event', 'waiting', 'jobId', ids[i], 'name', names[i])
  end
end
if #broken > 0 then
  redis.call('ZADD', KEYS[6], unpack(broken))
end
if #ranked > 0 then
  local ranks = math.floor(#ranked / 2)
  local counter = redis.call('INCRBY', KEYS[4], ranks) - ranks
  for i = 1, #ranked, 2 do
    counter = counter + 1
    ranked[i] = ranked[i] * 4294967296 + counter % 4294967296
  end
  redis.call('ZADD', KEYS[3], unpack(ranked))
end
if #foremost > 0 then
  redis.call('ZADD', KEYS[3], unpack(foremost))
end
if #waiting > 0 then
  redis.call('LPUSH', KEYS[2], unpack(waiting))
end
if #front > 0 then
  -- The tail leaves first, so the earliest goes there last.
  local last = {}
  for f = #front, 1, -1 do
    last[#last + 1] = front[f]
  end
  redis.call('RPUSH', KEYS[2], unpack(last))
end
if #joining > 0 then
  local turn = redis.call('HINCRBY', KEYS[1], 'grouped', #joining) - #joining
  local rows = {}
  local ring = {}
  local ringed = {} -- of a member that stands there twice engines take one score or the other
  for i = 1, count do
    if groups[i] then
      turn = turn + 1
      local place = string.format('%07.0f|%016.0f', priorities[i], before[i] and 0 or turn)
      redis.call('HSET', KEYS[10 + i], 'gpl', place)
      if not ringed[groups[i]] then
        ringed[groups[i]] = true
        ring[#ring + 1] = turn
        ring[#ring + 1] = groups[i]
      end
      rows[#rows + 1] = 0
      rows[#rows + 1] = groups[i] .. '|' .. place .. '|' .. ids[i]
    end
  end
  redis.call('ZADD', KEYS[10], unpack(rows))
  redis.call('ZADD', KEYS[9], 'NX', unpack(ring))
end

-- The job that comes next of those that may be taken: one without a group, or of
-- the group whose turn it is.
local function first()
  local head = redis.call('LINDEX', KEYS[2], -1) or redis.call('ZRANGE', KEYS[3], 0, 0)[1]
  if head or not (meta[4] or #joining > 0) then
    return head
  end
  local group = redis.call('ZRANGE', KEYS[9], 0, 0, 'WITHSCORES')
  if group[1] and tonumber(group[2]) < 4503599627370496 then
    local member = redis.call('ZRANGEBYLEX', KEYS[10], '[' .. group[1] .. '|', '(' .. group[1] .. '}', 'LIMIT', 0, 1)[1]
    head = member and string.match(member, '[^|]*$')
  end
  return head
end
if not stopped and #ranked + #foremost + #waiting + #front + #joining > 0 then
  local head = first()
  if head then
    redis.call('ZADD', KEYS[7], 0, head)
  end
end
local soonest = redis.call('ZRANGE', KEYS[5], 0, 0, 'WITHSCORES')[2]
return { now, math.floor(tonumber(soonest or 0)), verdicts }
