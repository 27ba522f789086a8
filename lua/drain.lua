--- drain deletes jobs that are not to run any more: the next ones of those that
--- wait, are prioritized, wait in groups or are delayed, with every key of theirs.
---
--- It takes some from the front, of those in groups some of whatever groups, deletes
--- those that are declared and puts the others back; so it costs the same however many there are.
--- An id among them that cannot be a job's goes into quarantine.
---
--- @memory drains
--- @key meta hash the queue's version
--- @key wait list ids without priority; the next to run is at the tail
--- @key prioritized zset ids with a priority
--- @key pc string counter that orders jobs of one priority
--- @key delayed zset ids by due time
--- @key quarantine zset ids that cannot be run
--- @key marker zset wakes idle workers
--- @key events stream what happened
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
--- @arg set word(wait|prioritized|delayed|grouped) what is drained
--- @arg take int how many to take from the front, at most 500
--- @item id id a job that is believed to come next
--- @field version meta
--- @field paused meta
--- @field grouped meta
--- @field deid job
--- @field * dedup
--- @reply now ms the server's clock
--- @reply left int how many are left there
--- @reply results records one per item, in order
--- @record results verdict word(removed|gone) what happened
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

local count = math.floor((#KEYS - 12) / 6)
if #KEYS ~= 12 + 6 * count or #ARGV ~= 4 + count then
  return redis.error_reply('EMQARGS drain takes 12 keys and 4 arguments, then 6 keys and 1 argument for each job')
end
local level = ARGV[1]
local history = tonumber(ARGV[2])
local levels = { none = true, final = true, all = true }
if not levels[level] or not whole(ARGV[2], 0, 9007199254740991) then
  return redis.error_reply('EMQARGS events must be none, final or all, and history a whole number from 0')
end
if ARGV[3] ~= 'wait' and ARGV[3] ~= 'prioritized' and ARGV[3] ~= 'delayed' and ARGV[3] ~= 'grouped' then
  return redis.error_reply('EMQARGS the set must be wait, prioritized, delayed or grouped')
end
if not whole(ARGV[4], 1, 500) then
  return redis.error_reply('EMQARGS take must be a whole number from 1 to 500')
end
local take = tonumber(ARGV[4])
local grouped = ARGV[3] == 'grouped'
local set = ARGV[3] == 'prioritized' and KEYS[3] or grouped and KEYS[12] or KEYS[5]
local ids = {}
for i = 1, count do
  ids[i] = ARGV[4 + i]
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local members = {}
local popped
local scores = {}
if ARGV[3] == 'wait' then
  popped = redis.call('RPOP', KEYS[2], take) or {}
else
  popped = {}
  local scored = redis.call('ZPOPMIN', set, take)
  for f = 1, #scored, 2 do
    members[#members + 1] = scored[f]
    popped[#popped + 1] = grouped and string.match(scored[f], '[^|]*$') or scored[f]
    scores[#popped] = scored[f + 1]
  end
end
local names = ' meta wait prioritized pc delayed active reserved completed failed waiting-children quarantine dedup'
  .. ' dedup-due groups grouped group-active outbox outbox-body schedulers limiter marker events metrics scheduler'
  .. ' control version queues nodes paused stalled stalled-check id repeat de '
local declared = {}
for i = 1, count do
  declared[ids[i]] = true
end
local there = {}
local out = {}
local back = {}
local placed = {}
local unfit = {}
for p = #popped, 1, -1 do
  local id = popped[p]
  if declared[id] then
    there[id] = true
    if grouped then
      out[#out + 1] = members[p]
    end
  elseif #id > 255 or not string.find(id, '^_?%w[%w._-]*$') or string.find(names, ' ' .. id .. ' ', 1, true) then
    unfit[#unfit + 1] = id
    if grouped then
      out[#out + 1] = members[p]
    end
  elseif ARGV[3] == 'wait' then
    back[#back + 1] = id
  else
    placed[#placed + 1] = scores[p]
    placed[#placed + 1] = members[p]
  end
end
if #back > 0 then
  redis.call('RPUSH', KEYS[2], unpack(back))
end
if #placed > 0 then
  redis.call('ZADD', set, unpack(placed))
end
-- Groups that have no work leave the ring.
local looked = {}
for o = 1, #out do
  local group = string.match(out[o], '^([^|]*)|') or ''
  if not looked[group] and not redis.call('ZRANGEBYLEX', KEYS[12], '[' .. group .. '|', '(' .. group .. '}', 'LIMIT', 0, 1)[1] then
    redis.call('ZREM', KEYS[11], group)
  end
  looked[group] = true
end

-- The job that comes next of those that may be taken: one without a group, or of
-- the group whose turn it is.
local function first()
  local head = redis.call('LINDEX', KEYS[2], -1) or redis.call('ZRANGE', KEYS[3], 0, 0)[1]
  if head or not meta[3] then
    return head
  end
  local group = redis.call('ZRANGE', KEYS[11], 0, 0, 'WITHSCORES')
  if group[1] and tonumber(group[2]) < 4503599627370496 then
    local member = redis.call('ZRANGEBYLEX', KEYS[12], '[' .. group[1] .. '|', '(' .. group[1] .. '}', 'LIMIT', 0, 1)[1]
    head = member and string.match(member, '[^|]*$')
  end
  return head
end

local verdicts = {}
local leaving = {}
local keys = {}
local keyed = {}
local holders = {}
for i = 1, count do
  verdicts[i] = 'gone'
  if there[ids[i]] then
    there[ids[i]] = nil
    verdicts[i] = 'removed'
    leaving[#leaving + 1] = ids[i]
    local key = redis.pcall('HGET', KEYS[6 * i + 7], 'deid')
    if type(key) == 'string' then
      keyed[#keyed + 1] = key
      holders[#holders + 1] = ids[i]
    end
    keys[#keys + 1] = KEYS[6 * i + 7]
    keys[#keys + 1] = KEYS[6 * i + 8]
    keys[#keys + 1] = KEYS[6 * i + 9]
    keys[#keys + 1] = KEYS[6 * i + 10]
    keys[#keys + 1] = KEYS[6 * i + 11]
    keys[#keys + 1] = KEYS[6 * i + 12]
  end
end
for u = #unfit, 1, -1 do
  -- In the marker ~due is no id.
  if unfit[u] ~= '~due' then
    leaving[#leaving + 1] = unfit[u]
  end
end
if #leaving + #unfit > 0 then
  -- The marker tells of work if and only if there is some.
  local told = #leaving > 0 and redis.call('ZREM', KEYS[7], unpack(leaving)) or 0
  if #keys > 0 then
    redis.call('DEL', unpack(keys))
  end
  -- A key is released only by the job that holds it.
  if #keyed > 0 then
    local owners = redis.call('HMGET', KEYS[9], unpack(keyed))
    local free = {}
    for k = 1, #keyed do
      if owners[k] == holders[k] then
        free[#free + 1] = keyed[k]
      end
    end
    if #free > 0 then
      redis.call('HDEL', KEYS[9], unpack(free))
      redis.call('ZREM', KEYS[10], unpack(free))
    end
  end
  local head = first()
  if not head then
    redis.call('ZREMRANGEBYSCORE', KEYS[7], 0, 0)
  elseif told > 0 and not paused then
    redis.call('ZADD', KEYS[7], 0, head)
  end
  if redis.call('ZCARD', KEYS[3]) == 0 then
    redis.call('DEL', KEYS[4])
  end
  for u = #unfit, 1, -1 do
    redis.call('ZADD', KEYS[6], now, unfit[u])
    if level ~= 'none' then
      redis.call('XADD', KEYS[8], 'MAXLEN', '~', history, '*', 'event', 'quarantined', 'jobId', unfit[u])
    end
  end
  for i = 1, count do
    if verdicts[i] == 'removed' and level ~= 'none' then
      redis.call('XADD', KEYS[8], 'MAXLEN', '~', history, '*', 'event', 'removed', 'jobId', ids[i])
    end
  end
end
local left
if ARGV[3] == 'wait' then
  left = redis.call('LLEN', KEYS[2])
else
  left = redis.call('ZCARD', set)
end
return { now, left, verdicts }
