--- deliver tells parents what came of their children.
---
--- A child's report counts once: it takes the child's edge out of those that the
--- parent waits for. The edge says by which policy an end that is no success
--- resolves the parent: "fail" lets it fail without running, "continue" lets it
--- run at once, "ignore" counts the child as done, "remove" drops it as if it had
--- never been. A parent that waits for nothing more is released: it is due at
--- once, or when its own delay is over.
---
--- A parent that waits no more has what is reported recorded. Of one whose hash
--- was lost nothing is left.
---
--- @memory drains
--- @key meta hash the queue's version
--- @key waiting-children zset parents by when their children are next looked for
--- @key delayed zset ids by due time
--- @key marker zset wakes idle workers
--- @key events stream what happened
--- @each job hash <id> the parent
--- @each dependencies set <id>:dependencies edges of children that it waits for
--- @each processed hash <id>:processed results of children, by their edges
--- @each failures hash <id>:failed ends of children that were no success, by their edges
--- @arg events word(none|final|all) which events are written
--- @arg history int how many events are kept, about
--- @item id id the parent's id
--- @item edge string the child's edge: index, policy, queue, id, codec and name, parted by bars
--- @item outcome word(completed|failed|removed|taken) how the child ended
--- @item value bytes its encoded result, or the reason
--- @field version meta
--- @field timestamp job
--- @field delay job
--- @field defa job
--- @field * processed
--- @field * failures
--- @reply now ms the server's clock
--- @reply results records one per item, in order
--- @record results verdict word(recorded|released|already|gone) what happened
--- @error EMQARGS the call is malformed; nothing was written
--- @error EMQVERSION the queue speaks another version of the protocol

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

local count = math.floor((#KEYS - 5) / 4)
local level = ARGV[1]
local history = tonumber(ARGV[2])
if count < 1 or #KEYS ~= 5 + 4 * count or #ARGV ~= 2 + 4 * count then
  return redis.error_reply('EMQARGS deliver takes 5 keys and 2 arguments, then 4 keys and 4 arguments for each report')
end
local levels = { none = true, final = true, all = true }
if not levels[level] or not whole(ARGV[2], 0, 9007199254740991) then
  return redis.error_reply('EMQARGS events must be none, final or all, and history a whole number from 0')
end
local policies = { fail = true, continue = true, ignore = true, remove = true }
local outcomes = { completed = 'completed', failed = 'failed', removed = 'was removed', taken = 'was not added' }
local policy = {}
local child = {}
for i = 1, count do
  local word, queue, id = string.match(ARGV[4 * i], '^%d+|(%l+)|([^|]+)|([^|]+)|[^|]*|.')
  if not word or not policies[word] or not outcomes[ARGV[4 * i + 1]] then
    return redis.error_reply('EMQARGS an edge is malformed, or an outcome unknown')
  end
  policy[i] = word
  child[i] = 'child ' .. id .. ' of queue ' .. queue .. ' ' .. outcomes[ARGV[4 * i + 1]] .. ': ' .. ARGV[4 * i + 2]
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local verdicts = {}
local last = {}
local lost = {}
local deferred = {}
local hasty = {}
for i = 1, count do
  local id = ARGV[4 * i - 1]
  -- The edge goes first: the engine allows a removal, and then the rest, when it
  -- has no memory left.
  local counts = redis.call('SREM', KEYS[3 + 4 * i], ARGV[4 * i]) == 1
  if not last[id] then
    lost[id] = redis.call('EXISTS', KEYS[2 + 4 * i]) == 0
  end
  last[id] = i
  verdicts[i] = counts and 'recorded' or 'already'
  if lost[id] then
    verdicts[i] = 'gone'
  elseif counts and ARGV[4 * i + 1] == 'completed' then
    redis.call('HSET', KEYS[4 + 4 * i], ARGV[4 * i], ARGV[4 * i + 2])
  elseif counts and policy[i] ~= 'remove' then
    redis.call('HSET', KEYS[5 + 4 * i], ARGV[4 * i], ARGV[4 * i + 1] .. ' ' .. ARGV[4 * i + 2])
    if policy[i] == 'fail' then
      deferred[id] = deferred[id] or child[i]
    elseif policy[i] == 'continue' then
      hasty[id] = true
    end
  end
end

-- Each parent once, at its last report.
local released = {}
local leaving = {}
for i = 1, count do
  local id = ARGV[4 * i - 1]
  if last[id] == i then
    if lost[id] then
      redis.call('DEL', KEYS[3 + 4 * i], KEYS[4 + 4 * i], KEYS[5 + 4 * i])
      if redis.call('ZREM', KEYS[2], id) == 1 and level ~= 'none' then
        redis.call('XADD', KEYS[5], 'MAXLEN', '~', history, '*', 'event', 'orphan', 'jobId', id)
      end
    elseif (deferred[id] or hasty[id] or redis.call('EXISTS', KEYS[3 + 4 * i]) == 0) and redis.call('ZSCORE', KEYS[2], id) then
      verdicts[i] = 'released'
      leaving[i] = true
      released[#released + 1] = id
    end
  end
end

if #released > 0 then
  redis.call('ZREM', KEYS[2], unpack(released))
  local delayed = {}
  for i = 1, count do
    if leaving[i] then
      local id = ARGV[4 * i - 1]
      local due = now
      -- A hash that something else has replaced is for promote to put away.
      local fields = redis.pcall('HMGET', KEYS[2 + 4 * i], 'timestamp', 'delay', 'defa')
      if not fields.err and deferred[id] and not fields[3] then
        redis.call('HSET', KEYS[2 + 4 * i], 'defa', deferred[id])
      elseif not fields.err and not deferred[id] and not fields[3] then
        local moment = (tonumber(fields[1] or 0) or 0) + (tonumber(fields[2] or 0) or 0)
        if moment > now and moment < 9007199254740991 then
          due = math.floor(moment)
        end
      end
      delayed[#delayed + 1] = due
      delayed[#delayed + 1] = id
    end
  end
  redis.call('ZADD', KEYS[3], unpack(delayed))
  local soonest = redis.call('ZRANGE', KEYS[3], 0, 0)[1]
  for d = 2, #delayed, 2 do
    if delayed[d] == soonest then
      redis.call('ZADD', KEYS[4], 1, '~due')
    end
  end
end
return { now, verdicts }
