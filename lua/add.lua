--- add puts new jobs into a queue: to run at once, by priority, or when due.
---
--- A job whose id is taken is left as it is and answered "exists", so a call
--- that is sent again does no harm. With maxmemory reached nothing is written
--- and the answer is EMQFULL.
---
--- A job may bring a key that only one job holds. If another holds it the job is
--- not added and the answer is "duplicate", with the holder's id; within the call
--- the first of two has it. A key whose time is over is held by nobody.
---
--- @memory refused
--- @key meta hash the queue's version, and whether it is paused
--- @key wait list ids without priority; the next to run is at the tail
--- @key prioritized zset ids with a priority
--- @key pc string counter that orders jobs of one priority
--- @key delayed zset ids by due time
--- @key marker zset wakes idle workers
--- @key events stream what happened
--- @key dedup hash unique keys to the id of the job that holds each
--- @key dedup-due zset unique keys by when their time is over
--- @each job hash <id> the job
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
--- @item unique string the key that only one job is to hold; empty for none
--- @item until word(started|finished|removed) what releases the key
--- @item term ms how long the key is held at most; 0 for no limit
--- @field version meta
--- @field paused meta
--- @field name job
--- @field data job
--- @field cdc job
--- @field ver job
--- @field opts job
--- @field timestamp job
--- @field delay job
--- @field priority job
--- @field deid job
--- @field deu job
--- @field * dedup
--- @stores name job name
--- @stores data job data
--- @stores cdc job codec
--- @stores ver job version
--- @stores opts job opts
--- @stores delay job delay
--- @stores priority job priority
--- @stores deid job unique
--- @stores deu job until
--- @reply now ms the server's clock
--- @reply results records one per item, in order
--- @record results verdict word(added|exists|duplicate) what happened
--- @record results name string the wire name of the job that exists
--- @record results owner string the id of the job that holds the key of a duplicate
--- @error EMQARGS the call is malformed; nothing was written
--- @error EMQVERSION the queue speaks another version of the protocol
--- @error EMQFULL the server has no memory left; nothing was written

local meta = redis.call('HMGET', KEYS[1], 'version', 'paused')
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

local count = #KEYS - 9
if count < 1 or #ARGV ~= 2 + 12 * count then
  return redis.error_reply('EMQARGS add takes 9 keys and 2 arguments, then 1 key and 12 arguments for each job')
end
local level = ARGV[1]
local history = tonumber(ARGV[2])
local levels = { none = true, final = true, all = true }
if not levels[level] or not whole(ARGV[2], 0, 9007199254740991) then
  return redis.error_reply('EMQARGS events must be none, final or all, and history a whole number from 0')
