--- settle ends the attempt of active jobs, each in its own way.
---
--- Only the holder of a job's token may settle it. A settle that is sent again
--- is answered "already" with the first outcome; one that comes late, after the
--- job was given to another, is answered "lost" and changes nothing.
---
--- The outcomes: completed and failed end the job; retry and snooze bring it
--- back after a delay, or to the front at once where the delay is 0; release
--- gives it back as it was, to the front and in the order of the items. With a
--- priority the front is that of the priority, and its order that of the ids.
---
--- A job of a group leaves the number of those of its group that are active, and
--- goes back to its group, if it comes back at once, in the same way. A group that was
--- at its limit takes its turn again.
---
--- The end of a job that has a parent is put into the outbox with it, to be
--- reported to the parent's queue. Of a job that is not kept the stub stays until
--- that was done.
---
--- A job that was cancelled meanwhile comes back at once, to the front.
---
--- A job whose hash was lost, or whose hash something else has replaced, is
--- answered "gone"; what is left of it is removed or put into quarantine.
---
--- @memory drains
--- @key meta hash the queue's version, and whether it is paused or blocked
--- @key wait list ids without priority; the next to run is at the tail
--- @key prioritized zset ids with a priority
--- @key delayed zset ids by due time
--- @key active zset ids by the deadline of their lease
--- @key completed zset ids by finishing time
--- @key failed zset ids by finishing time
--- @key quarantine zset ids whose hash cannot be used
--- @key marker zset wakes idle workers
--- @key events stream what happened
--- @key outbox zset deliveries to other queues by when they are next tried
--- @key outbox-body hash what is to be delivered
--- @key dedup hash unique keys to the id of the job that holds each
--- @key dedup-due zset unique keys by when their time is over
--- @key groups zset groups with work by turn; those at their limit after all others
--- @key grouped zset jobs that wait in their groups: group, place and id
--- @key group-active hash active jobs to their groups, and how many each group has
--- @each job hash <id> the job
--- @each lock string <id>:lock the token that holds it
--- @each logs list <id>:logs log lines
--- @arg events word(none|final|all) which events are written
--- @arg history int how many events are kept, about
--- @item id id the job's id
--- @item token string the token under which it was started
--- @item outcome word(completed|failed|retry|snooze|release) what came of it
--- @item value bytes the encoded result, or the reason of the failure
--- @item trace bytes the errors of all attempts, JSON; empty to leave them
--- @item delay ms when retry, snooze or release brings it back
--- @item attempts int attempts made, this one included if it counts
--- @item starts int attempts started
--- @item unknown int how often it was given back by workers that did not know it
--- @item priority int the job's priority
--- @item keep flag whether the ended job is kept
--- @item announce flag whether the outcome is an event at every level
--- @item job string the job's wire name, for the event
--- @item report bytes the head of the report to its parent: report, the key of the parent's hash, outcome and edge; empty for none
--- @item unique string the unique key that the job's end releases; empty for none
--- @item groupless flag whether the job is known to be of no group
--- @field version meta
--- @field paused meta
--- @field blocked meta
--- @field cancels meta
--- @field grouped meta
--- @field name job
--- @field delay job
--- @field atm job
--- @field ats job
--- @field ukn job
--- @field finishedOn job
--- @field returnvalue job
--- @field failedReason job
--- @field stacktrace job
--- @field lst job
--- @field parentKey job
--- @field * outbox-body
--- @field rpb job
--- @field * dedup
--- @field defa job
--- @field gpl job
--- @field * group-active
--- @stores returnvalue job value
--- @stores failedReason job value
--- @stores stacktrace job trace
--- @stores delay job delay
--- @stores atm job attempts
--- @stores ats job starts
--- @stores ukn job unknown
--- @reply now ms the server's clock
--- @reply due ms when the next delayed job is due; 0 if there is none
--- @reply results records one per item, in order
--- @record results verdict word(settled|already|lost|gone) what happened
--- @record results outcome string the outcome that stands, where it is known
--- @error EMQARGS the call is malformed; nothing was written
--- @error EMQVERSION the queue speaks another version of the protocol
--- @special complete outcome=completed trace= delay=0 starts unknown priority keep=1
--- @special complete announce=0 report= unique= groupless=1

