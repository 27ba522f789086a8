--- trim deletes ended jobs that are kept no longer, with every key of theirs.
---
--- A job goes when its age is over the item's, or when the item's number of
--- newer jobs have ended since in the same way; one that is neither is kept, and
--- so is one whose end has not been reported to its parent yet.
---
--- Of a job that ended less than a minute ago a stub is left until then, so that
--- an add which is sent again is recognised.
---
--- @memory drains
--- @key meta hash the queue's version
--- @key completed zset ids by finishing time
--- @key failed zset ids by finishing time
--- @key outbox zset deliveries to other queues by when they are next tried
--- @key dedup hash unique keys to the id of the job that holds each
--- @key dedup-due zset unique keys by when their time is over
--- @each job hash <id> the job
--- @each lock string <id>:lock the token that holds it
--- @each logs list <id>:logs log lines
--- @each dependencies set <id>:dependencies children that are pending
--- @each processed hash <id>:processed results of children
--- @each failures hash <id>:failed errors of children
--- @arg set word(completed|failed) which of the two is trimmed
--- @item id id an ended job
--- @item age ms the age at which it goes; negative for never
--- @item newer int the number of newer ones at which it goes; negative for never
--- @field version meta
--- @field name job
--- @field lst job
--- @field deid job
--- @field rpb job
--- @field * dedup
--- @reply now ms the server's clock
--- @reply results records one per item, in order
--- @record results verdict word(trimmed|kept|gone) what happened
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

local count = math.floor((#KEYS - 6) / 6)
if count < 1 or #KEYS ~= 6 + 6 * count or #ARGV ~= 1 + 3 * count then
  return redis.error_reply('EMQARGS trim takes 6 keys and 1 argument, then 6 keys and 3 arguments for each job')
end
if ARGV[1] ~= 'completed' and ARGV[1] ~= 'failed' then
  return redis.error_reply('EMQARGS the set must be completed or failed')
end
local ids = {}
for i = 1, count do
  if not whole(ARGV[3 * i], -9007199254740991, 9007199254740991) or not whole(ARGV[3 * i + 1], -9007199254740991, 9007199254740991) then
    return redis.error_reply('EMQARGS age and newer must be whole numbers')
  end
  ids[i] = ARGV[3 * i - 1]
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local scores
local size
if ARGV[1] == 'completed' then
  scores = redis.call('ZMSCORE', KEYS[2], unpack(ids))
  size = redis.call('ZCARD', KEYS[2])
else
  scores = redis.call('ZMSCORE', KEYS[3], unpack(ids))
  size = redis.call('ZCARD', KEYS[3])
end
local unreported = redis.call('ZMSCORE', KEYS[4], unpack(ids))
local verdicts = {}
local leaving = {}
local keys = {}
local stubs = {}
local keyed = {}
local holders = {}
for i = 1, count do
  local age = tonumber(ARGV[3 * i])
  local newer = tonumber(ARGV[3 * i + 1])
  if not scores[i] then
    verdicts[i] = 'gone'
  else
    local old = age >= 0 and tonumber(scores[i]) + age <= now
    if unreported[i] then
      old = false
    elseif not old and newer >= 0 and size > newer then
      local rank
      if ARGV[1] == 'completed' then
        rank = redis.call('ZREVRANK', KEYS[2], ids[i])
      else
        rank = redis.call('ZREVRANK', KEYS[3], ids[i])
      end
      old = rank >= newer
    end
    verdicts[i] = old and 'trimmed' or 'kept'
    if old then
      leaving[#leaving + 1] = ids[i]
      keys[#keys + 1] = KEYS[6 * i + 1]
      keys[#keys + 1] = KEYS[6 * i + 2]
      keys[#keys + 1] = KEYS[6 * i + 3]
      keys[#keys + 1] = KEYS[6 * i + 4]
      keys[#keys + 1] = KEYS[6 * i + 5]
      keys[#keys + 1] = KEYS[6 * i + 6]
      local fields = redis.pcall('HMGET', KEYS[6 * i + 1], 'name', 'lst', 'deid', 'rpb')
      if not fields.err and fields[3] then
        keyed[#keyed + 1] = fields[3]
        holders[#holders + 1] = ids[i]
      end
      local left = math.floor(tonumber(scores[i])) + 60000 - now
      if left > 0 and not fields.err and fields[1] then
        stubs[i] = { fields[1], fields[2] or '- ' .. ARGV[1], math.min(left, 60000), fields[4] }
      end
    end
  end
end
if #leaving > 0 then
  if ARGV[1] == 'completed' then
    redis.call('ZREM', KEYS[2], unpack(leaving))
  else
    redis.call('ZREM', KEYS[3], unpack(leaving))
  end
  redis.call('DEL', unpack(keys))
  -- A key is released only by the job that holds it.
  if #keyed > 0 then
    local owners = redis.call('HMGET', KEYS[5], unpack(keyed))
    local free = {}
    for k = 1, #keyed do
      if owners[k] == holders[k] then
        free[#free + 1] = keyed[k]
      end
    end
    if #free > 0 then
      redis.call('HDEL', KEYS[5], unpack(free))
      redis.call('ZREM', KEYS[6], unpack(free))
    end
  end
  for i = 1, count do
    if stubs[i] then
      redis.call('HSET', KEYS[6 * i + 1], 'name', stubs[i][1], 'lst', stubs[i][2])
      if stubs[i][4] then
        redis.call('HSET', KEYS[6 * i + 1], 'rpb', stubs[i][4])
      end
      redis.call('PEXPIRE', KEYS[6 * i + 1], stubs[i][3])
    end
  end
end
return { now, verdicts }