end
local releases = { started = true, finished = true, removed = true }
local jobs = {}
local keyed = {}
for i = 1, count do
  local a = 2 + 12 * (i - 1)
  for n = 5, 8 do
    if n ~= 6 and not whole(ARGV[a + n], -9007199254740991, 9007199254740991) then
      return redis.error_reply('EMQARGS version, delay and due must be whole numbers')
    end
  end
  if not whole(ARGV[a + 9], 0, 2097151) then
    return redis.error_reply('EMQARGS priority must be a whole number from 0 to 2097151')
  end
  if ARGV[a + 10] ~= '' then
    if not releases[ARGV[a + 11]] then
      return redis.error_reply('EMQARGS until must be started, finished or removed')
    end
    keyed[#keyed + 1] = ARGV[a + 10]
  end
  if not whole(ARGV[a + 12], 0, 9007199254740991) then
    return redis.error_reply('EMQARGS term must be a whole number from 0')
  end
  jobs[i] = KEYS[9 + i]
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local taken = redis.call('EXISTS', unpack(jobs))

-- Who holds the jobs' keys.
local owner = {}
local over = {}
if #keyed > 0 then
  local owners = redis.call('HMGET', KEYS[8], unpack(keyed))
  local ends = redis.call('ZMSCORE', KEYS[9], unpack(keyed))
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

local results = {}
local seen = {}
local waiting = {}
local ranked = {}
local delayed = {}
local holds = {}
local terms = {}
local endless = {}
local earliest = false
for i = 1, count do
  local a = 2 + 12 * (i - 1)
  local id = ARGV[a + 1]
  local key = ARGV[a + 10]
  local exists = seen[id] or (taken > 0 and redis.call('EXISTS', KEYS[9 + i]) == 1)
  if exists then
    local name = redis.pcall('HGET', KEYS[9 + i], 'name')
    results[#results + 1] = 'exists'
    results[#results + 1] = type(name) == 'string' and name or ''
    results[#results + 1] = ''
  elseif key ~= '' and owner[key] then
    results[#results + 1] = 'duplicate'
    results[#results + 1] = ''
    results[#results + 1] = owner[key]
  else
    seen[id] = true
    local opts = ARGV[a + 6]
    local written
    if opts == '' then
      written = redis.pcall('HSET', KEYS[9 + i], 'name', ARGV[a + 2], 'data', ARGV[a + 3], 'timestamp', now)
    else
      written = redis.pcall('HSET', KEYS[9 + i], 'name', ARGV[a + 2], 'data', ARGV[a + 3], 'timestamp', now, 'opts', opts)
    end
    local refused = refusal(written)
    if refused then
      return refused
    end
    if ARGV[a + 4] ~= '' then
      redis.call('HSET', KEYS[9 + i], 'cdc', ARGV[a + 4])
    end
    if ARGV[a + 5] ~= '1' then
      redis.call('HSET', KEYS[9 + i], 'ver', ARGV[a + 5])
    end
    if key ~= '' then
      redis.call('HSET', KEYS[9 + i], 'deid', key, 'deu', ARGV[a + 11])
      owner[key] = id
      holds[#holds + 1] = key
      holds[#holds + 1] = id
      local term = tonumber(ARGV[a + 12])
      if term > 0 then
        terms[#terms + 1] = now + term
        terms[#terms + 1] = key
      elseif over[key] then
        endless[#endless + 1] = key
      end
    end
    local priority = tonumber(ARGV[a + 9])
    if priority > 0 then
      redis.call('HSET', KEYS[9 + i], 'priority', priority)
    end
    local due = tonumber(ARGV[a + 8])
    if due == 0 then
      due = now + tonumber(ARGV[a + 7])
    end
    if due > now then
      redis.call('HSET', KEYS[9 + i], 'delay', due - now)
      delayed[#delayed + 1] = due
      delayed[#delayed + 1] = id
    elseif priority > 0 then
      ranked[#ranked + 1] = priority
      ranked[#ranked + 1] = id
    else
      waiting[#waiting + 1] = id
    end
    if level == 'all' then
      local wait = due > now and due - now or 0
      redis.call('XADD', KEYS[7], 'MAXLEN', '~', history, '*', 'event', 'added', 'jobId', id, 'name', ARGV[a + 2], 'delay', wait)
    end
    results[#results + 1] = 'added'
    results[#results + 1] = ''
    results[#results + 1] = ''
  end
end

if #holds > 0 then
  redis.call('HSET', KEYS[8], unpack(holds))
end
if #terms > 0 then
  redis.call('ZADD', KEYS[9], unpack(terms))
end
if #endless > 0 then
  redis.call('ZREM', KEYS[9], unpack(endless))
end
local head
if #ranked > 0 then
  local ranks = math.floor(#ranked / 2)
  local counter = redis.call('INCRBY', KEYS[4], ranks) - ranks
  for i = 1, #ranked, 2 do
    counter = counter + 1
    ranked[i] = ranked[i] * 4294967296 + counter % 4294967296
  end
  redis.call('ZADD', KEYS[3], unpack(ranked))
end
if #waiting > 0 and redis.call('LPUSH', KEYS[2], unpack(waiting)) == #waiting then
  head = waiting[1]
elseif #waiting + #ranked > 0 and not paused and redis.call('EXISTS', KEYS[6]) == 0 then
  head = redis.call('LINDEX', KEYS[2], -1) or redis.call('ZRANGE', KEYS[3], 0, 0)[1]
end
if #delayed > 0 then
  redis.call('ZADD', KEYS[5], unpack(delayed))
  local soonest = redis.call('ZRANGE', KEYS[5], 0, 0)[1]
  for i = 2, #delayed, 2 do
    earliest = earliest or delayed[i] == soonest
  end
end
if head and not paused then
  redis.call('ZADD', KEYS[6], 0, head)
elseif earliest then
  redis.call('ZADD', KEYS[6], 1, '~due')
end
return { now, results }
