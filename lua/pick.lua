--- pick takes the jobs that come next for a worker.
---
--- It pops the true heads, in order. A head whose keys were declared is started:
--- locked under the call's token, and returned whole. Any other head is
--- reserved: held for this token until a deadline, and its id returned, so that
--- the caller's next call can declare it and start it. Nothing is popped in
--- vain and no job is taken out of order.
---
--- A call sent again with "again" set returns what its token already holds, and
--- takes nothing more, if its first execution took anything.
---
--- A job whose payload is larger than the caller takes comes without it, and
--- with the reason for which the caller is to fail it.
---
--- A head without a hash is dropped; one whose hash is of a wrong type or has no
--- name is put into quarantine. Either is an event, and the pick goes on.
---
--- The queue may have a limit on how many of its jobs are active, reserved ones
--- among them, and a rate at which they start, a bucket of tokens that fills
--- continuously. No more is popped than either allows, and what is left tells of
--- itself only when more may be popped: "blocked" in meta says why it does not.
--- An operator's override in meta goes over a number that is not fixed.
--- A job that holds a unique key until it is started releases it here.
--- One that got another priority or time as it waited goes where it belongs now, and
--- is not started.
---
--- The groups that have work take turns, one job each, and the ring of them takes
--- turns with the jobs of no group. A group of which as many jobs are active as may
--- be stands behind all others in the ring, until one of them ends.
---
--- While the queue is paused no head is popped, and the window is empty; what is
--- reserved is started nevertheless.
---
--- @memory drains
--- @key meta hash the queue's version, whether it is paused or blocked, and an operator's overrides
--- @key wait list ids without priority; the next to run is at the tail
--- @key prioritized zset ids with a priority
--- @key pc string counter that orders jobs of one priority
--- @key delayed zset ids by due time
--- @key active zset ids by the deadline of their lease
--- @key reserved hash ids to the token they are reserved for
--- @key quarantine zset ids whose hash cannot be used
--- @key marker zset wakes idle workers
--- @key events stream what happened
--- @key limiter hash the tokens that are left, in parts of one, and when they were counted
--- @key dedup hash unique keys to the id of the job that holds each
--- @key dedup-due zset unique keys by when their time is over
--- @key groups zset groups with work by turn; those at their limit after all others
--- @key grouped zset jobs that wait in their groups: group, place and id
--- @key group-active hash active jobs to their groups, and how many each group has
--- @each job hash <id> the job
--- @each lock string <id>:lock the token that holds it
--- @arg events word(none|final|all) which events are written
--- @arg history int how many events are kept, about
--- @arg token string the new token under which jobs are taken
--- @arg worker string the worker's name, for the job's record
--- @arg lease ms how long the jobs are held
--- @arg want int how many heads to pop, at most 500
--- @arg window int how many of the next ids to show, at least 1
--- @arg limit int at how many bytes of jobs to start no more; the rest is reserved
--- @arg payload int how many bytes a payload may have; a larger one is not sent
--- @arg again flag whether this call may have been executed before
--- @arg cap int how many jobs of the queue may be active; 0 for any number
--- @arg capFixed flag whether no override goes over it
--- @arg tokens int how many jobs may start in an interval, at most 1000000; 0 for any number
--- @arg interval ms the interval, at most 31 days
--- @arg rateFixed flag whether no override goes over tokens and interval
--- @arg perGroup int how many jobs of one group may be active; 0 for any number
--- @arg perGroupFixed flag whether no override goes over it
--- @item id id a job that is reserved, or believed to come next
--- @item reservation string the token it is reserved for; empty for a belief
--- @field version meta
--- @field paused meta
--- @field slot meta
--- @field blocked meta
--- @field limit meta
--- @field rate meta
--- @field grouped meta
--- @field groupLimit meta
--- @field groupNext meta
--- @field level limiter
--- @field interval limiter
--- @field at limiter
--- @field name job
--- @field ats job
--- @field atm job
--- @field processedOn job
--- @field pb job
--- @field data job
--- @field defa job
--- @field deid job
--- @field deu job
--- @field priority job
--- @field delay job
--- @field chp job
--- @field chd job
--- @field * reserved
--- @field * dedup
--- @field * group-active
--- @stores pb job worker
--- @reply now ms the server's clock
--- @reply due ms when the next delayed job is due; 0 if there is none
--- @reply expiry ms when the next lease ends; 0 if there is none
--- @reply started records the jobs that are now this token's, in order
--- @record started id id the job's id
--- @record started starts int how often it has been started, this one included
--- @record started job hash the job as it was before it was started
--- @reply reserved ids held for this token, in order; declare them to start them
--- @reply window ids what comes next
--- @reply slot ms the earliest slot of all schedulers; 0 if there is none
--- @reply blocked flag whether the limit or the rate keeps it from being taken
--- @reply ready ms when the next token is there, if it falls to the caller to look then; else 0
--- @reply bounded flag whether a limit, a rate or a limit of groups holds, overrides considered
--- @error EMQARGS the call is malformed; nothing was written
--- @error EMQVERSION the queue speaks another version of the protocol

