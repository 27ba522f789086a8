--- recover takes jobs back whose lease ran out: their worker is lost.
---
--- The caller says which deadline it saw expired, and has seen so for at least
--- a renewal interval by its own clock; a lease that was renewed since is left
--- alone. A job goes to the front of where it came from, be it its group. One that was reserved
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
--- @key groups zset groups with work by turn; those at their limit after all others
--- @key grouped zset jobs that wait in their groups: group, place and id
--- @key group-active hash active jobs to their groups, and how many each group has
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
--- @field grouped meta
--- @field name job
--- @field priority job
--- @field stc job
--- @field defa job
--- @field * reserved
--- @field grp job
--- @field gpl job
--- @field * group-active
--- @reply now ms the server's clock
--- @reply results records one per item, in order
--- @record results verdict word(stalled|returned|renewed|gone|orphan|quarantined) what happened
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

local count = math.floor((#KEYS - 11) / 2)
local level = ARGV[1]
local history = tonumber(ARGV[2])
if count < 1 or #KEYS ~= 11 + 2 * count or #ARGV ~= 2 + 3 * count then
  return redis.error_reply('EMQARGS recover takes 11 keys and 2 arguments, then 2 keys and 3 arguments for each job')
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
  locks[i] = KEYS[11 + 2 * i]
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
local joining = {}
local groups = {}
local priorities = {}
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
    freed[#freed + 1] = KEYS[11 + 2 * i]
    local fields = redis.pcall('HMGET', KEYS[10 + 2 * i], 'name', 'priority', 'stc', 'defa', 'grp')
    if fields.err and not string.find(fields.err, 'WRONGTYPE', 1, true) then
      return fields
    end
    if fields.err or (not fields[1] and redis.call('EXISTS', KEYS[10 + 2 * i]) == 1) then
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
      if fields[5] then
        joining[#joining + 1] = i
        groups[i] = fields[5]
        priorities[i] = priority
      elseif priority > 0 then
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
-- Those that are active no more leave the numbers of their groups.
local group = {}
local parted = {}
if meta[4] and #leaving > 0 then
  local found = redis.call('HMGET', KEYS[11], unpack(leaving))
  local gone = {}
  local fewer = {}
  for l = 1, #leaving do
    local id = leaving[l]
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
    redis.call('HDEL', KEYS[11], unpack(gone))
  end
  for p = 1, #parted do
    if redis.call('HINCRBY', KEYS[11], '|' .. parted[p], 0 - fewer[parted[p]]) < 1 then
      redis.call('HDEL', KEYS[11], '|' .. parted[p])
    end
  end
end
-- Groups that were at their limit take their turn again, behind the others.
local freed = false
if #parted > 0 then
  local scores = redis.call('ZMSCORE', KEYS[9], unpack(parted))
  local ring = {}
  for p = 1, #parted do
    if scores[p] and tonumber(scores[p]) >= 4503599627370496 then
      ring[#ring + 1] = 0
      ring[#ring + 1] = parted[p]
    end
  end
  if #ring > 0 then
    freed = true
    local turn = redis.call('HINCRBY', KEYS[1], 'grouped', math.floor(#ring / 2)) - math.floor(#ring / 2)
    for r = 1, #ring, 2 do
      turn = turn + 1
      ring[r] = turn
    end
    redis.call('ZADD', KEYS[9], unpack(ring))
  end
end
for i = 1, count do
  if counters[i] then
    local allowed = tonumber(ARGV[3 * i + 2])
    redis.call('HSET', KEYS[10 + 2 * i], 'stc', counters[i])
    -- A job that is to fail already keeps its reason.
    if counters[i] > allowed and not marked[i] then
      redis.call('HSET', KEYS[10 + 2 * i], 'defa', 'the job stalled ' .. string.format('%.0f', counters[i]) .. ' times; ' .. ARGV[3 * i + 2] .. ' allowed')
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
if #joining > 0 then
  local turn = redis.call('HINCRBY', KEYS[1], 'grouped', #joining) - #joining
  local rows = {}
  local ring = {}
  local ringed = {} -- of a member that stands there twice engines take one score or the other
  for i = 1, count do
    if groups[i] then
      turn = turn + 1
      local place = string.format('%07.0f|%016.0f', priorities[i], 0)
      redis.call('HSET', KEYS[10 + 2 * i], 'gpl', place)
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
if #leaving > 0 then
  if opened then
    redis.call('HDEL', KEYS[1], 'blocked')
  end
  if #front > 0 and not stopped then
    redis.call('ZADD', KEYS[7], 0, front[1])
  elseif (opened or freed or #ranked + #joining > 0) and not stopped and redis.call('EXISTS', KEYS[7]) == 0 then
    local head = first()
    if head then
      redis.call('ZADD', KEYS[7], 0, head)
    end
  end
end
return { now, verdicts }
