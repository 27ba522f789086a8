--- recover takes jobs back whose lease ran out: their worker is lost.
---
--- The caller says which deadline it saw expired, and has seen so for at least
--- a renewal interval by its own clock; a lease that was renewed since is left
--- alone. A job goes to the front of where it came from. One that was reserved
--- but never started is taken back without counting a stall.
---
--- It never ends a job: past the allowed stalls it sets the reason for which
--- the next worker settles the job as failed without running it.
---
--- @memory drains
--- @key meta hash the queue's version, and whether it is paused or blocked
--- @key wait list ids without priority; the next to run is at the tail
--- @key prioritized zset ids with a priority
--- @key active zset ids by the deadline of their lease
--- @key reserved hash ids to the token they are reserved for
--- @key quarantine zset ids whose hash cannot be used
--- @key marker zset wakes idle workers
--- @key events stream what happened
--- @each job hash <id> the job
--- @each lock string <id>:lock the token that holds it
--- @arg events word(none|final|all) which events are written
--- @arg history int how many events are kept, about
--- @item id id a job whose lease is believed to have run out
--- @item deadline ms the deadline that was seen
--- @item stalls int how many stalls the job is allowed
--- @field version meta
--- @field paused meta
--- @field blocked meta
--- @field name job
--- @field priority job
--- @field stc job
--- @field defa job
--- @field * reserved
--- @reply now ms the server's clock
--- @reply results records one per item, in order
--- @record results verdict word(stalled|returned|renewed|gone|orphan|quarantined) what happened
--- @error EMQARGS the call is malformed; nothing was written
--- @error EMQVERSION the queue speaks another version of the protocol

local meta = redis.call('HMGET', KEYS[1], 'version', 'paused', 'blocked')
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

local count = math.floor((#KEYS - 8) / 2)
local level = ARGV[1]
local history = tonumber(ARGV[2])
if count < 1 or #KEYS ~= 8 + 2 * count or #ARGV ~= 2 + 3 * count then
  return redis.error_reply('EMQARGS recover takes 8 keys and 2 arguments, then 2 keys and 3 arguments for each job')
end
local levels = { none = true, final = true, all = true }
if not levels[level] or not whole(ARGV[2], 0, 9007199254740991) then
  return redis.error_reply('EMQARGS events must be none, final or all, and history a whole number from 0')
end
local ids = {}
local locks = {}
for i = 1, count do
  if not whole(ARGV[3 * i + 1], -9007199254740991, 9007199254740991) or not whole(ARGV[3 * i + 2], -9007199254740991, 9007199254740991) then
    return redis.error_reply('EMQARGS deadline and stalls must be whole numbers')
  end
  ids[i] = ARGV[3 * i]
  locks[i] = KEYS[8 + 2 * i]
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local scores = redis.call('ZMSCORE', KEYS[4], unpack(ids))
local tokens = redis.call('MGET', unpack(locks))
local verdicts = {}
local seen = {}
local leaving = {}
local freed = {}
local counters = {}
local names = {}
local marked = {}
local front = {}
local ranked = {}
local broken = {}
for i = 1, count do
  local id = ids[i]
  local deadline = scores[i] and not seen[id] and tonumber(scores[i])
  if not deadline then
    verdicts[i] = 'gone'
  elseif math.floor(deadline) ~= tonumber(ARGV[3 * i + 1]) or deadline > now then
    verdicts[i] = 'renewed'
  else
    seen[id] = true
    leaving[#leaving + 1] = id
    freed[#freed + 1] = KEYS[8 + 2 * i]
    local fields = redis.pcall('HMGET', KEYS[7 + 2 * i], 'name', 'priority', 'stc', 'defa')
    if fields.err and not string.find(fields.err, 'WRONGTYPE', 1, true) then
      return fields
    end
    if fields.err or (not fields[1] and redis.call('EXISTS', KEYS[7 + 2 * i]) == 1) then
      verdicts[i] = 'quarantined'
      broken[#broken + 1] = now
      broken[#broken + 1] = id
    elseif not fields[1] then
      verdicts[i] = 'orphan'
    else
      verdicts[i] = 'returned'
      if tokens[i] then
        verdicts[i] = 'stalled'
        names[i] = fields[1]
        counters[i] = (tonumber(fields[3] or 0) or 0) + 1
        marked[i] = fields[4]
      end
      local priority = tonumber(fields[2] or 0) or 0
      if priority > 0 then
        ranked[#ranked + 1] = priority * 4294967296
        ranked[#ranked + 1] = id
      else
        front[#front + 1] = id
      end
    end
  end
end


-- Whether nobody is to be woken for a job: the queue is paused, or blocked until
-- a time that a worker waits for. One that is blocked by its limit is so no more.
local stopped = meta[2] == '1' or (meta[3] and now < (tonumber(meta[3]) or 0))
local opened = meta[3] == 'limit' and #leaving > 0
if #leaving > 0 then
  redis.call('ZREM', KEYS[4], unpack(leaving))
  redis.call('DEL', unpack(freed))
  redis.call('HDEL', KEYS[5], unpack(leaving))
end
for i = 1, count do
  if counters[i] then
    local allowed = tonumber(ARGV[3 * i + 2])
    redis.call('HSET', KEYS[7 + 2 * i], 'stc', counters[i])
    -- A job that is to fail already keeps its reason.
    if counters[i] > allowed and not marked[i] then
      redis.call('HSET', KEYS[7 + 2 * i], 'defa', 'the job stalled ' .. string.format('%.0f', counters[i]) .. ' times; ' .. ARGV[3 * i + 2] .. ' allowed')
    end
  end
  if counters[i] and level ~= 'none' then
    redis.call('XADD', KEYS[8], 'MAXLEN', '~', history, '*', 'event', 'stalled', 'jobId', ids[i],
      'name', names[i], 'stalls', string.format('%.0f', counters[i]))
  elseif verdicts[i] == 'orphan' or verdicts[i] == 'quarantined' then
    if level ~= 'none' then
      redis.call('XADD', KEYS[8], 'MAXLEN', '~', history, '*', 'event', verdicts[i], 'jobId', ids[i])
    end
  end
end
if #broken > 0 then
  redis.call('ZADD', KEYS[6], unpack(broken))
end
if #front > 0 then
  -- The tail leaves first, so the one that was lost first goes there last.
  local last = {}
  for f = #front, 1, -1 do
    last[#last + 1] = front[f]
  end
  redis.call('RPUSH', KEYS[2], unpack(last))
end
if #ranked > 0 then
  redis.call('ZADD', KEYS[3], unpack(ranked))
end
if #front > 0 and not stopped then
  redis.call('ZADD', KEYS[7], 0, front[1])
elseif #ranked > 0 and not stopped and redis.call('EXISTS', KEYS[7]) == 0 then
  redis.call('ZADD', KEYS[7], 0, redis.call('LINDEX', KEYS[2], -1) or redis.call('ZRANGE', KEYS[3], 0, 0)[1])
end
if opened then
  redis.call('HDEL', KEYS[1], 'blocked')
  if not stopped and redis.call('EXISTS', KEYS[7]) == 0 then
    local head = redis.call('LINDEX', KEYS[2], -1) or redis.call('ZRANGE', KEYS[3], 0, 0)[1]
    if head then
      redis.call('ZADD', KEYS[7], 0, head)
    end
  end
end
return { now, verdicts }
