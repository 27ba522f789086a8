--- replace gives jobs that have not run yet the content of others that were to
--- be added, with the same unique keys, and were not.
---
--- The job keeps its id. It gets the payload and the settings of the other, and
--- its key is held as the other says. One that is delayed, and not because an
--- attempt of it failed, also gets the other's time, priority and group; one that waits
--- to run, or to be tried again, keeps its place.
---
--- A job that is active or has ended is left as it is. One that is reserved is
--- about to be active, and one that was cancelled about to end without being run.
--- For a holder that is gone there is heal.
---
--- The job remembers by whom it was replaced last, so a call that is sent again
--- is answered "replaced" whatever has become of the job and its key since. With
--- maxmemory reached nothing is written and the answer is EMQFULL.
---
--- @memory refused
--- @key meta hash the queue's version
--- @key delayed zset ids by due time
--- @key active zset ids by the deadline of their lease
--- @key reserved hash ids to the token they are reserved for
--- @key completed zset ids by finishing time
--- @key failed zset ids by finishing time
--- @key marker zset wakes idle workers
--- @key events stream what happened
--- @key dedup hash unique keys to the id of the job that holds each
--- @key dedup-due zset unique keys by when their time is over
--- @each job hash <id> the job
--- @arg events word(none|final|all) which events are written
--- @arg history int how many events are kept, about
--- @item id id the job that is believed to hold the key, each at most once
--- @item by string the id of the job that takes its place
--- @item data bytes the encoded payload
--- @item codec string the payload's codec; empty for JSON
--- @item version int the payload's version
--- @item opts bytes the producer's settings, JSON; empty for none
--- @item delay ms how long to wait, from the server's now
--- @item due ms when to run, by the server's clock; 0 to go by delay
--- @item priority int 0 runs first, then 1 to 2097151
--- @item unique string the key
--- @item until word(started|finished|removed) what releases the key
--- @item term ms how long the key is held at most from now; 0 for no limit
--- @item group string its group, as add takes it; empty for none
--- @field version meta
--- @field name job
--- @field data job
--- @field cdc job
--- @field ver job
--- @field opts job
--- @field delay job
--- @field priority job
--- @field ats job
--- @field defa job
--- @field deid job
--- @field deu job
--- @field rpb job
--- @field * reserved
--- @field * dedup
--- @field grp job
--- @reply now ms the server's clock
--- @reply results records one per item, in order
--- @record results verdict word(replaced|reserved|cancelled|active|completed|failed|gone|passed) what happened, or where the job is that holds the key; passed if it does not
--- @error EMQARGS the call is malformed; nothing was written
--- @error EMQVERSION the queue speaks another version of the protocol
--- @error EMQFULL the server has no memory left; nothing was written

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

local count = #KEYS - 10
if count < 1 or #ARGV ~= 2 + 13 * count then
  return redis.error_reply('EMQARGS replace takes 10 keys and 2 arguments, then 1 key and 13 arguments for each job')
end
local level = ARGV[1]
local history = tonumber(ARGV[2])
local levels = { none = true, final = true, all = true }
if not levels[level] or not whole(ARGV[2], 0, 9007199254740991) then
  return redis.error_reply('EMQARGS events must be none, final or all, and history a whole number from 0')
end
local releases = { started = true, finished = true, removed = true }
local ids = {}
local keyed = {}
local twice = {}
for i = 1, count do
  local a = 2 + 13 * (i - 1)
  for n = 5, 8 do
    if n ~= 6 and not whole(ARGV[a + n], -9007199254740991, 9007199254740991) then
      return redis.error_reply('EMQARGS version, delay and due must be whole numbers')
    end
  end
  if not whole(ARGV[a + 9], 0, 2097151) or not whole(ARGV[a + 12], 0, 9007199254740991) then
    return redis.error_reply('EMQARGS priority must be a whole number from 0 to 2097151, term one from 0')
  end
  if ARGV[a + 2] == '' or ARGV[a + 10] == '' or not releases[ARGV[a + 11]] then
    return redis.error_reply('EMQARGS by or unique is empty, or until is not started, finished or removed')
  end
  if #ARGV[a + 13] > 200 or string.find(ARGV[a + 13], '[^%w._%%~-]') then
    return redis.error_reply('EMQARGS group must be at most 200 letters, digits and ._%~-')
  end
  if twice[ARGV[a + 1]] then
    return redis.error_reply('EMQARGS a job is declared twice')
  end
  twice[ARGV[a + 1]] = true
  ids[i] = ARGV[a + 1]
  keyed[i] = ARGV[a + 10]
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local owners = redis.call('HMGET', KEYS[9], unpack(keyed))
local terms = redis.call('ZMSCORE', KEYS[10], unpack(keyed))
local delays = redis.call('ZMSCORE', KEYS[2], unpack(ids))
local leases = redis.call('ZMSCORE', KEYS[3], unpack(ids))
local tokens = redis.call('HMGET', KEYS[4], unpack(ids))
local successes = redis.call('ZMSCORE', KEYS[5], unpack(ids))
local failures = redis.call('ZMSCORE', KEYS[6], unpack(ids))

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

