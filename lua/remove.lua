--- remove deletes jobs that are not active, wherever they are, with every key of
--- theirs.
---
--- A job in the list of those that wait is looked for along the list, which takes
--- time in proportion to its length: that is done for one job in a call, and for
--- more only while all of them together look at no more than 100,000 ids. Others
--- are answered "again".
---
--- A parent that waits for a removed job which had not ended is told, by way of the
--- outbox.
---
--- @memory drains
--- @key meta hash the queue's version
--- @key wait list ids without priority; the next to run is at the tail
--- @key prioritized zset ids with a priority
--- @key pc string counter that orders jobs of one priority
--- @key delayed zset ids by due time
--- @key active zset ids by the deadline of their lease
--- @key completed zset ids by finishing time
--- @key failed zset ids by finishing time
--- @key quarantine zset ids that cannot be run
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
--- @each lock string <id>:lock the token that holds it
--- @each logs list <id>:logs log lines
--- @each dependencies set <id>:dependencies children that are pending
--- @each processed hash <id>:processed results of children
--- @each failures hash <id>:failed errors of children
--- @arg events word(none|final|all) which events are written
--- @arg history int how many events are kept, about
--- @item id id the job's id
--- @field version meta
--- @field paused meta
--- @field grouped meta
--- @field lst job
--- @field parentKey job
--- @field parent job
--- @field * outbox-body
--- @field deid job
--- @field * dedup
--- @field grp job
--- @field gpl job
--- @reply now ms the server's clock
--- @reply results records one per item, in order
--- @record results verdict word(removed|active|again|missing) what happened
--- @error EMQARGS the call is malformed; nothing was written
--- @error EMQVERSION the queue speaks another version of the protocol

local meta = redis.call('HMGET', KEYS[1], 'version', 'paused', 'grouped')
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

