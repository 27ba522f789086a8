--- tick adds the job of a scheduler's slot and moves the scheduler on to its next.
---
--- The caller names the slot at which it believes the scheduler to stand, and the
--- revision that it has read. If the scheduler stands elsewhere nothing happens:
--- however many ask, one adds the job, in the step in which the slot moves on. A
--- call that is sent again, or that comes after another's, is answered "already".
---
--- The job goes into delayed, due at its slot or the delay after it, and takes
--- from there the way of every job that becomes due. With maxmemory reached
--- nothing is written and the answer is EMQFULL.
---
--- @memory refused
--- @key meta hash the queue's version, and the earliest slot
--- @key delayed zset ids by due time
--- @key marker zset wakes idle workers
--- @key events stream what happened
--- @key schedulers zset ids of schedulers by their next slot
--- @each job hash <id> the job
--- @each record hash scheduler:<scheduler> the scheduler
--- @arg events word(none|final|all) which events are written
--- @arg history int how many events are kept, about
--- @item id id the job's id, made of the scheduler's and the slot
--- @item scheduler scheduler the scheduler's id
--- @item revision string the revision of the scheduler that was read
--- @item from ms the slot at which it stands
--- @item slot ms the slot of the job: from, or a later one that has come since
--- @item next ms the slot after now; 9007199254740991 for none
--- @item fire flag whether the job is added; if not, the slot only moves on
--- @item name string the job's wire name
--- @item data bytes the encoded payload
--- @item codec string the payload's codec; empty for JSON
--- @item version int the payload's version
--- @item opts bytes the job's settings, JSON; empty for none
--- @item delay ms how long the job waits after its slot
--- @item priority int 0 runs first, then 1 to 2097151
--- @item group string its group, as add takes it; empty for none
--- @field version meta
--- @field slot meta
--- @field name job
--- @field data job
--- @field cdc job
--- @field ver job
--- @field opts job
--- @field timestamp job
--- @field delay job
--- @field priority job
--- @field rjk job
--- @field rev record
--- @field cnt record
--- @field lim record
--- @field lsl record
--- @field frm record
--- @field grp job
--- @reply now ms the server's clock
--- @reply due ms when the next delayed job is due; 0 if there is none
--- @reply slot ms the earliest slot of all schedulers; 0 if there is none
--- @reply results records one per item, in order
--- @record results verdict word(added|skipped|exists|already|moved|early|gone) what happened
--- @record results next ms the scheduler's next slot; 9007199254740991 for none, 0 if it is gone
--- @error EMQARGS the call is malformed; nothing was written
--- @error EMQVERSION the queue speaks another version of the protocol
--- @error EMQFULL the server has no memory left; nothing was written

local meta = redis.call('HMGET', KEYS[1], 'version', 'slot')
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

