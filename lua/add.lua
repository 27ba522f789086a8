--- add puts new jobs into a queue: to run at once, by priority, when due, or
--- when their children have ended.
---
--- What brings a job's children into being goes into the outbox with the job, for
--- a worker to make if the caller does not come to it.
---
--- A job whose id is taken is left as it is and answered "exists", so a call
--- that is sent again does no harm. With maxmemory reached nothing is written
--- and the answer is EMQFULL.
---
--- A job of a group waits in its group, and its group in the ring of those that
--- have work.
---
--- A job may bring a key that only one job holds. If another holds it the job is
--- not added and the answer is "duplicate", with the holder's id; within the call
--- the first of two has it. A key whose time is over is held by nobody.
---
--- @memory refused
--- @key meta hash the queue's version, and whether it is paused or blocked
--- @key wait list ids without priority; the next to run is at the tail
--- @key prioritized zset ids with a priority
--- @key pc string counter that orders jobs of one priority
--- @key delayed zset ids by due time
--- @key marker zset wakes idle workers
--- @key events stream what happened
--- @key waiting-children zset parents by when their children are next looked for
--- @key outbox zset deliveries to other queues by when they are next tried
--- @key outbox-body hash what is to be delivered
--- @key dedup hash unique keys to the id of the job that holds each
--- @key dedup-due zset unique keys by when their time is over
--- @key groups zset groups with work by turn; those at their limit after all others
--- @key grouped zset jobs that wait in their groups: group, place and id
--- @each job hash <id> the job
--- @each dependencies set <id>:dependencies edges of children that it waits for
--- @arg events word(none|final|all) which events are written
--- @arg history int how many events are kept, about
--- @item id id the job's id
--- @item name string the job's wire name
--- @item data bytes the encoded payload
--- @item codec string the payload's codec; empty for JSON
--- @item version int the payload's version
--- @item opts bytes the producer's settings, JSON; empty for none
--- @item delay ms how long to wait, from the server's now
--- @item due ms when to run, by the server's clock; 0 to go by delay
--- @item priority int 0 runs first, then 1 to 2097151
--- @item parent string the key of its parent's hash; empty for none
--- @item edge string its line in what the parent waits for; empty for none
--- @item children int how many children it waits for, at most 5000; 0 for none
--- @item edges bytes their lines, parted by line feeds; empty for none
--- @item delivery bytes what is to be delivered to bring them into being; empty for none
--- @item unique string the key that only one job is to hold; empty for none
--- @item until word(started|finished|removed) what releases the key
--- @item term ms how long the key is held at most; 0 for no limit
--- @item group string the group in which it takes its turn, of letters, digits and ._%~-, at most 200; empty for none
--- @field version meta
--- @field paused meta
--- @field blocked meta
--- @field grouped meta
--- @field name job
--- @field data job
--- @field cdc job
--- @field ver job
--- @field opts job
--- @field timestamp job
--- @field delay job
--- @field priority job
--- @field parentKey job
--- @field parent job
--- @field chn job
--- @field * outbox-body
--- @field deid job
--- @field deu job
--- @field * dedup
--- @field grp job
--- @field gpl job
--- @stores name job name
--- @stores data job data
--- @stores cdc job codec
--- @stores ver job version
--- @stores opts job opts
--- @stores delay job delay
--- @stores priority job priority
--- @stores parentKey job parent
--- @stores parent job edge
--- @stores chn job children
--- @stores deid job unique
--- @stores deu job until
--- @stores grp job group
--- @reply now ms the server's clock
--- @reply results records one per item, in order; none if all were added
--- @record results verdict word(added|exists|duplicate) what happened
--- @record results name string the wire name of the job that exists
--- @record results parent string the key of the parent of the job that exists
--- @record results owner string the id of the job that holds the key of a duplicate
--- @error EMQARGS the call is malformed; nothing was written
--- @error EMQVERSION the queue speaks another version of the protocol
--- @error EMQFULL the server has no memory left; nothing was written
--- @special push events=none|final history codec= version=1 delay=0 due=0 priority=0
--- @special push parent= edge children=0 edges= delivery= unique= until term=0 group=
--- @special post events=none|final history delay=0 due=0 priority=0
--- @special post parent= edge children=0 edges= delivery= unique= until term=0 group=

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

