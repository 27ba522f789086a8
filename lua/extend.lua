--- extend renews the leases of active jobs.
---
--- A lock that is not the item's token any more is answered "lost": the job was
--- given to another worker, or ended.
---
--- @memory drains
--- @key meta hash the queue's version
--- @key active zset ids by the deadline of their lease
--- @each lock string <id>:lock the token that holds it
--- @arg lease ms how long the jobs are held from the server's now
--- @item id id the job's id
--- @item token string the token under which it was started
--- @field version meta
--- @reply now ms the server's clock
--- @reply results records one per item, in order
--- @record results verdict word(extended|lost) what happened
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

local count = #KEYS - 2
local lease = tonumber(ARGV[1])
if count < 1 or #ARGV ~= 1 + 2 * count or not whole(ARGV[1], 1, 9007199254740991) then
  return redis.error_reply('EMQARGS extend takes 2 keys and a lease from 1, then 1 key and 2 arguments for each job')
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local deadline = now + lease

local locks = {}
for i = 1, count do
  locks[i] = KEYS[2 + i]
end
local tokens = redis.call('MGET', unpack(locks))
local ids = {}
local leases = {}
local results = {}
for i = 1, count do
  if ARGV[2 * i + 1] ~= '' and tokens[i] == ARGV[2 * i + 1] then
    ids[#ids + 1] = ARGV[2 * i]
    leases[#leases + 1] = deadline
    leases[#leases + 1] = ARGV[2 * i]
    results[i] = 'extended'
  else
    results[i] = 'lost'
  end
end
if #ids > 0 then
  -- Taken out and put back, because the engine allows a removal, and then the
  -- rest of the script, when it has no memory left.
  redis.call('ZREM', KEYS[2], unpack(ids))
  redis.call('ZADD', KEYS[2], unpack(leases))
end
return { now, results }