local count = math.floor((#KEYS - 5) / 2)
if count < 1 or #KEYS ~= 5 + 2 * count or #ARGV ~= 2 + 15 * count then
  return redis.error_reply('EMQARGS tick takes 5 keys and 2 arguments, then 2 keys and 15 arguments for each scheduler')
end
local level = ARGV[1]
local history = tonumber(ARGV[2])
local levels = { none = true, final = true, all = true }
if not levels[level] or not whole(ARGV[2], 0, 9007199254740991) then
  return redis.error_reply('EMQARGS events must be none, final or all, and history a whole number from 0')
end
local ids = {}
for i = 1, count do
  local a = 2 + 15 * (i - 1)
  if not whole(ARGV[a + 4], 1, 9007199254740990) or not whole(ARGV[a + 5], 1, 9007199254740990) or not whole(ARGV[a + 6], 1, 9007199254740991) then
    return redis.error_reply('EMQARGS from, slot and next must be whole numbers from 1')
  end
  if tonumber(ARGV[a + 5]) < tonumber(ARGV[a + 4]) or tonumber(ARGV[a + 6]) <= tonumber(ARGV[a + 5]) then
    return redis.error_reply('EMQARGS slot must not be before from, nor next before or at slot')
  end
  if not whole(ARGV[a + 7], 0, 1) or not whole(ARGV[a + 11], 1, 9007199254740991) or not whole(ARGV[a + 13], 0, 9007199254740991) or not whole(ARGV[a + 14], 0, 2097151) then
    return redis.error_reply('EMQARGS fire must be 0 or 1, version a whole number from 1, delay from 0, and priority from 0 to 2097151')
  end
  if #ARGV[a + 15] > 200 or string.find(ARGV[a + 15], '[^%w._%%~-]') then
    return redis.error_reply('EMQARGS group must be at most 200 letters, digits and ._%~-')
  end
  ids[i] = ARGV[a + 2]
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

-- What comes of each; nothing is written yet.
local slots = redis.call('ZMSCORE', KEYS[5], unpack(ids))
local verdicts = {}
local nexts = {}
local counts = {}
local seen = {}
local moving = {}
for i = 1, count do
  local a = 2 + 15 * (i - 1)
  local present = slots[i] and math.floor(tonumber(slots[i]))
  local fields = redis.pcall('HMGET', KEYS[5 + 2 * i], 'rev', 'frm', 'cnt', 'lim')
  if fields.err and not string.find(fields.err, 'WRONGTYPE', 1, true) then
    return fields
  end
  nexts[i] = present or 0
  if not present or not fields[1] then
    verdicts[i] = 'gone'
    nexts[i] = 0
  elseif seen[ids[i]] then
    verdicts[i] = 'already'
    nexts[i] = nexts[seen[ids[i]]]
  elseif present ~= tonumber(ARGV[a + 4]) and fields[2] == ARGV[a + 4] then
    verdicts[i] = 'already'
  elseif present ~= tonumber(ARGV[a + 4]) or fields[1] ~= ARGV[a + 3] then
    verdicts[i] = 'moved'
  elseif tonumber(ARGV[a + 5]) > now then
    verdicts[i] = 'early'
  else
    seen[ids[i]] = i
    nexts[i] = tonumber(ARGV[a + 6])
    if ARGV[a + 7] == '0' then
      verdicts[i] = 'skipped'
    elseif redis.call('EXISTS', KEYS[4 + 2 * i]) == 1 then
      verdicts[i] = 'exists'
    else
      verdicts[i] = 'added'
      counts[i] = (tonumber(fields[3] or 0) or 0) + 1
      local limit = tonumber(fields[4] or 0) or 0
      if limit > 0 and counts[i] >= limit then
        nexts[i] = 9007199254740991
      end
    end
    moving[#moving + 1] = nexts[i]
    moving[#moving + 1] = ids[i]
  end
end

local slot = math.floor(tonumber(meta[2] or 0) or 0)
if #moving > 0 then
  -- The engine refuses the first write if it has no memory left, and no later
  -- one; so that is where its error is told from others and passed on.
  local written = redis.pcall('ZADD', KEYS[5], unpack(moving))
  if type(written) == 'table' and written.err then
    if string.find(written.err, 'OOM', 1, true) then
      return redis.error_reply('EMQFULL ' .. written.err)
    end
    return written
  end
  slot = math.floor(tonumber(redis.call('ZRANGE', KEYS[5], 0, 0, 'WITHSCORES')[2]))
  if slot < 9007199254740991 then
    redis.call('HSET', KEYS[1], 'slot', slot)
  else
    slot = 0
    redis.call('HDEL', KEYS[1], 'slot')
  end
end
local delayed = {}
for i = 1, count do
  local a = 2 + 15 * (i - 1)
  if verdicts[i] == 'skipped' or verdicts[i] == 'exists' then
    redis.call('HSET', KEYS[5 + 2 * i], 'frm', ARGV[a + 4])
  elseif verdicts[i] == 'added' then
    redis.call('HSET', KEYS[5 + 2 * i], 'frm', ARGV[a + 4], 'lsl', ARGV[a + 5], 'cnt', counts[i])
    redis.call('HSET', KEYS[4 + 2 * i], 'name', ARGV[a + 8], 'data', ARGV[a + 9], 'timestamp', now, 'rjk', ids[i])
    if ARGV[a + 10] ~= '' then
      redis.call('HSET', KEYS[4 + 2 * i], 'cdc', ARGV[a + 10])
    end
    if ARGV[a + 11] ~= '1' then
      redis.call('HSET', KEYS[4 + 2 * i], 'ver', ARGV[a + 11])
    end
    if ARGV[a + 12] ~= '' then
      redis.call('HSET', KEYS[4 + 2 * i], 'opts', ARGV[a + 12])
    end
    if ARGV[a + 14] ~= '0' then
      redis.call('HSET', KEYS[4 + 2 * i], 'priority', ARGV[a + 14])
    end
    if ARGV[a + 15] ~= '' then
      redis.call('HSET', KEYS[4 + 2 * i], 'grp', ARGV[a + 15])
    end
    local due = tonumber(ARGV[a + 5]) + tonumber(ARGV[a + 13])
    if due > now then
      redis.call('HSET', KEYS[4 + 2 * i], 'delay', ARGV[a + 13])
    end
    delayed[#delayed + 1] = due
    delayed[#delayed + 1] = ARGV[a + 1]
    if level == 'all' then
      redis.call('XADD', KEYS[4], 'MAXLEN', '~', history, '*', 'event', 'added', 'jobId', ARGV[a + 1])
    end
  end
end
if #delayed > 0 then
  redis.call('ZADD', KEYS[2], unpack(delayed))
end

local soonest = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
for d = 2, #delayed, 2 do
  if delayed[d] == soonest[1] then
    redis.call('ZADD', KEYS[3], 1, '~due')
  end
end
local results = {}
for i = 1, count do
  results[#results + 1] = verdicts[i]
  results[#results + 1] = nexts[i]
end
return { now, math.floor(tonumber(soonest[2] or 0)), slot, results }