local meta = redis.call('HMGET', KEYS[1], 'version', 'paused', 'blocked', 'cancels', 'grouped')
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

local count = math.floor((#KEYS - 17) / 3)
if count < 1 or #KEYS ~= 17 + 3 * count or #ARGV ~= 2 + 16 * count then
  return redis.error_reply('EMQARGS settle takes 17 keys and 2 arguments, then 3 keys and 16 arguments for each job')
end
local level = ARGV[1]
local history = tonumber(ARGV[2])
if (level ~= 'none' and level ~= 'final' and level ~= 'all') or not whole(ARGV[2], 0, 9007199254740991) then
  return redis.error_reply('EMQARGS events must be none, final or all, and history a whole number from 0')
end
local outcomes = { completed = true, failed = true, retry = true, snooze = true, release = true }
local jobs = {}
local locks = {}
for i = 1, count do
  local a = 2 + 16 * (i - 1)
  local ends = ARGV[a + 3] == 'completed' or ARGV[a + 3] == 'failed'
  if ARGV[a + 2] == '' or not outcomes[ARGV[a + 3]] then
    return redis.error_reply('EMQARGS a token is empty or an outcome unknown')
  end
  if ARGV[a + 14] ~= '' and not string.find(ARGV[a + 14], '^report %S+ %l+ .') then
    return redis.error_reply('EMQARGS a report has no head')
  end
  -- What stands for none needs no further look, nor what no end makes use of.
  if (ARGV[a + 7] ~= '1' and not whole(ARGV[a + 7], -9007199254740991, 9007199254740991))
    or (ARGV[a + 6] ~= '0' and not whole(ARGV[a + 6], -9007199254740991, 9007199254740991))
    or (not ends and ARGV[a + 8] ~= '1' and not whole(ARGV[a + 8], -9007199254740991, 9007199254740991))
    or (not ends and ARGV[a + 9] ~= '0' and not whole(ARGV[a + 9], -9007199254740991, 9007199254740991)) then
    return redis.error_reply('EMQARGS delay, attempts, starts and unknown must be whole numbers')
  end
  if not ends and ARGV[a + 10] ~= '0' and not whole(ARGV[a + 10], 0, 2097151) then
    return redis.error_reply('EMQARGS priority must be a whole number from 0 to 2097151')
  end
  if (ARGV[a + 11] ~= '0' and ARGV[a + 11] ~= '1') or (ARGV[a + 12] ~= '0' and ARGV[a + 12] ~= '1')
    or (ARGV[a + 16] ~= '0' and ARGV[a + 16] ~= '1') then
    return redis.error_reply('EMQARGS keep, announce and groupless must be 0 or 1')
  end
  jobs[i] = KEYS[15 + 3 * i]
  locks[i] = KEYS[16 + 3 * i]
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

-- Who may settle what; nothing is written yet.
local tokens = redis.call('MGET', unpack(locks))
local complete = redis.call('EXISTS', unpack(jobs)) == count
local verdicts = {}
local standing = {}
local seen = {}
local twins = {}
local leaving = {}
local freed = {}
local keyed = {}
local holders = {}
local members = {}
for i = 1, count do
  local a = 2 + 16 * (i - 1)
  local id = ARGV[a + 1]
  verdicts[i] = 'settled'
  standing[i] = ARGV[a + 3]
  if tokens[i] ~= ARGV[a + 2] or seen[id] then
    verdicts[i] = 'lost'
    standing[i] = ''
    local last = redis.pcall('HGET', KEYS[15 + 3 * i], 'lst')
    if (seen[id] or 0) > 0 and tokens[i] == ARGV[a + 2] then
      verdicts[i] = 'already'
      standing[i] = ARGV[2 + 16 * (seen[id] - 1) + 3]
      twins[i] = seen[id]
    elseif type(last) == 'string' then
      local token, outcome = string.match(last, '^(.+) (%S+)$')
      if token == ARGV[a + 2] then
        verdicts[i] = 'already'
        standing[i] = outcome
      end
    elseif type(last) == 'table' or redis.call('EXISTS', KEYS[15 + 3 * i]) == 0 then
      verdicts[i] = 'gone'
    end
  else
    seen[id] = i
    leaving[#leaving + 1] = id
    freed[#freed + 1] = KEYS[16 + 3 * i]
    if ARGV[a + 15] ~= '' then
      keyed[#keyed + 1] = ARGV[a + 15]
      holders[#holders + 1] = id
    end
    if ARGV[a + 16] ~= '1' then
      members[#members + 1] = id
    end
    if not complete and redis.call('EXISTS', KEYS[15 + 3 * i]) == 0 then
      -- Its hash was lost while it ran: what is left of it goes too.
      verdicts[i] = 'gone'
      standing[i] = ''
      seen[id] = 0
    end
  end
end

-- Whether nobody is to be woken for a job: the queue is paused, or blocked until
-- a time that a worker waits for. One that is blocked by its limit is so no more.
local stopped = meta[2] == '1' or (meta[3] and now < (tonumber(meta[3]) or 0))
local opened = meta[3] == 'limit' and #leaving > 0
if #leaving > 0 then
  redis.call('ZREM', KEYS[5], unpack(leaving))
  redis.call('DEL', unpack(freed))
  -- A key is released only by the job that holds it.
  if #keyed > 0 then
    local owners = redis.call('HMGET', KEYS[13], unpack(keyed))
    local free = {}
    for k = 1, #keyed do
      if owners[k] == holders[k] then
        free[#free + 1] = keyed[k]
      end
    end
    if #free > 0 then
      redis.call('HDEL', KEYS[13], unpack(free))
      redis.call('ZREM', KEYS[14], unpack(free))
    end
  end
end
-- Those that are active no more leave the numbers of their groups.
local group = {}
local parted = {}
if meta[5] and #members > 0 then
  local found = redis.call('HMGET', KEYS[17], unpack(members))
  local gone = {}
  local fewer = {}
  for m = 1, #members do
    local id = members[m]
    if found[m] and not group[id] then
      group[id] = found[m]
      gone[#gone + 1] = id
      if not fewer[found[m]] then
        fewer[found[m]] = 0
        parted[#parted + 1] = found[m]
      end
      fewer[found[m]] = fewer[found[m]] + 1
    end
  end
  if #gone > 0 then
    redis.call('HDEL', KEYS[17], unpack(gone))
  end
  for p = 1, #parted do
    if redis.call('HINCRBY', KEYS[17], '|' .. parted[p], 0 - fewer[parted[p]]) < 1 then
      redis.call('HDEL', KEYS[17], '|' .. parted[p])
    end
  end
end
-- Groups that were at their limit take their turn again, behind the others.
local opening = false
if #parted > 0 then
  local scores = redis.call('ZMSCORE', KEYS[15], unpack(parted))
  local ring = {}
  for p = 1, #parted do
    if scores[p] and tonumber(scores[p]) >= 4503599627370496 then
      ring[#ring + 1] = 0
      ring[#ring + 1] = parted[p]
    end
  end
  if #ring > 0 then
    opening = true
    local turn = redis.call('HINCRBY', KEYS[1], 'grouped', math.floor(#ring / 2)) - math.floor(#ring / 2)
    for r = 1, #ring, 2 do
      turn = turn + 1
      ring[r] = turn
    end
    redis.call('ZADD', KEYS[15], unpack(ring))
  end
end

local completed = {}
local failed = {}
local delayed = {}
local front = {}
local ranked = {}
local joining = {}
local groups = {}
local broken = {}
local entries = {}
local bodies = {}
for i = 1, count do
  local a = 2 + 16 * (i - 1)
  local id = ARGV[a + 1]
  local outcome = ARGV[a + 3]
  local ended = outcome == 'completed' or outcome == 'failed'
  local kept = ARGV[a + 11] == '1'
  local delay = 0
  if ARGV[a + 6] ~= '0' then
    delay = tonumber(ARGV[a + 6])
  end
  if verdicts[i] == 'settled' then
    local last = ARGV[a + 2] .. ' ' .. outcome
    local written
    if ended and not kept then
      -- Nothing is kept but a stub, which answers a replay for as long as one
      -- may come.
      local fields = redis.pcall('HMGET', KEYS[15 + 3 * i], 'name', 'rpb')
      redis.call('DEL', KEYS[15 + 3 * i], KEYS[17 + 3 * i])
      redis.call('HSET', KEYS[15 + 3 * i], 'name', fields[1] or '', 'lst', last)
      if fields[2] then
        redis.call('HSET', KEYS[15 + 3 * i], 'rpb', fields[2])
      end
      if ARGV[a + 14] == '' then
        redis.call('PEXPIRE', KEYS[15 + 3 * i], 60000)
      else
        redis.call('HSET', KEYS[15 + 3 * i], 'parentKey', string.match(ARGV[a + 14], '^report (%S+) '))
      end
    elseif outcome == 'completed' then
      written = redis.pcall('HSET', KEYS[15 + 3 * i],
        'returnvalue', ARGV[a + 4], 'finishedOn', now, 'atm', ARGV[a + 7], 'lst', last)
    elseif outcome == 'failed' then
      written = redis.pcall('HSET', KEYS[15 + 3 * i],
        'failedReason', ARGV[a + 4], 'finishedOn', now, 'atm', ARGV[a + 7], 'lst', last)
    elseif outcome == 'retry' then
      written = redis.pcall('HSET', KEYS[15 + 3 * i],
        'failedReason', ARGV[a + 4], 'delay', ARGV[a + 6], 'atm', ARGV[a + 7], 'ats', ARGV[a + 8], 'lst', last)
    else
      written = redis.pcall('HSET', KEYS[15 + 3 * i],
        'ukn', ARGV[a + 9], 'delay', ARGV[a + 6], 'atm', ARGV[a + 7], 'ats', ARGV[a + 8], 'lst', last)
    end
    if type(written) == 'table' then
      -- Something else has taken the hash's place: nobody can run this job.
      verdicts[i] = 'gone'
      standing[i] = ''
      broken[#broken + 1] = now
      broken[#broken + 1] = id
    else
      if ended and ARGV[a + 14] ~= '' then
        entries[#entries + 1] = now
        entries[#entries + 1] = id
        bodies[#bodies + 1] = id
        bodies[#bodies + 1] = string.format('%.0f', now) .. ' ' .. ARGV[a + 14] .. '\n' .. ARGV[a + 4]
      end
      if ARGV[a + 5] ~= '' and (kept or not ended) then
        redis.call('HSET', KEYS[15 + 3 * i], 'stacktrace', ARGV[a + 5])
      end
      if meta[4] and not ended and delay > 0 then
        local defa = redis.call('HGET', KEYS[15 + 3 * i], 'defa')
        if defa and (defa == 'cancelled' or string.sub(defa, 1, 11) == 'cancelled: ') then
          redis.call('HSET', KEYS[15 + 3 * i], 'delay', 0)
          delay = 0
        end
      end
      local priority = 0
      if ARGV[a + 10] ~= '0' then
        priority = tonumber(ARGV[a + 10])
      end
      if not ended and delay > 0 then
        delayed[#delayed + 1] = now + delay
        delayed[#delayed + 1] = id
      elseif not ended and group[id] then
        joining[#joining + 1] = i
        groups[i] = group[id]
      elseif not ended and priority > 0 then
        ranked[#ranked + 1] = priority * 4294967296
        ranked[#ranked + 1] = id
      elseif not ended then
        front[#front + 1] = id
      elseif kept and outcome == 'completed' then
        completed[#completed + 1] = now
        completed[#completed + 1] = id
      elseif kept then
        failed[#failed + 1] = now
        failed[#failed + 1] = id
      end
    end
    if type(written) == 'table' then
      if level ~= 'none' or ARGV[a + 12] == '1' then
        redis.call('XADD', KEYS[10], 'MAXLEN', '~', history, '*', 'event', 'quarantined', 'jobId', id, 'name', ARGV[a + 13])
      end
    elseif level == 'all' or (ended and level == 'final') or ARGV[a + 12] == '1' then
      if outcome == 'completed' then
        redis.call('XADD', KEYS[10], 'MAXLEN', '~', history, '*', 'event', outcome, 'jobId', id, 'name', ARGV[a + 13],
          'attempt', ARGV[a + 7])
      elseif ended then
        redis.call('XADD', KEYS[10], 'MAXLEN', '~', history, '*', 'event', outcome, 'jobId', id, 'name', ARGV[a + 13],
          'reason', string.sub(ARGV[a + 4], 1, 1024), 'attempt', ARGV[a + 7])
      elseif outcome == 'retry' then
        redis.call('XADD', KEYS[10], 'MAXLEN', '~', history, '*', 'event', outcome, 'jobId', id, 'name', ARGV[a + 13],
          'reason', string.sub(ARGV[a + 4], 1, 1024), 'attempt', ARGV[a + 7], 'delay', delay)
      else
        redis.call('XADD', KEYS[10], 'MAXLEN', '~', history, '*', 'event', outcome, 'jobId', id, 'name', ARGV[a + 13],
          'delay', delay)
      end
    end
  end
end

if #entries > 0 then
  redis.call('ZADD', KEYS[11], unpack(entries))
  redis.call('HSET', KEYS[12], unpack(bodies))
end
if #completed > 0 then
  redis.call('ZADD', KEYS[6], unpack(completed))
end
if #failed > 0 then
  redis.call('ZADD', KEYS[7], unpack(failed))
end
if #broken > 0 then
  redis.call('ZADD', KEYS[8], unpack(broken))
end
if #front > 0 then
  -- The tail leaves first, so the first of the items goes there last.
  local last = {}
  for f = #front, 1, -1 do
    last[#last + 1] = front[f]
  end
  redis.call('RPUSH', KEYS[2], unpack(last))
end
if #ranked > 0 then
  redis.call('ZADD', KEYS[3], unpack(ranked))
end
if #delayed > 0 then
  redis.call('ZADD', KEYS[4], unpack(delayed))
end
if #joining > 0 then
  local turn = redis.call('HINCRBY', KEYS[1], 'grouped', #joining) - #joining
  local rows = {}
  local ring = {}
  local ringed = {} -- of a member that stands there twice engines take one score or the other
  for i = 1, count do
    if groups[i] then
      turn = turn + 1
      local a = 2 + 16 * (i - 1)
      local place = string.format('%07.0f|%016.0f', tonumber(ARGV[a + 10]), 0)
      redis.call('HSET', KEYS[15 + 3 * i], 'gpl', place)
      if not ringed[groups[i]] then
        ringed[groups[i]] = true
        ring[#ring + 1] = turn
        ring[#ring + 1] = groups[i]
      end
      rows[#rows + 1] = 0
      rows[#rows + 1] = groups[i] .. '|' .. place .. '|' .. ARGV[a + 1]
    end
  end
  redis.call('ZADD', KEYS[16], unpack(rows))
  redis.call('ZADD', KEYS[15], 'NX', unpack(ring))
end

-- The job that comes next of those that may be taken: one without a group, or of
-- the group whose turn it is.
local function first()
  local head = redis.call('LINDEX', KEYS[2], -1) or redis.call('ZRANGE', KEYS[3], 0, 0)[1]
  if head or not meta[5] then
    return head
  end
  local group = redis.call('ZRANGE', KEYS[15], 0, 0, 'WITHSCORES')
  if group[1] and tonumber(group[2]) < 4503599627370496 then
    local member = redis.call('ZRANGEBYLEX', KEYS[16], '[' .. group[1] .. '|', '(' .. group[1] .. '}', 'LIMIT', 0, 1)[1]
    head = member and string.match(member, '[^|]*$')
  end
  return head
end
local soonest = redis.call('ZRANGE', KEYS[4], 0, 0, 'WITHSCORES')
if #leaving > 0 then
  if opened then
    redis.call('HDEL', KEYS[1], 'blocked')
  end
  if #front > 0 and not stopped then
    redis.call('ZADD', KEYS[9], 0, front[1])
  elseif (opened or opening or #ranked + #joining > 0) and not stopped and redis.call('EXISTS', KEYS[9]) == 0 then
    local head = first()
    if head then
      redis.call('ZADD', KEYS[9], 0, head)
    end
  end
end
for d = 2, #delayed, 2 do
  if delayed[d] == soonest[1] then
    redis.call('ZADD', KEYS[9], 1, '~due')
  end
end

local results = {}
for i = 1, count do
  if twins[i] and verdicts[twins[i]] == 'gone' then
    verdicts[i] = 'gone'
    standing[i] = ''
  end
  results[2 * i - 1] = verdicts[i]
  results[2 * i] = standing[i]
end
return { now, math.floor(tonumber(soonest[2] or 0)), results }
