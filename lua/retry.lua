--- retry makes failed jobs ready to run again, behind those that wait.
---
--- A job gets its attempts and stalls anew; the errors of its attempts stay. One
--- whose hash is gone is dropped, one whose hash cannot be used is put into
--- quarantine.
---
--- A job that came with a unique key takes it again, without a limit of time. If
--- another job holds it, the job stays where it is and the answer is "duplicate".
---
--- @memory drains
--- @key meta hash the queue's version
--- @key wait list ids without priority; the next to run is at the tail
--- @key prioritized zset ids with a priority
--- @key pc string counter that orders jobs of one priority
--- @key failed zset ids by finishing time
--- @key quarantine zset ids that cannot be run
--- @key marker zset wakes idle workers
--- @key events stream what happened
--- @key dedup hash unique keys to the id of the job that holds each
--- @key dedup-due zset unique keys by when their time is over
--- @key groups zset groups with work by turn; those at their limit after all others
--- @key grouped zset jobs that wait in their groups: group, place and id
--- @each job hash <id> the job
--- @arg events word(none|final|all) which events are written
--- @arg history int how many events are kept, about
--- @item id id a failed job
--- @field version meta
--- @field paused meta
--- @field blocked meta
--- @field grouped meta
--- @field name job
--- @field priority job
--- @field atm job
--- @field stc job
--- @field defa job
--- @field finishedOn job
--- @field failedReason job
--- @field lst job
--- @field deid job
--- @field * dedup
--- @field grp job
--- @field gpl job
--- @reply now ms the server's clock
--- @reply results records one per item, in order
--- @record results verdict word(retried|duplicate|unfailed|missing|orphan|quarantined) what happened
--- @record results owner string the id of the job that holds the key of a duplicate
--- @record results unique string that key
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

local count = #KEYS - 12
if count < 1 or #ARGV ~= 2 + count then
  return redis.error_reply('EMQARGS retry takes 12 keys and 2 arguments, then 1 key and 1 argument for each job')
end
local level = ARGV[1]
local history = tonumber(ARGV[2])
local levels = { none = true, final = true, all = true }
if not levels[level] or not whole(ARGV[2], 0, 9007199254740991) then
  return redis.error_reply('EMQARGS events must be none, final or all, and history a whole number from 0')
end
local ids = {}
for i = 1, count do
  ids[i] = ARGV[2 + i]
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