local count = math.floor((#KEYS - 14) / 2)
if count < 1 or #KEYS ~= 14 + 2 * count or #ARGV ~= 2 + 18 * count then
  return redis.error_reply('EMQARGS add takes 14 keys and 2 arguments, then 2 keys and 18 arguments for each job')
end
local level = ARGV[1]
local history = tonumber(ARGV[2])
if (level ~= 'none' and level ~= 'final' and level ~= 'all') or (level == 'all' and not whole(ARGV[2], 0, 9007199254740991)) then
  return redis.error_reply('EMQARGS events must be none, final or all, and history a whole number from 0')
end
local jobs = {}
local keyed = {}
for i = 1, count do
  local a = 2 + 18 * (i - 1)
  -- Most arguments of most jobs stand at what stands for none, which needs no
  -- further look.
  if (ARGV[a + 5] ~= '1' and not whole(ARGV[a + 5], -9007199254740991, 9007199254740991))
    or (ARGV[a + 7] ~= '0' and not whole(ARGV[a + 7], -9007199254740991, 9007199254740991))
    or (ARGV[a + 8] ~= '0' and not whole(ARGV[a + 8], -9007199254740991, 9007199254740991)) then
    return redis.error_reply('EMQARGS version, delay and due must be whole numbers')
  end
  if ARGV[a + 9] ~= '0' and not whole(ARGV[a + 9], 0, 2097151) then
    return redis.error_reply('EMQARGS priority must be a whole number from 0 to 2097151')
  end
  local childless = ARGV[a + 12] == '0'
  if childless ~= (ARGV[a + 13] == '') or childless ~= (ARGV[a + 14] == '') or (not childless and not whole(ARGV[a + 12], 0, 5000)) then
    return redis.error_reply('EMQARGS children must be a whole number from 0 to 5000, with edges and a delivery if there are any')
  end
  if ARGV[a + 15] ~= '' then
    local release = ARGV[a + 16]
    if release ~= 'started' and release ~= 'finished' and release ~= 'removed' then
      return redis.error_reply('EMQARGS until must be started, finished or removed')
    end
    keyed[#keyed + 1] = ARGV[a + 15]
  end
  if ARGV[a + 17] ~= '0' and not whole(ARGV[a + 17], 0, 9007199254740991) then
    return redis.error_reply('EMQARGS term must be a whole number from 0')
  end
  if ARGV[a + 18] ~= '' and (#ARGV[a + 18] > 200 or string.find(ARGV[a + 18], '[^%w._%%~-]')) then
    return redis.error_reply('EMQARGS group must be at most 200 letters, digits and ._%~-')
  end
  jobs[i] = KEYS[13 + 2 * i]
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local taken = redis.call('EXISTS', unpack(jobs))

-- Whether nobody is to be woken for a job: the queue is paused, or blocked until
-- one of its jobs ends or until a time that a worker waits for.
local stopped = meta[2] == '1' or meta[3] == 'limit' or (meta[3] and now < (tonumber(meta[3]) or 0))

-- Who holds the jobs' keys.
local owner = {}
local over = {}
if #keyed > 0 then
  local owners = redis.call('HMGET', KEYS[11], unpack(keyed))
  local ends = redis.call('ZMSCORE', KEYS[12], unpack(keyed))
  for k = 1, #keyed do
    over[keyed[k]] = ends[k] and tonumber(ends[k]) <= now
    owner[keyed[k]] = not over[keyed[k]] and owners[k]
  end
end

-- The engine refuses the first write if it has no memory left, and no later
-- one; so that is where its error is told from others and passed on.
local function refusal(written)
  if type(written) ~= 'table' or not written.err then
    return nil
  end
  if string.find(written.err, 'OOM', 1, true) then
    return redis.error_reply('EMQFULL ' .. written.err)
  end
  return written
end

if not version then
  local refused = refusal(redis.pcall('HSET', KEYS[1], 'version', 'echomq:2.0.0'))
  if refused then
    return refused
  end
end

local found = {}
local others = 0
local seen = {}
local waiting = {}
local ranked = {}
local delayed = {}
local joining = {}
local groups = {}
local holds = {}
local terms = {}
local endless = {}
local earliest = false
local parents = {}
local entries = {}
local bodies = {}
for i = 1, count do
  local a = 2 + 18 * (i - 1)
  local id = ARGV[a + 1]
  local key = ARGV[a + 15]
  local exists = seen[id] or (taken > 0 and redis.call('EXISTS', KEYS[13 + 2 * i]) == 1)
  if exists then
    local job = redis.pcall('HMGET', KEYS[13 + 2 * i], 'name', 'parentKey')
    found[i] = { 'exists', job[1] or '', job[2] or '', '' }
    others = others + 1
  elseif key ~= '' and owner[key] then
    found[i] = { 'duplicate', '', '', owner[key] }
    others = others + 1
  else
    seen[id] = true
    local opts = ARGV[a + 6]
    local written
    if opts == '' then
      written = redis.pcall('HSET', KEYS[13 + 2 * i], 'name', ARGV[a + 2], 'data', ARGV[a + 3], 'timestamp', now)
    else
      written = redis.pcall('HSET', KEYS[13 + 2 * i], 'name', ARGV[a + 2], 'data', ARGV[a + 3], 'timestamp', now, 'opts', opts)
    end
    local refused = refusal(written)
    if refused then
      return refused
    end
    if ARGV[a + 4] ~= '' then
      redis.call('HSET', KEYS[13 + 2 * i], 'cdc', ARGV[a + 4])
    end
    if ARGV[a + 5] ~= '1' then
      redis.call('HSET', KEYS[13 + 2 * i], 'ver', ARGV[a + 5])
    end
    if key ~= '' then
      redis.call('HSET', KEYS[13 + 2 * i], 'deid', key, 'deu', ARGV[a + 16])
      owner[key] = id
      holds[#holds + 1] = key
      holds[#holds + 1] = id
      local term = tonumber(ARGV[a + 17])
      if term > 0 then
        terms[#terms + 1] = now + term
        terms[#terms + 1] = key
      elseif over[key] then
        endless[#endless + 1] = key
      end
    end
    local priority = 0
    if ARGV[a + 9] ~= '0' then
      priority = tonumber(ARGV[a + 9])
    end
    if priority > 0 then
      redis.call('HSET', KEYS[13 + 2 * i], 'priority', priority)
    end
    if ARGV[a + 10] ~= '' then
      redis.call('HSET', KEYS[13 + 2 * i], 'parentKey', ARGV[a + 10], 'parent', ARGV[a + 11])
    end
    if ARGV[a + 18] ~= '' then
      redis.call('HSET', KEYS[13 + 2 * i], 'grp', ARGV[a + 18])
    end
    local wait = 0
    if ARGV[a + 8] ~= '0' then
      wait = math.max(tonumber(ARGV[a + 8]) - now, 0)
    elseif ARGV[a + 7] ~= '0' then
      wait = math.max(tonumber(ARGV[a + 7]), 0)
    end
    if wait > 0 then
      redis.call('HSET', KEYS[13 + 2 * i], 'delay', wait)
    end
    if ARGV[a + 12] ~= '0' then
      redis.call('HSET', KEYS[13 + 2 * i], 'chn', ARGV[a + 12])
      local edges = {}
      for edge in string.gmatch(ARGV[a + 13], '[^\n]+') do
        edges[#edges + 1] = edge
        if #edges == 500 then
          redis.call('SADD', KEYS[14 + 2 * i], unpack(edges))
          edges = {}
        end
      end
      if #edges > 0 then
        redis.call('SADD', KEYS[14 + 2 * i], unpack(edges))
      end
      -- The caller makes the delivery itself, and has two seconds for it.
      parents[#parents + 1] = now + 30000
      parents[#parents + 1] = id
      entries[#entries + 1] = now + 2000
      entries[#entries + 1] = id .. ':children'
      bodies[#bodies + 1] = id .. ':children'
      bodies[#bodies + 1] = string.format('%.0f', now) .. ' ' .. ARGV[a + 14]
    elseif wait > 0 then
      delayed[#delayed + 1] = now + wait
      delayed[#delayed + 1] = id
    elseif ARGV[a + 18] ~= '' then
      joining[#joining + 1] = i
      groups[i] = ARGV[a + 18]
    elseif priority > 0 then
      ranked[#ranked + 1] = priority
      ranked[#ranked + 1] = id
    else
      waiting[#waiting + 1] = id
    end
    if level == 'all' then
      redis.call('XADD', KEYS[7], 'MAXLEN', '~', history, '*', 'event', 'added', 'jobId', id, 'name', ARGV[a + 2], 'delay', wait)
    end
  end
end

if #parents > 0 then
  redis.call('ZADD', KEYS[8], unpack(parents))
  redis.call('ZADD', KEYS[9], unpack(entries))
  redis.call('HSET', KEYS[10], unpack(bodies))
end
if #holds > 0 then
  redis.call('HSET', KEYS[11], unpack(holds))
end
if #terms > 0 then
  redis.call('ZADD', KEYS[12], unpack(terms))
end
if #endless > 0 then
  redis.call('ZREM', KEYS[12], unpack(endless))
end
if #joining > 0 then
  local turn = redis.call('HINCRBY', KEYS[1], 'grouped', #joining) - #joining
  local rows = {}
  local ring = {}
  local ringed = {} -- of a member that stands there twice engines take one score or the other
  for i = 1, count do
    if groups[i] then
      turn = turn + 1
      local a = 2 + 18 * (i - 1)
      local place = string.format('%07.0f|%016.0f', tonumber(ARGV[a + 9]), turn)
      redis.call('HSET', KEYS[13 + 2 * i], 'gpl', place)
      if not ringed[groups[i]] then
        ringed[groups[i]] = true
        ring[#ring + 1] = turn
        ring[#ring + 1] = groups[i]
      end
      rows[#rows + 1] = 0
      rows[#rows + 1] = groups[i] .. '|' .. place .. '|' .. ARGV[a + 1]
    end
  end
  redis.call('ZADD', KEYS[14], unpack(rows))
  redis.call('ZADD', KEYS[13], 'NX', unpack(ring))
end

-- The job that comes next of those that may be taken: one without a group, or of
-- the group whose turn it is.
local function first()
  local head = redis.call('LINDEX', KEYS[2], -1) or redis.call('ZRANGE', KEYS[3], 0, 0)[1]
  if head or not (meta[4] or #joining > 0) then
    return head
  end
  local group = redis.call('ZRANGE', KEYS[13], 0, 0, 'WITHSCORES')
  if group[1] and tonumber(group[2]) < 4503599627370496 then
    local member = redis.call('ZRANGEBYLEX', KEYS[14], '[' .. group[1] .. '|', '(' .. group[1] .. '}', 'LIMIT', 0, 1)[1]
    head = member and string.match(member, '[^|]*$')
  end
  return head
end
local head
if #ranked > 0 then
  local ranks = math.floor(#ranked / 2)
  local counter = redis.call('INCRBY', KEYS[4], ranks) - ranks
  local scores = {}
  for i = 1, #ranked, 2 do
    counter = counter + 1
    scores[i] = ranked[i] * 4294967296 + counter % 4294967296
    scores[i + 1] = ranked[i + 1]
  end
  redis.call('ZADD', KEYS[3], unpack(scores))
end
if #waiting > 0 then
  if redis.call('LPUSH', KEYS[2], unpack(waiting)) == #waiting then
    head = waiting[1]
  elseif not stopped and redis.call('EXISTS', KEYS[6]) == 0 then
    head = redis.call('LINDEX', KEYS[2], -1)
  end
elseif #ranked + #joining > 0 and not stopped and redis.call('EXISTS', KEYS[6]) == 0 then
  head = first()
end
if #delayed > 0 then
  redis.call('ZADD', KEYS[5], unpack(delayed))
  local soonest = redis.call('ZRANGE', KEYS[5], 0, 0)[1]
  for i = 2, #delayed, 2 do
    earliest = earliest or delayed[i] == soonest
  end
end
if head and not stopped then
  redis.call('ZADD', KEYS[6], 0, head)
elseif earliest then
  redis.call('ZADD', KEYS[6], 1, '~due')
end
local results = {}
if others > 0 then
  local added = { 'added', '', '', '' }
  for i = 1, count do
    local one = found[i] or added
    for n = 1, 4 do
      results[4 * (i - 1) + n] = one[n]
    end
  end
end
return { now, results }
