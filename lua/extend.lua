--- extend renews the leases of active jobs, and tells which were cancelled.
---
--- A lock that is not the item's token any more is answered "lost": the job was
--- given to another worker, or ended.
---
--- While the queue's slot is being moved a call is refused that declares a key
--- which does not exist. So this script, by which jobs stay their workers', takes
--- none but those that an active job has.
---
--- @memory drains
--- @key meta hash the queue's version, and whether a job was cancelled as it ran
--- @key active zset ids by the deadline of their lease
--- @each job hash <id> the job
--- @each lock string <id>:lock the token that holds it
--- @arg lease ms how long the jobs are held from the server's now
--- @item id id the job's id
--- @item token string the token under which it was started
--- @field version meta
--- @field cancels meta
--- @field defa job
--- @reply now ms the server's clock
--- @reply results records one per item, in order
--- @record results verdict word(extended|cancelled|lost) what happened; cancelled is extended too
--- @record results reason string the mark of a job that was cancelled
--- @error EMQARGS the call is malformed; nothing was written
--- @error EMQVERSION the queue speaks another version of the protocol

local meta = redis.call('HMGET', KEYS[1], 'version', 'cancels')
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

local count = math.floor((#KEYS - 2) / 2)
local lease = tonumber(ARGV[1])
if count < 1 or #KEYS ~= 2 + 2 * count or #ARGV ~= 1 + 2 * count or not whole(ARGV[1], 1, 9007199254740991) then
  return redis.error_reply('EMQARGS extend takes 2 keys and a lease from 1, then 2 keys and 2 arguments for each job')
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local deadline = now + lease

local locks = {}
for i = 1, count do
  locks[i] = KEYS[2 + 2 * i]
end
local tokens = redis.call('MGET', unpack(locks))
local ids = {}
local leases = {}
local results = {}
for i = 1, count do
  local verdict = 'lost'
  local reason = ''
  if ARGV[2 * i + 1] ~= '' and tokens[i] == ARGV[2 * i + 1] then
    ids[#ids + 1] = ARGV[2 * i]
    leases[#leases + 1] = deadline
    leases[#leases + 1] = ARGV[2 * i]
    verdict = 'extended'
    local defa = meta[2] and redis.pcall('HGET', KEYS[1 + 2 * i], 'defa')
    if type(defa) == 'string' and (defa == 'cancelled' or string.sub(defa, 1, 11) == 'cancelled: ') then
      verdict = 'cancelled'
      reason = defa
    end
  end
  results[2 * i - 1] = verdict
  results[2 * i] = reason
end
if #ids > 0 then
  -- Taken out and put back, because the engine allows a removal, and then the
  -- rest of the script, when it has no memory left.
  redis.call('ZREM', KEYS[2], unpack(ids))
  redis.call('ZADD', KEYS[2], unpack(leases))
end
return { now, results }