-- Whether nobody is to be woken for a job: the queue is paused, or blocked until
-- one of its jobs ends or until a time that a worker waits for.
local stopped = meta[2] == '1' or meta[3] == 'limit' or (meta[3] and now < (tonumber(meta[3]) or 0))
local scores = redis.call('ZMSCORE', KEYS[5], unpack(ids))
local verdicts = {}
local seen = {}
local leaving = {}
local waiting = {}
local ranked = {}
local joining = {}
local groups = {}
local priorities = {}
local broken = {}
local tokens = {}
local holders = {}
local holds = {}
local endless = {}
local unique = {}
local rivals = {}
for i = 1, count do
  local id = ids[i]
  if not scores[i] or seen[id] then
    verdicts[i] = redis.call('EXISTS', KEYS[12 + i]) == 1 and 'unfailed' or 'missing'
  else
    local fields = redis.pcall('HMGET', KEYS[12 + i], 'name', 'priority', 'lst', 'deid', 'grp')
    if fields.err and not string.find(fields.err, 'WRONGTYPE', 1, true) then
      return fields
    end
    local key = fields[1] and fields[4]
    local over
    if key then
      local term = redis.call('ZSCORE', KEYS[10], key)
      over = term and tonumber(term) <= now
      local owner = holders[key] or (not over and redis.call('HGET', KEYS[9], key))
      unique[i] = key
      rivals[i] = owner and owner ~= id and owner
    end
    seen[id] = not rivals[i]
    if rivals[i] then
      verdicts[i] = 'duplicate'
    elseif fields.err or (not fields[1] and redis.call('EXISTS', KEYS[12 + i]) == 1) then
      verdicts[i] = 'quarantined'
      leaving[#leaving + 1] = id
      broken[#broken + 1] = now
      broken[#broken + 1] = id
    elseif not fields[1] then
      verdicts[i] = 'orphan'
      leaving[#leaving + 1] = id
    else
      verdicts[i] = 'retried'
      leaving[#leaving + 1] = id
      if key then
        holders[key] = id
        holds[#holds + 1] = key
        holds[#holds + 1] = id
        if over then
          endless[#endless + 1] = key
        end
      end
      tokens[i] = string.match(fields[3] or '', '^(.+) %S+$') or '-'
      local priority = tonumber(fields[2] or 0) or 0
      if fields[5] then
        joining[#joining + 1] = i
        groups[i] = fields[5]
        priorities[i] = priority
      elseif priority > 0 then
        ranked[#ranked + 1] = priority
        ranked[#ranked + 1] = id
      else
        waiting[#waiting + 1] = id
      end
    end
  end
end

if #leaving > 0 then
  redis.call('ZREM', KEYS[5], unpack(leaving))
  if #endless > 0 then
    redis.call('ZREM', KEYS[10], unpack(endless))
  end
  if #holds > 0 then
    redis.call('HSET', KEYS[9], unpack(holds))
  end
  for i = 1, count do
    if verdicts[i] == 'retried' then
      redis.call('HDEL', KEYS[12 + i], 'stc', 'defa', 'finishedOn', 'failedReason')
      -- The settle that failed it is answered "already" if it comes again, and
      -- the job is not taken for one that has ended.
      redis.call('HSET', KEYS[12 + i], 'atm', 0, 'lst', tokens[i] .. ' retry')
    end
    if verdicts[i] == 'orphan' or verdicts[i] == 'quarantined' then
      if level ~= 'none' then
        redis.call('XADD', KEYS[8], 'MAXLEN', '~', history, '*', 'event', verdicts[i], 'jobId', ids[i])
      end
    elseif verdicts[i] == 'retried' and level ~= 'none' then
      redis.call('XADD', KEYS[8], 'MAXLEN', '~', history, '*', 'event', 'retried', 'jobId', ids[i])
    end
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
if #waiting > 0 then
  redis.call('LPUSH', KEYS[2], unpack(waiting))
end
if #joining > 0 then
  local turn = redis.call('HINCRBY', KEYS[1], 'grouped', #joining) - #joining
  local rows = {}
  local ring = {}
  local ringed = {} -- of a member that stands there twice engines take one score or the other
  for i = 1, count do
    if groups[i] then
      turn = turn + 1
      local place = string.format('%07.0f|%016.0f', priorities[i], turn)
      redis.call('HSET', KEYS[12 + i], 'gpl', place)
      if not ringed[groups[i]] then
        ringed[groups[i]] = true
        ring[#ring + 1] = turn
        ring[#ring + 1] = groups[i]
      end
      rows[#rows + 1] = 0
      rows[#rows + 1] = groups[i] .. '|' .. place .. '|' .. ids[i]
    end
  end
  redis.call('ZADD', KEYS[12], unpack(rows))
  redis.call('ZADD', KEYS[11], 'NX', unpack(ring))
end

-- The job that comes next of those that may be taken: one without a group, or of
-- the group whose turn it is.
local function first()
  local head = redis.call('LINDEX', KEYS[2], -1) or redis.call('ZRANGE', KEYS[3], 0, 0)[1]
  if head or not (meta[4] or #joining > 0) then
    return head
  end
  local group = redis.call('ZRANGE', KEYS[11], 0, 0, 'WITHSCORES')
  if group[1] and tonumber(group[2]) < 4503599627370496 then
    local member = redis.call('ZRANGEBYLEX', KEYS[12], '[' .. group[1] .. '|', '(' .. group[1] .. '}', 'LIMIT', 0, 1)[1]
    head = member and string.match(member, '[^|]*$')
  end
  return head
end
if #ranked + #waiting + #joining > 0 and not stopped then
  local head = first()
  if head then
    redis.call('ZADD', KEYS[7], 0, head)
  end
end
local results = {}
for i = 1, count do
  local r = #results
  results[r + 1] = verdicts[i]
  results[r + 2] = rivals[i] or ''
  results[r + 3] = rivals[i] and unique[i] or ''
end
return { now, results }
