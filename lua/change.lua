--- change gives jobs that no worker holds another priority, or another time.
---
--- A delayed job gets the other time at once, and the priority for when it is due.
--- One in prioritized goes where it belongs: behind those of the new priority that
--- are there, or into delayed. One in the list of those that wait is not looked for,
--- which would take time in proportion to the list: it is told what is to become of
--- it, and the pick that comes to it sees to that instead of starting it.
---
--- One that waits in a group goes behind those of its group that have the new priority,
--- or into delayed.
---
--- A time that is not ahead makes a delayed job due now, and leaves one that waits
--- as it is. A parent that waits for its children has no time, and a job that is to
--- fail without being run is left to that.
---
--- The job remembers by which call it was changed last, so a call that is sent
--- again changes nothing and is answered as the first time.
---
--- @memory drains
--- @key meta hash the queue's version, and whether it is paused
--- @key wait list ids without priority; the next to run is at the tail
--- @key prioritized zset ids with a priority
--- @key pc string counter that orders jobs of one priority
--- @key delayed zset ids by due time
--- @key active zset ids by the deadline of their lease
--- @key completed zset ids by finishing time
--- @key failed zset ids by finishing time
--- @key quarantine zset ids whose hash cannot be used
--- @key waiting-children zset parents by when their children are next looked for
--- @key marker zset wakes idle workers
--- @key events stream what happened
--- @key groups zset groups with work by turn; those at their limit after all others
--- @key grouped zset jobs that wait in their groups: group, place and id
--- @each job hash <id> the job
--- @arg events word(none|final|all) which events are written
--- @arg history int how many events are kept, about
--- @arg by string an id of the call, another for each
--- @arg priority int 0 runs first, then 1 to 2097151; -1 leaves it
--- @arg delay ms how long to wait, from the server's now; -1 leaves the time, if due does
--- @arg due ms when to run, by the server's clock; 0 to go by delay
--- @item id id the job's id
--- @item name string the wire name that the job must have; empty for any
--- @field version meta
--- @field paused meta
--- @field grouped meta
--- @field name job
--- @field defa job
--- @field lst job
--- @field priority job
--- @field delay job
--- @field chp job
--- @field chd job
--- @field chc job
--- @field grp job
--- @field gpl job
--- @stores priority job priority
--- @stores chp job priority
--- @stores chd job due
--- @stores chc job by
--- @reply now ms the server's clock
--- @reply results records one per item, in order
--- @record results verdict word(changed|active|parent|doomed|ended|missing|mismatch|quarantined) what happened
--- @record results name string the wire name of the job
--- @record results reason string why a doomed job is to fail
--- @error EMQARGS the call is malformed; nothing was written
--- @error EMQVERSION the queue speaks another version of the protocol

local meta = redis.call('HMGET', KEYS[1], 'version', 'paused', 'grouped')
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

local count = #KEYS - 14
if count < 1 or #ARGV ~= 6 + 2 * count then
  return redis.error_reply('EMQARGS change takes 14 keys and 6 arguments, then 1 key and 2 arguments for each job')
end
local level = ARGV[1]
local history = tonumber(ARGV[2])
local by = ARGV[3]
local levels = { none = true, final = true, all = true }
if not levels[level] or not whole(ARGV[2], 0, 9007199254740991) then
  return redis.error_reply('EMQARGS events must be none, final or all, and history a whole number from 0')
end
if by == '' or not whole(ARGV[4], -1, 2097151) then
  return redis.error_reply('EMQARGS by must not be empty, and priority a whole number from -1 to 2097151')
end
if not whole(ARGV[5], -1, 9007199254740991) or not whole(ARGV[6], 0, 9007199254740991) then
  return redis.error_reply('EMQARGS delay must be a whole number from -1 and due one from 0')
end
local ids = {}
for i = 1, count do
  ids[i] = ARGV[5 + 2 * i]
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local wanted = tonumber(ARGV[4])
local timed = ARGV[5] ~= '-1' or ARGV[6] ~= '0'
local due = tonumber(ARGV[6])
if due == 0 then
  due = now + tonumber(ARGV[5])
end
if due < now then
  due = now
end

