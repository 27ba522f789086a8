--- cancel marks jobs as cancelled, wherever they are.
---
--- A job that waits is settled as failed by the worker that takes it, without
--- being run. A delayed one, and a parent that waits for its children, becomes due
--- at once, for the same end. Of one that a
--- worker holds the caller is to tell on the queue's control channel; extend tells
--- its worker at the latest. If its worker brings it back all the same it comes to
--- the front at once, and is settled as failed by whoever takes it.
---
--- Cancelling a job again changes nothing, and the first reason stands.
---
--- @memory drains
--- @key meta hash the queue's version, and whether a job was cancelled as it ran
--- @key delayed zset ids by due time
--- @key active zset ids by the deadline of their lease
--- @key completed zset ids by finishing time
--- @key failed zset ids by finishing time
--- @key quarantine zset ids whose hash cannot be used
--- @key marker zset wakes idle workers
--- @key events stream what happened
--- @key waiting-children zset parents by when their children are next looked for
--- @each job hash <id> the job
--- @arg events word(none|final|all) which events are written
--- @arg history int how many events are kept, about
--- @arg mark string "cancelled", or "cancelled: " and why
--- @item id id the job's id
--- @item name string the wire name that the job must have; empty for any
--- @field version meta
--- @field cancels meta
--- @field name job
--- @field defa job
--- @field lst job
--- @reply now ms the server's clock
--- @reply results records one per item, in order
--- @record results verdict word(marked|active|ended|missing|mismatch|quarantined) what happened; active says that its worker is to be told
--- @record results name string the wire name of the job
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

local count = #KEYS - 9
if count < 1 or #ARGV ~= 3 + 2 * count then
  return redis.error_reply('EMQARGS cancel takes 9 keys and 3 arguments, then 1 key and 2 arguments for each job')
end
local level = ARGV[1]
local history = tonumber(ARGV[2])
local mark = ARGV[3]
local levels = { none = true, final = true, all = true }
if not levels[level] or not whole(ARGV[2], 0, 9007199254740991) then
  return redis.error_reply('EMQARGS events must be none, final or all, and history a whole number from 0')
end
if mark ~= 'cancelled' and string.sub(mark, 1, 11) ~= 'cancelled: ' then
  return redis.error_reply('EMQARGS the mark must be cancelled, or begin with it and a colon')
end
local ids = {}
for i = 1, count do
  ids[i] = ARGV[2 + 2 * i]
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local due = redis.call('ZMSCORE', KEYS[2], unpack(ids))
local leases = redis.call('ZMSCORE', KEYS[3], unpack(ids))
local completed = redis.call('ZMSCORE', KEYS[4], unpack(ids))
local failed = redis.call('ZMSCORE', KEYS[5], unpack(ids))
local broken = redis.call('ZMSCORE', KEYS[6], unpack(ids))
local parents = redis.call('ZMSCORE', KEYS[9], unpack(ids))
local results = {}
local fresh = {}
local seen = {}
for i = 1, count do
  local verdict
  local name = ''
  local fields = redis.pcall('HMGET', KEYS[9 + i], 'name', 'defa', 'lst')
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
    local outcome = not due[i] and not leases[i] and string.match(fields[3] or '', ' (%S+)$')
    if ARGV[3 + 2 * i] ~= '' and ARGV[3 + 2 * i] ~= name then
      verdict = 'mismatch'
    elseif completed[i] or failed[i] or outcome == 'completed' or outcome == 'failed' then
      verdict = 'ended'
    else
      verdict = leases[i] and 'active' or 'marked'
      local mine = fields[2] == 'cancelled' or string.sub(fields[2] or '', 1, 11) == 'cancelled: '
      fresh[i] = not mine and not seen[ids[i]]
      seen[ids[i]] = true
    end
  end
  results[2 * i - 1] = verdict
  results[2 * i] = name
end

for i = 1, count do
  if fresh[i] then
    -- Taken away first, because the engine allows a removal, and then the rest
    -- of the script, when it has no memory left.
    redis.call('HDEL', KEYS[9 + i], 'defa')
    redis.call('HSET', KEYS[9 + i], 'defa', mark)
    if leases[i] then
      redis.call('HSET', KEYS[1], 'cancels', '1')
    elseif parents[i] or (tonumber(due[i] or 0) or 0) > now then
      redis.call('ZREM', KEYS[9], ids[i])
      redis.call('ZADD', KEYS[2], now, ids[i])
      redis.call('ZADD', KEYS[7], 1, '~due')
    end
    if level ~= 'none' then
      redis.call('XADD', KEYS[8], 'MAXLEN', '~', history, '*', 'event', 'cancelled', 'jobId', ids[i],
        'name', results[2 * i], 'reason', mark)
    end
  end
end
return { now, results }