local verdicts = {}
local started = {}
local names = {}
for i = 1, count do
  local fields = redis.pcall('HMGET', KEYS[10 + i], 'name', 'deid', 'rpb', 'ats', 'defa')
  if fields.err and not string.find(fields.err, 'WRONGTYPE', 1, true) then
    return fields
  end
  if not fields.err and fields[3] == ARGV[2 + 13 * (i - 1) + 2] then
    verdicts[i] = 'again'
  elseif owners[i] ~= ids[i] then
    verdicts[i] = 'passed'
  elseif fields.err or not fields[1] or fields[2] ~= keyed[i] then
    verdicts[i] = 'gone'
  elseif tokens[i] then
    verdicts[i] = 'reserved'
  elseif leases[i] then
    verdicts[i] = 'active'
  elseif successes[i] then
    verdicts[i] = 'completed'
  elseif failures[i] then
    verdicts[i] = 'failed'
  elseif fields[5] then
    verdicts[i] = 'cancelled'
  else
    verdicts[i] = 'replaced'
    started[i] = (tonumber(fields[4] or 0) or 0) > 0
    names[i] = fields[1]
  end
end

local timed = {}
for i = 1, count do
  local a = 2 + 13 * (i - 1)
  if verdicts[i] == 'replaced' then
    local refused = refusal(redis.pcall('HSET', KEYS[10 + i],
      'data', ARGV[a + 3], 'cdc', ARGV[a + 4], 'ver', ARGV[a + 5], 'opts', ARGV[a + 6], 'deu', ARGV[a + 11], 'rpb', ARGV[a + 2]))
    if refused then
      return refused
    end
    -- What is absent has its default.
    if ARGV[a + 4] == '' then
      redis.call('HDEL', KEYS[10 + i], 'cdc')
    end
    if ARGV[a + 5] == '1' then
      redis.call('HDEL', KEYS[10 + i], 'ver')
    end
    if ARGV[a + 6] == '' then
      redis.call('HDEL', KEYS[10 + i], 'opts')
    end
    if delays[i] and not started[i] then
      local due = tonumber(ARGV[a + 8])
      if due == 0 then
        due = now + tonumber(ARGV[a + 7])
      end
      if due < now then
        due = now
      end
      timed[#timed + 1] = due
      timed[#timed + 1] = ids[i]
      redis.call('HSET', KEYS[10 + i], 'delay', due - now)
      if ARGV[a + 9] == '0' then
        redis.call('HDEL', KEYS[10 + i], 'priority')
      else
        redis.call('HSET', KEYS[10 + i], 'priority', ARGV[a + 9])
      end
      if ARGV[a + 13] == '' then
        redis.call('HDEL', KEYS[10 + i], 'grp')
      else
        redis.call('HSET', KEYS[10 + i], 'grp', ARGV[a + 13])
      end
    end
    local term = tonumber(ARGV[a + 12])
    if term > 0 then
      redis.call('ZADD', KEYS[10], now + term, keyed[i])
    elseif terms[i] then
      redis.call('ZREM', KEYS[10], keyed[i])
    end
    if level == 'all' then
      redis.call('XADD', KEYS[8], 'MAXLEN', '~', history, '*', 'event', 'replaced', 'jobId', ids[i], 'name', names[i])
    end
  end
  if verdicts[i] == 'again' then
    verdicts[i] = 'replaced'
  end
end

if #timed > 0 then
  redis.call('ZADD', KEYS[2], unpack(timed))
  local soonest = redis.call('ZRANGE', KEYS[2], 0, 0)[1]
  local earliest = false
  for t = 2, #timed, 2 do
    earliest = earliest or timed[t] == soonest
  end
  if earliest then
    redis.call('ZADD', KEYS[7], 1, '~due')
  end
end
return { now, verdicts }