local ranks = redis.call('ZMSCORE', KEYS[3], unpack(ids))
local dues = redis.call('ZMSCORE', KEYS[5], unpack(ids))
local leases = redis.call('ZMSCORE', KEYS[6], unpack(ids))
local completed = redis.call('ZMSCORE', KEYS[7], unpack(ids))
local failed = redis.call('ZMSCORE', KEYS[8], unpack(ids))
local broken = redis.call('ZMSCORE', KEYS[9], unpack(ids))
local parents = redis.call('ZMSCORE', KEYS[10], unpack(ids))
local results = {}
local fresh = {}
local had = {}
local names = {}
local groups = {}
local members = {}
local seen = {}
for i = 1, count do
  local verdict
  local name = ''
  local reason = ''
  local fields = redis.pcall('HMGET', KEYS[14 + i], 'name', 'defa', 'lst', 'priority', 'chc', 'grp', 'gpl')
  if fields.err and not string.find(fields.err, 'WRONGTYPE', 1, true) then
    return fields
  end
  if fields.err or broken[i] then
    verdict = 'quarantined'
  elseif not fields[1] then
    verdict = 'missing'
  else
    name = fields[1]
    -- An ended job of which nothing is kept is its stub, which stands nowhere.
    local outcome = not dues[i] and not leases[i] and string.match(fields[3] or '', ' (%S+)$')
    if ARGV[6 + 2 * i] ~= '' and ARGV[6 + 2 * i] ~= name then
      verdict = 'mismatch'
    elseif fields[5] == by then
      verdict = 'changed'
    elseif completed[i] or failed[i] or outcome == 'completed' or outcome == 'failed' then
      verdict = 'ended'
    elseif leases[i] then
      verdict = 'active'
    elseif fields[2] then
      verdict = 'doomed'
      reason = fields[2]
    elseif parents[i] and timed then
      verdict = 'parent'
    else
      verdict = 'changed'
      fresh[i] = not seen[ids[i]]
      seen[ids[i]] = true
      names[i] = name
      had[i] = tonumber(fields[4] or 0) or 0
      -- Where a job of a group waits, if it does.
      if fresh[i] and fields[6] and fields[7] and not ranks[i] and not dues[i] and not parents[i] then
        local member = fields[6] .. '|' .. fields[7] .. '|' .. ids[i]
        if redis.call('ZSCORE', KEYS[14], member) then
          groups[i] = fields[6]
          members[i] = member
        end
      end
    end
  end
  results[3 * i - 2] = verdict
  results[3 * i - 1] = name
  results[3 * i] = reason
end