local count = math.floor((#KEYS - 18) / 6)
if count < 1 or #KEYS ~= 18 + 6 * count or #ARGV ~= 2 + count then
  return redis.error_reply('EMQARGS remove takes 18 keys and 2 arguments, then 6 keys and 1 argument for each job')
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
local leases = redis.call('ZMSCORE', KEYS[6], unpack(ids))
local ranks = redis.call('ZMSCORE', KEYS[3], unpack(ids))
local dues = redis.call('ZMSCORE', KEYS[5], unpack(ids))
local completed = redis.call('ZMSCORE', KEYS[7], unpack(ids))
local failed = redis.call('ZMSCORE', KEYS[8], unpack(ids))
local unfit = redis.call('ZMSCORE', KEYS[9], unpack(ids))
local parents = redis.call('ZMSCORE', KEYS[12], unpack(ids))
local length = redis.call('LLEN', KEYS[2])
local looked = 0
local verdicts = {}
local seen = {}
local ended = {}
local leaving = {}
local keys = {}
local entries = {}
local bodies = {}
local keyed = {}
local holders = {}
for i = 1, count do
  local id = ids[i]
  local verdict = 'removed'
  if seen[id] then
    verdict = 'missing'
  elseif leases[i] then
    verdict = 'active'
  elseif completed[i] or failed[i] or unfit[i] then
    ended[i] = true
  elseif not ranks[i] and not dues[i] and not parents[i] then
    local fields = redis.pcall('HMGET', KEYS[6 * i + 13], 'lst', 'grp', 'gpl')
    local outcome = string.match(fields[1] or '', ' (%S+)$')
    local member = fields[2] and fields[3] and fields[2] .. '|' .. fields[3] .. '|' .. id
    if outcome == 'completed' or outcome == 'failed' then
      ended[i] = true -- the stub of a job of which nothing was kept
    elseif redis.call('EXISTS', KEYS[6 * i + 13]) == 0 then
      verdict = 'missing'
    elseif member and redis.call('ZREM', KEYS[18], member) == 1 then
      -- A group that has no work leaves the ring.
      if not redis.call('ZRANGEBYLEX', KEYS[18], '[' .. fields[2] .. '|', '(' .. fields[2] .. '}', 'LIMIT', 0, 1)[1] then
        redis.call('ZREM', KEYS[17], fields[2])
      end
    elseif looked > 0 and looked + length > 100000 then
      verdict = 'again'
    else
      looked = looked + length
      redis.call('LREM', KEYS[2], -1, id)
    end
  end
  verdicts[i] = verdict
  if verdict == 'removed' then
    seen[id] = true
    leaving[#leaving + 1] = id
    if not ended[i] then
      local fields = redis.pcall('HMGET', KEYS[6 * i + 13], 'parentKey', 'parent')
      if fields[1] and fields[2] and string.find(fields[1], '^emq:{[%w._-]+}:[%w._-]+$') then
        entries[#entries + 1] = now
        entries[#entries + 1] = id
        bodies[#bodies + 1] = id
        bodies[#bodies + 1] = string.format('%.0f', now) .. ' report ' .. fields[1] .. ' removed ' .. fields[2] .. '\nit was removed'
      end
    end
    local key = redis.pcall('HGET', KEYS[6 * i + 13], 'deid')
    if type(key) == 'string' then
      keyed[#keyed + 1] = key
      holders[#holders + 1] = id
    end
    keys[#keys + 1] = KEYS[6 * i + 13]
    keys[#keys + 1] = KEYS[6 * i + 14]
    keys[#keys + 1] = KEYS[6 * i + 15]
    keys[#keys + 1] = KEYS[6 * i + 16]
    keys[#keys + 1] = KEYS[6 * i + 17]
    keys[#keys + 1] = KEYS[6 * i + 18]
  end
end
-- The job that comes next of those that may be taken: one without a group, or of
-- the group whose turn it is.
local function first()
  local head = redis.call('LINDEX', KEYS[2], -1) or redis.call('ZRANGE', KEYS[3], 0, 0)[1]
  if head or not meta[3] then
    return head
  end
  local group = redis.call('ZRANGE', KEYS[17], 0, 0, 'WITHSCORES')
  if group[1] and tonumber(group[2]) < 4503599627370496 then
    local member = redis.call('ZRANGEBYLEX', KEYS[18], '[' .. group[1] .. '|', '(' .. group[1] .. '}', 'LIMIT', 0, 1)[1]
    head = member and string.match(member, '[^|]*$')
  end
  return head
end
if #leaving > 0 then
  redis.call('DEL', unpack(keys))
  -- A key is released only by the job that holds it.
  if #keyed > 0 then
    local owners = redis.call('HMGET', KEYS[15], unpack(keyed))
    local free = {}
    for k = 1, #keyed do
      if owners[k] == holders[k] then
        free[#free + 1] = keyed[k]
      end
    end
    if #free > 0 then
      redis.call('HDEL', KEYS[15], unpack(free))
      redis.call('ZREM', KEYS[16], unpack(free))
    end
  end
  redis.call('ZREM', KEYS[3], unpack(leaving))
  redis.call('ZREM', KEYS[5], unpack(leaving))
  redis.call('ZREM', KEYS[7], unpack(leaving))
  redis.call('ZREM', KEYS[8], unpack(leaving))
  redis.call('ZREM', KEYS[9], unpack(leaving))
  redis.call('ZREM', KEYS[12], unpack(leaving))
  if #entries > 0 then
    redis.call('ZADD', KEYS[13], unpack(entries))
    redis.call('HSET', KEYS[14], unpack(bodies))
  end
  -- The marker tells of work if and only if there is some.
  local told = redis.call('ZREM', KEYS[10], unpack(leaving))
  local head = first()
  if not head then
    redis.call('ZREMRANGEBYSCORE', KEYS[10], 0, 0)
  elseif told > 0 and not paused then
    redis.call('ZADD', KEYS[10], 0, head)
  end
  if redis.call('ZCARD', KEYS[3]) == 0 then
    redis.call('DEL', KEYS[4])
  end
  for i = 1, count do
    if verdicts[i] == 'removed' and (level == 'all' or (level == 'final' and not ended[i])) then
      redis.call('XADD', KEYS[11], 'MAXLEN', '~', history, '*', 'event', 'removed', 'jobId', ids[i])
    end
  end
end
return { now, verdicts }