local meta = redis.call('HMGET', KEYS[1], 'version', 'paused', 'blocked', 'limit', 'rate', 'slot', 'grouped', 'groupLimit', 'groupNext')
local version = meta[1]
local paused = meta[2] == '1'
if version and version ~= 'echomq:2.0.0' then
  return redis.error_reply('EMQVERSION expected echomq:2.0.0, found ' .. version)
end

-- Whether text is a plain whole number in range. Any other would be refused by
-- a command halfway through the script.
local function whole(text, low, high)
  local number = string.find(text, '^%-?%d+$') and tonumber(text)
  return number and number >= low and number <= high
end

local count = math.floor((#KEYS - 16) / 2)
if #KEYS ~= 16 + 2 * count or #ARGV ~= 17 + 2 * count then
  return redis.error_reply('EMQARGS pick takes 16 keys and 17 arguments, then 2 keys and 2 arguments for each job')
end
local level = ARGV[1]
local history = tonumber(ARGV[2])
local token = ARGV[3]
local worker = ARGV[4]
local lease = tonumber(ARGV[5])
local want = tonumber(ARGV[6])
local window = tonumber(ARGV[7])
local limit = tonumber(ARGV[8])
local payload = tonumber(ARGV[9])
local again = ARGV[10] == '1'
if (level ~= 'none' and level ~= 'final' and level ~= 'all') or not whole(ARGV[2], 0, 9007199254740991) then
  return redis.error_reply('EMQARGS events must be none, final or all, and history a whole number from 0')
end
if token == '' or not whole(ARGV[5], 1, 9007199254740991) or not whole(ARGV[6], 0, 500) or not whole(ARGV[7], 1, 1000) then
  return redis.error_reply('EMQARGS token must not be empty, lease a whole number from 1, want from 0 to 500 and window from 1 to 1000')
end
if not whole(ARGV[8], 0, 9007199254740991) or not whole(ARGV[9], 0, 9007199254740991) or (ARGV[10] ~= '0' and ARGV[10] ~= '1') then
  return redis.error_reply('EMQARGS limit and payload must be whole numbers from 0, again 0 or 1')
end
local cap = tonumber(ARGV[11])
local tokens = tonumber(ARGV[13])
local interval = tonumber(ARGV[14])
-- What stands for none needs no further look.
if (ARGV[11] ~= '0' and not whole(ARGV[11], 0, 2147483647)) or (ARGV[13] ~= '0' and not whole(ARGV[13], 0, 1000000))
  or (ARGV[14] ~= '0' and not whole(ARGV[14], 0, 2678400000)) then
  return redis.error_reply('EMQARGS cap must be a whole number from 0 to 2147483647, tokens from 0 to 1000000 and interval from 0 to 2678400000')
end
if (ARGV[12] ~= '0' and ARGV[12] ~= '1') or (ARGV[15] ~= '0' and ARGV[15] ~= '1') or (tokens > 0 and interval == 0) then
  return redis.error_reply('EMQARGS capFixed and rateFixed must be 0 or 1, and tokens have an interval')
end
local perGroup = tonumber(ARGV[16])
if (ARGV[16] ~= '0' and not whole(ARGV[16], 0, 2147483647)) or (ARGV[17] ~= '0' and ARGV[17] ~= '1') then
  return redis.error_reply('EMQARGS perGroup must be a whole number from 0 to 2147483647, and perGroupFixed 0 or 1')
end

-- An override that is not of its form counts as none.
if ARGV[17] == '0' and meta[8] == 'none' then
  perGroup = 0
elseif ARGV[17] == '0' and meta[8] and whole(meta[8], 1, 2147483647) then
  perGroup = tonumber(meta[8])
end
if ARGV[12] == '0' and meta[4] == 'none' then
  cap = 0
elseif ARGV[12] == '0' and meta[4] and whole(meta[4], 1, 2147483647) then
  cap = tonumber(meta[4])
end
if ARGV[15] == '0' and meta[5] == 'none' then
  tokens = 0
elseif ARGV[15] == '0' and meta[5] then
  local many, span = string.match(meta[5], '^(%d+)/(%d+)$')
  if many and whole(many, 1, 1000000) and whole(span, 1, 2678400000) then
    tokens = tonumber(many)
    interval = tonumber(span)
  end
end

local declared = {}
for i = 1, count do
  if declared[ARGV[16 + 2 * i]] then
    return redis.error_reply('EMQARGS a job is declared twice')
  end
  declared[ARGV[16 + 2 * i]] = true
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local deadline = now + lease

-- What this token holds already, if the call was executed before.
local held = {}
local reserved = {}
if again then
  local locks = {}
  for i = 1, count do
    locks[i] = KEYS[16 + 2 * i]
  end
  if count > 0 then
    local tokens = redis.call('MGET', unpack(locks))
    for i = 1, count do
      if tokens[i] == token then
        held[i] = true
        want = 0
      end
    end
  end
  local listed = {}
  local cursor = '0'
  for _ = 1, 8 do
    local page = redis.call('HSCAN', KEYS[7], cursor, 'COUNT', 500)
    for f = 1, #page[2], 2 do
      if page[2][f + 1] == token and not listed[page[2][f]] then
        listed[page[2][f]] = true
        reserved[#reserved + 1] = page[2][f]
        want = 0
      end
    end
    cursor = page[1]
    if cursor == '0' then
      break
    end
  end
end

-- Which of the declared jobs are reserved for the caller.
local claims = {}
local redeemed = {}
for i = 1, count do
  if ARGV[17 + 2 * i] ~= '' and not held[i] then
    claims[#claims + 1] = ARGV[16 + 2 * i]
  end
end
if #claims > 0 then
  local owners = redis.call('HMGET', KEYS[7], unpack(claims))
  local c = 0
  for i = 1, count do
    if ARGV[17 + 2 * i] ~= '' and not held[i] then
      c = c + 1
      redeemed[i] = owners[c] == ARGV[17 + 2 * i]
    end
  end
end

-- How many heads may be popped. The bucket holds whole parts, of which a token
-- has as many as the interval has milliseconds, so each millisecond brings as
-- many parts as there are tokens in an interval. What is reserved has its token
-- and has not started: the bucket is so much smaller meanwhile, as otherwise the
-- reserved would start together with those for which it has filled again.
local room = want
if cap > 0 and want > 0 then
  room = math.max(math.min(room, cap - redis.call('ZCARD', KEYS[6])), 0)
end
local stock = 0
local spent = 0
if tokens > 0 then
  local bucket = redis.call('HMGET', KEYS[11], 'level', 'interval', 'at')
  stock = tokens * interval
  if bucket[1] and bucket[2] and bucket[3] and whole(bucket[1], 0, 9007199254740991)
    and whole(bucket[2], 1, 2678400000) and whole(bucket[3], 0, 9007199254740991) then
    local parts = tonumber(bucket[1])
    local unit = tonumber(bucket[2])
    if unit ~= interval then
      parts = math.floor(parts / unit) * interval + math.floor(parts % unit * interval / unit)
    end
    stock = parts + math.min(math.max(now - tonumber(bucket[3]), 0), interval) * tokens
  end
  stock = math.min(stock, math.max(tokens - redis.call('HLEN', KEYS[7]), 0) * interval)
  room = math.min(room, math.floor(stock / interval))
end

-- The marker goes first: it is set again below if there is more to take, and
-- the engine allows a deletion when it has no memory left.
redis.call('DEL', KEYS[9])
if #claims > 0 then
  local owned = {}
  for i = 1, count do
    if redeemed[i] then
      owned[#owned + 1] = ARGV[16 + 2 * i]
    end
  end
  if #owned > 0 then
    redis.call('HDEL', KEYS[7], unpack(owned))
  end
end

-- What each group in the ring may give and has, up to a fair share: the groups
-- that take turns, and those that are at the limit of another caller and not at
-- this one's.
local grouped = meta[7] and not paused
local below = '+inf'
if perGroup > 0 then
  below = '(' .. string.format('%.0f', 4503599627370496 + perGroup)
end
local ring = {}
local running = {}
local may = {}
local rows = {}
local heads = {}
local givers = {}
if grouped and room > 0 then
  ring = redis.call('ZRANGEBYSCORE', KEYS[14], '-inf', below, 'LIMIT', 0, room)
  local share = math.floor((room + #ring - 1) / math.max(#ring, 1))
  local counts = {}
  if #ring > 0 then
    local fields = {}
    for r = 1, #ring do
      fields[r] = '|' .. ring[r]
    end
    counts = redis.call('HMGET', KEYS[16], unpack(fields))
  end
  for r = 1, #ring do
    running[r] = tonumber(counts[r] or 0) or 0
    may[r] = share
    if perGroup > 0 then
      may[r] = math.max(math.min(share, perGroup - running[r]), 0)
    end
    rows[r] = {}
    if may[r] > 0 then
      -- One more than it may give tells whether it has more.
      rows[r] = redis.call('ZRANGEBYLEX', KEYS[15], '[' .. ring[r] .. '|', '(' .. ring[r] .. '}', 'LIMIT', 0, may[r] + 1)
    end
  end
  for k = 1, share do
    for r = 1, #ring do
      if k <= may[r] and rows[r][k] then
        heads[#heads + 1] = rows[r][k]
        givers[#givers + 1] = r
      end
    end
  end
end

-- The jobs of no group and the ring take turns, if both have work.
local ringNext = meta[9] == '1'
local popped = {}
local ranked = false
local from = {}
local gave = {}
local latest = {}
local leaving = {}
if room > 0 and not paused then
  local quota = room
  if #heads > 0 then
    quota = math.max(math.floor((room + (ringNext and 0 or 1)) / 2), room - #heads)
  end
  local lists = {}
  if quota > 0 then
    lists = redis.call('RPOP', KEYS[2], quota) or {}
    if #lists < quota then
      local scored = redis.call('ZPOPMIN', KEYS[3], quota - #lists)
      for f = 1, #scored, 2 do
        lists[#lists + 1] = scored[f]
        ranked = true
      end
    end
  end
  local given = math.min(#heads, room - #lists)
  local l = 0
  for _ = 1, #lists + given do
    if l < #lists and (not ringNext or #leaving == given) then
      l = l + 1
      popped[#popped + 1] = lists[l]
      ringNext = true
    else
      local h = #leaving + 1
      local r = givers[h]
      leaving[h] = heads[h]
      popped[#popped + 1] = string.match(heads[h], '[^|]*$')
      from[popped[#popped]] = r
      gave[r] = (gave[r] or 0) + 1
      latest[r] = h
      ringNext = false
    end
  end
end
if #leaving > 0 then
  redis.call('ZREM', KEYS[15], unpack(leaving))
end
-- No name is longer than 16 characters.
local names = ' meta wait prioritized pc delayed active reserved completed failed waiting-children quarantine dedup'
  .. ' dedup-due groups grouped group-active outbox outbox-body schedulers limiter marker events metrics scheduler'
  .. ' control version queues nodes paused stalled stalled-check id repeat de '
local place = {}
local fresh = {}
for p = 1, #popped do
  -- An id that no client can declare would be reserved for ever.
  if #popped[p] > 255 or not string.find(popped[p], '^_?%w[%w._-]*$')
    or (#popped[p] <= 16 and string.find(names, ' ' .. popped[p] .. ' ', 1, true)) then
    redis.call('ZADD', KEYS[8], now, popped[p])
    if level ~= 'none' then
      redis.call('XADD', KEYS[10], 'MAXLEN', '~', history, '*', 'event', 'quarantined', 'jobId', popped[p])
    end
  else
    place[popped[p]] = p
    fresh[popped[p]] = true
  end
end

local locks = {}
local leases = {}
local starts = {}
local hashes = {}
local names = {}
local order = {}
local keyed = {}
local holders = {}
local bytes = 0
local full = false -- what is left is not read: the reply takes no more of it
local crowded = {}
local put = {}
local moved = {}
local entering = {}
local lost = {}
for i = 1, count do
  local id = ARGV[16 + 2 * i]
  if full and not held[i] and (redeemed[i] or place[id]) then
    crowded[#crowded + 1] = id
    place[id] = nil
  elseif held[i] or redeemed[i] or place[id] then
    local hash = redis.pcall('HGETALL', KEYS[15 + 2 * i])
    local started = 0
    local size = 0
    local made = 0
    local named
    local unique
    local release
    local excess
    local doomed
    local priority
    local later
    if not hash.err then
      for f = 1, #hash, 2 do
        local field = hash[f]
        local value = hash[f + 1]
        if field == 'data' and #value > payload then
          excess = #value
          value = ''
          hash[f + 1] = ''
        end
        size = size + #value
        if field == 'name' then
          named = value
        elseif field == 'ats' then
          started = tonumber(value) or 0
        elseif field == 'atm' then
          made = tonumber(value) or 0
        elseif field == 'deid' then
          unique = value
        elseif field == 'deu' then
          release = value
        elseif field == 'defa' then
          doomed = true
        elseif field == 'chp' then
          priority = whole(value, 1, 2097151) and tonumber(value) or 0
        elseif field == 'chd' then
          later = whole(value, 0, 9007199254740991) and tonumber(value) or 0
        end
      end
    end
    if hash.err and not string.find(hash.err, 'WRONGTYPE', 1, true) then
      -- It may be well and only not be read now, for want of a right, say.
      crowded[#crowded + 1] = id
    elseif not hash.err and #hash == 0 then
      lost[#lost + 1] = id
      redis.call('ZREM', KEYS[6], id)
      redis.call('DEL', KEYS[16 + 2 * i])
      if level ~= 'none' then
        redis.call('XADD', KEYS[10], 'MAXLEN', '~', history, '*', 'event', 'orphan', 'jobId', id)
      end
    elseif not named then
      lost[#lost + 1] = id
      redis.call('ZREM', KEYS[6], id)
      redis.call('DEL', KEYS[16 + 2 * i])
      redis.call('ZADD', KEYS[8], now, id)
      if level ~= 'none' then
        redis.call('XADD', KEYS[10], 'MAXLEN', '~', history, '*', 'event', 'quarantined', 'jobId', id)
      end
    elseif not held[i] and not doomed and ((later or 0) > now or (priority or 0) > 0) then
      -- It was changed as it waited.
      lost[#lost + 1] = id
      redis.call('ZREM', KEYS[6], id)
      redis.call('HDEL', KEYS[15 + 2 * i], 'chp', 'chd')
      if (priority or 0) > 0 then
        redis.call('HSET', KEYS[15 + 2 * i], 'priority', priority)
      end
      if (later or 0) > now then
        put[#put + 1] = later
        put[#put + 1] = id
      else
        redis.call('HDEL', KEYS[15 + 2 * i], 'delay')
        moved[#moved + 1] = priority
        moved[#moved + 1] = id
      end
      -- One that was reserved gives its token back.
      if redeemed[i] then
        spent = spent - 1
      end
    elseif bytes > 0 and bytes + size > limit and not held[i] then
      full = true
      crowded[#crowded + 1] = id
    else
      bytes = bytes + size
      if excess then
        hash[#hash + 1] = 'defa'
        hash[#hash + 1] = 'the payload has ' .. string.format('%.0f', excess) .. ' bytes; the worker takes ' .. ARGV[9]
      end
      if not held[i] then
        if not redeemed[i] then
          spent = spent + 1
          if from[id] then
            entering[#entering + 1] = id
          end
        end
        started = started + 1
        if priority or later then
          redis.call('HDEL', KEYS[15 + 2 * i], 'chp', 'chd', 'delay')
        end
        redis.call('HSET', KEYS[15 + 2 * i], 'ats', started, 'processedOn', now, 'pb', worker)
        locks[#locks + 1] = KEYS[16 + 2 * i]
        locks[#locks + 1] = token
        leases[#leases + 1] = deadline
        leases[#leases + 1] = id
        if unique and release == 'started' then
          keyed[#keyed + 1] = unique
          holders[#holders + 1] = id
        end
        if level == 'all' then
          redis.call('XADD', KEYS[10], 'MAXLEN', '~', history, '*', 'event', 'active', 'jobId', id,
            'name', named, 'attempt', made + 1, 'worker', worker)
        end
      end
      order[#order + 1] = i
      names[i] = id
      starts[i] = started
      hashes[i] = hash
    end
    place[id] = nil
  end
end

if #put > 0 then
  redis.call('ZADD', KEYS[5], unpack(put))
end
if #moved > 0 then
  local ranks = math.floor(#moved / 2)
  local counter = redis.call('INCRBY', KEYS[4], ranks) - ranks
  for m = 1, #moved, 2 do
    counter = counter + 1
    moved[m] = moved[m] * 4294967296 + counter % 4294967296
  end
  redis.call('ZADD', KEYS[3], unpack(moved))
end

-- Heads that were not declared, and declared ones that no longer fitted.
local holds = {}
for p = 1, #popped do
  if place[popped[p]] == p then
    crowded[#crowded + 1] = popped[p]
  end
end
for c = 1, #crowded do
  if fresh[crowded[c]] then
    spent = spent + 1
    if from[crowded[c]] then
      entering[#entering + 1] = crowded[c]
    end
  end
  reserved[#reserved + 1] = crowded[c]
  holds[#holds + 1] = crowded[c]
  holds[#holds + 1] = token
  leases[#leases + 1] = deadline
  leases[#leases + 1] = crowded[c]
end
if #holds > 0 then
  redis.call('HSET', KEYS[7], unpack(holds))
end
if #locks > 0 then
  redis.call('MSET', unpack(locks))
end
if #leases > 0 then
  -- A small sorted set is a list that the engine walks through for every member, a
  -- tenth of all that a job costs with a hundred of them. A member that is too long
  -- for such a list makes it a real one, for as long as anything is in it. Where
  -- many are reserved, others take jobs as well, and the set is larger than the call.
  local long = string.rep('~', 65)
  local large = #leases > 32 or #holds > 16
  if large then
    leases[#leases + 1] = deadline
    leases[#leases + 1] = long
  end
  redis.call('ZADD', KEYS[6], unpack(leases))
  if large then
    redis.call('ZREM', KEYS[6], long)
  end
end
-- A key is released only by the job that holds it.
if #keyed > 0 then
  local owners = redis.call('HMGET', KEYS[12], unpack(keyed))
  local free = {}
  for k = 1, #keyed do
    if owners[k] == holders[k] then
      free[#free + 1] = keyed[k]
    end
  end
  if #free > 0 then
    redis.call('HDEL', KEYS[12], unpack(free))
    redis.call('ZREM', KEYS[13], unpack(free))
  end
end

-- The groups that gave jobs: each goes behind the others, or behind all of them
-- if it is at its limit, or out of the ring if it has no more.
if #ring > 0 then
  local entries = {}
  local entered = {}
  for e = 1, #entering do
    local r = from[entering[e]]
    entered[r] = (entered[r] or 0) + 1
    entries[#entries + 1] = entering[e]
    entries[#entries + 1] = ring[r]
  end
  local turn = 0
  if #leaving > 0 then
    turn = redis.call('HINCRBY', KEYS[1], 'grouped', #leaving) - #leaving
  end
  local places = {}
  local empty = {}
  for r = 1, #ring do
    if entered[r] then
      running[r] = running[r] + entered[r]
      entries[#entries + 1] = '|' .. ring[r]
      entries[#entries + 1] = running[r]
    end
    if may[r] > 0 and #rows[r] == (gave[r] or 0) then
      empty[#empty + 1] = ring[r]
    elseif perGroup > 0 and running[r] >= perGroup then
      places[#places + 1] = 4503599627370496 + running[r]
      places[#places + 1] = ring[r]
    elseif gave[r] then
      places[#places + 1] = turn + latest[r]
      places[#places + 1] = ring[r]
    end
  end
  if #entries > 0 then
    redis.call('HSET', KEYS[16], unpack(entries))
  end
  if #empty > 0 then
    redis.call('ZREM', KEYS[14], unpack(empty))
  end
  if #places > 0 then
    redis.call('ZADD', KEYS[14], unpack(places))
  end
  if ringNext ~= (meta[9] == '1') then
    redis.call('HSET', KEYS[1], 'groupNext', ringNext and '1' or '0')
  end
end
-- Those that were reserved and are not started leave the numbers of their groups.
local group = {}
local parted = {}
if meta[7] and #lost > 0 then
  local found = redis.call('HMGET', KEYS[16], unpack(lost))
  local gone = {}
  local fewer = {}
  for l = 1, #lost do
    local id = lost[l]
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
    redis.call('HDEL', KEYS[16], unpack(gone))
  end
  for p = 1, #parted do
    if redis.call('HINCRBY', KEYS[16], '|' .. parted[p], 0 - fewer[parted[p]]) < 1 then
      redis.call('HDEL', KEYS[16], '|' .. parted[p])
    end
  end
end
-- Groups that were at their limit take their turn again, behind the others.
if #parted > 0 then
  local scores = redis.call('ZMSCORE', KEYS[14], unpack(parted))
  local ring = {}
  for p = 1, #parted do
    if scores[p] and tonumber(scores[p]) >= 4503599627370496 then
      ring[#ring + 1] = 0
      ring[#ring + 1] = parted[p]
    end
  end
  if #ring > 0 then
    local turn = redis.call('HINCRBY', KEYS[1], 'grouped', math.floor(#ring / 2)) - math.floor(#ring / 2)
    for r = 1, #ring, 2 do
      turn = turn + 1
      ring[r] = turn
    end
    redis.call('ZADD', KEYS[14], unpack(ring))
  end
end

local started = {}
for o = 1, #order do
  local i = order[o]
  started[#started + 1] = names[i]
  started[#started + 1] = starts[i]
  started[#started + 1] = hashes[i]
end

-- The window, nearest first, and with it whether anything is left to take. Of a
-- paused queue nothing is.
local upcoming = {}
if not paused then
  local nearest = redis.call('LRANGE', KEYS[2], 0 - window, -1)
  for w = #nearest, 1, -1 do
    upcoming[#upcoming + 1] = nearest[w]
  end
  if #upcoming < window then
    local behind = redis.call('ZRANGE', KEYS[3], 0, window - #upcoming - 1)
    for w = 1, #behind do
      upcoming[#upcoming + 1] = behind[w]
    end
    if ranked and #behind == 0 then
      redis.call('DEL', KEYS[4])
    end
  end
end
if grouped then
  local peek = math.min(math.max(tonumber(ARGV[6]), 1), window)
  local coming = redis.call('ZRANGEBYSCORE', KEYS[14], '-inf', below, 'LIMIT', 0, peek)
  local share = math.floor((peek + #coming - 1) / math.max(#coming, 1))
  local nearest = {}
  for c = 1, #coming do
    nearest[c] = redis.call('ZRANGEBYLEX', KEYS[15], '[' .. coming[c] .. '|', '(' .. coming[c] .. '}', 'LIMIT', 0, share)
  end
  local ids = {}
  for k = 1, share do
    for c = 1, #coming do
      if nearest[c][k] and #ids < peek then
        ids[#ids + 1] = string.match(nearest[c][k], '[^|]*$')
      end
    end
  end
  local lists = upcoming
  local l = 0
  local d = 0
  upcoming = {}
  for _ = 1, math.min(window, #lists + #ids) do
    if l < #lists and (not ringNext or d == #ids) then
      l = l + 1
      upcoming[#upcoming + 1] = lists[l]
      ringNext = true
    else
      d = d + 1
      upcoming[#upcoming + 1] = ids[d]
      ringNext = false
    end
  end
end

-- What blocks the rest. A limit does until a job ends; the rate until there is a
-- token, for which one worker looks on behalf of all: the one that is told when.
-- If nobody came at the time that was told, this one takes it over.
local blocked = 'no'
local ready = 0
if tokens > 0 then
  stock = stock - spent * interval
  redis.call('HSET', KEYS[11], 'level', stock, 'interval', interval, 'at', now)
end
if #upcoming > 0 and cap > 0 and redis.call('ZCARD', KEYS[6]) >= cap then
  blocked = 'limit'
  if meta[3] ~= 'limit' then
    redis.call('HSET', KEYS[1], 'blocked', 'limit')
  end
elseif #upcoming > 0 and tokens > 0 and stock < interval then
  blocked = 'rate'
  ready = now + math.floor((interval - stock + tokens - 1) / tokens)
  local told = meta[3] and tonumber(meta[3])
  if spent == 0 and told and now < told and told <= ready then
    ready = 0
  else
    redis.call('HSET', KEYS[1], 'blocked', ready)
  end
elseif meta[3] then
  redis.call('HDEL', KEYS[1], 'blocked')
end
if #upcoming > 0 and blocked == 'no' then
  redis.call('ZADD', KEYS[9], 0, upcoming[1])
end

local due = redis.call('ZRANGE', KEYS[5], 0, 0, 'WITHSCORES')[2]
local expiry = redis.call('ZRANGE', KEYS[6], 0, 0, 'WITHSCORES')[2]
return {
  now,
  math.floor(tonumber(due or 0)),
  math.floor(tonumber(expiry or 0)),
  started,
  reserved,
  upcoming,
  math.floor(tonumber(meta[6] or 0) or 0),
  blocked ~= 'no' and 1 or 0,
  ready,
  (cap > 0 or tokens > 0 or perGroup > 0) and 1 or 0,
}