local waiting = {}
local ranking = {}
local ranked = {}
local waited = {}
local delayed = {}
local leaving = {}
local parting = {}
local gone = {}
local left = {}
local moving = {}
local joining = {}
local priorities = {}
for i = 1, count do
  if fresh[i] then
    -- Taken away first, because the engine allows a removal, and then the rest
    -- of the script, when it has no memory left.
    redis.call('HDEL', KEYS[14 + i], 'chc')
    redis.call('HSET', KEYS[14 + i], 'chc', by)
    local listed = not ranks[i] and not dues[i] and not parents[i] and not members[i]
    local priority = had[i]
    if wanted >= 0 then
      priority = wanted
    end
    if listed then
      if wanted == had[i] then
        redis.call('HDEL', KEYS[14 + i], 'chp')
      elseif wanted >= 0 then
        redis.call('HSET', KEYS[14 + i], 'chp', wanted)
      end
      if timed and due > now then
        redis.call('HSET', KEYS[14 + i], 'chd', due, 'delay', due - now)
      elseif timed then
        redis.call('HDEL', KEYS[14 + i], 'chd', 'delay')
      end
    else
      if priority == 0 then
        redis.call('HDEL', KEYS[14 + i], 'priority')
      elseif priority ~= had[i] then
        redis.call('HSET', KEYS[14 + i], 'priority', priority)
      end
      if timed and (dues[i] or due > now) then
        redis.call('HSET', KEYS[14 + i], 'delay', due - now)
        waited[#waited + 1] = ids[i]
        delayed[#delayed + 1] = due
        delayed[#delayed + 1] = ids[i]
        if ranks[i] then
          leaving[#leaving + 1] = ids[i]
          gone[#gone + 1] = ids[i]
        elseif members[i] then
          parting[#parting + 1] = members[i]
          gone[#gone + 1] = ids[i]
          left[#left + 1] = groups[i]
        end
      elseif members[i] and priority ~= had[i] then
        moving[#moving + 1] = members[i]
        joining[#joining + 1] = i
        priorities[i] = priority
      elseif ranks[i] and priority == 0 then
        waiting[#waiting + 1] = ids[i]
      elseif ranks[i] and priority ~= had[i] then
        ranking[#ranking + 1] = ids[i]
        ranked[#ranked + 1] = priority
        ranked[#ranked + 1] = ids[i]
      end
    end
    if level ~= 'none' then
      local entry = { 'event', 'changed', 'jobId', ids[i], 'name', names[i] }
      if wanted >= 0 then
        entry[#entry + 1] = 'priority'
        entry[#entry + 1] = wanted
      end
      if timed then
        entry[#entry + 1] = 'delay'
        entry[#entry + 1] = due - now
      end
      redis.call('XADD', KEYS[12], 'MAXLEN', '~', history, '*', unpack(entry))
    end
  end
end

if #waiting > 0 then
  redis.call('ZREM', KEYS[3], unpack(waiting))
  redis.call('LPUSH', KEYS[2], unpack(waiting))
end
if #leaving > 0 then
  redis.call('ZREM', KEYS[3], unpack(leaving))
end
if #ranked > 0 then
  redis.call('ZREM', KEYS[3], unpack(ranking))
  local places = math.floor(#ranked / 2)
  local counter = redis.call('INCRBY', KEYS[4], places) - places
  for r = 1, #ranked, 2 do
    counter = counter + 1
    ranked[r] = ranked[r] * 4294967296 + counter % 4294967296
  end
  redis.call('ZADD', KEYS[3], unpack(ranked))
end
if #moving > 0 then
  redis.call('ZREM', KEYS[14], unpack(moving))
  local turn = redis.call('HINCRBY', KEYS[1], 'grouped', #joining) - #joining
  local rows = {}
  for i = 1, count do
    if priorities[i] then
      turn = turn + 1
      local place = string.format('%07.0f|%016.0f', priorities[i], turn)
      redis.call('HSET', KEYS[14 + i], 'gpl', place)
      rows[#rows + 1] = 0
      rows[#rows + 1] = groups[i] .. '|' .. place .. '|' .. ids[i]
    end
  end
  redis.call('ZADD', KEYS[14], unpack(rows))
end
if #parting > 0 then
  redis.call('ZREM', KEYS[14], unpack(parting))
  -- Groups that have no work leave the ring.
  for l = 1, #left do
    if not redis.call('ZRANGEBYLEX', KEYS[14], '[' .. left[l] .. '|', '(' .. left[l] .. '}', 'LIMIT', 0, 1)[1] then
      redis.call('ZREM', KEYS[13], left[l])
    end
  end
end
-- The job that comes next of those that may be taken: one without a group, or of
-- the group whose turn it is.
local function first()
  local head = redis.call('LINDEX', KEYS[2], -1) or redis.call('ZRANGE', KEYS[3], 0, 0)[1]
  if head or not meta[3] then
    return head
  end
  local group = redis.call('ZRANGE', KEYS[13], 0, 0, 'WITHSCORES')
  if group[1] and tonumber(group[2]) < 4503599627370496 then
    local member = redis.call('ZRANGEBYLEX', KEYS[14], '[' .. group[1] .. '|', '(' .. group[1] .. '}', 'LIMIT', 0, 1)[1]
    head = member and string.match(member, '[^|]*$')
  end
  return head
end
if #gone > 0 then
  -- The marker tells of work if and only if there is some.
  local told = redis.call('ZREM', KEYS[11], unpack(gone))
  local head = first()
  if not head then
    redis.call('ZREMRANGEBYSCORE', KEYS[11], 0, 0)
  elseif told > 0 and meta[2] ~= '1' then
    redis.call('ZADD', KEYS[11], 0, head)
  end
end
if #delayed > 0 then
  redis.call('ZREM', KEYS[5], unpack(waited))
  redis.call('ZADD', KEYS[5], unpack(delayed))
  local soonest = redis.call('ZRANGE', KEYS[5], 0, 0)[1]
  local earliest = due == now
  for d = 2, #delayed, 2 do
    earliest = earliest or delayed[d] == soonest
  end
  if earliest then
    redis.call('ZADD', KEYS[11], 1, '~due')
  end
end
return { now, results }
