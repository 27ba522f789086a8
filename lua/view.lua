--- view shows jobs whole, and where they are.
---
--- What does not fit into the reply any more is answered "crowded", to be asked
--- for again; the first job always fits.
---
--- @memory reads
--- @key meta hash the queue's version
--- @key prioritized zset ids with a priority
--- @key delayed zset ids by due time
--- @key active zset ids by the deadline of their lease
--- @key completed zset ids by finishing time
--- @key failed zset ids by finishing time
--- @key quarantine zset ids that cannot be run
--- @key waiting-children zset parents by when their children are next looked for
--- @each job hash <id> the job
--- @arg limit int at how many bytes of jobs to send no more
--- @item id id the job's id
--- @field version meta
--- @field lst job
--- @reply now ms the server's clock
--- @reply results records one per item, in order
--- @record results state word(missing|waiting|prioritized|delayed|waiting-children|active|completed|failed|quarantined|crowded) where it is
--- @record results score int its score there: when it is due, its lease ends, it ended or was found unfit
--- @record results kept flag whether an ended job was kept; if not, only its name is known
--- @record results job hash the job
--- @error EMQARGS the call is malformed
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

local count = #KEYS - 8
if count < 1 or #ARGV ~= 1 + count or not whole(ARGV[1], 0, 9007199254740991) then
  return redis.error_reply('EMQARGS view takes 8 keys and a whole limit from 0, then 1 key and 1 argument for each job')
end
local limit = tonumber(ARGV[1])
local ids = {}
for i = 1, count do
  ids[i] = ARGV[1 + i]
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local ranks = redis.call('ZMSCORE', KEYS[2], unpack(ids))
local dues = redis.call('ZMSCORE', KEYS[3], unpack(ids))
local leases = redis.call('ZMSCORE', KEYS[4], unpack(ids))
local completed = redis.call('ZMSCORE', KEYS[5], unpack(ids))
local failed = redis.call('ZMSCORE', KEYS[6], unpack(ids))
local parents = redis.call('ZMSCORE', KEYS[8], unpack(ids))
local found = redis.call('ZMSCORE', KEYS[7], unpack(ids))
local results = {}
local bytes = 0
for i = 1, count do
  local state = 'crowded'
  local score
  local kept = 1
  local hash = {}
  if bytes == 0 or bytes < limit then
    hash = redis.pcall('HGETALL', KEYS[8 + i])
    if hash.err and not string.find(hash.err, 'WRONGTYPE', 1, true) then
      return hash
    end
    if hash.err then
      hash = {}
      state = 'quarantined'
      score = found[i]
    elseif found[i] then
      state = 'quarantined'
      score = found[i]
    elseif #hash == 0 then
      state = 'missing'
    elseif completed[i] then
      state = 'completed'
      score = completed[i]
    elseif failed[i] then
      state = 'failed'
      score = failed[i]
    elseif leases[i] then
      state = 'active'
      score = leases[i]
    elseif dues[i] then
      state = 'delayed'
      score = dues[i]
    elseif parents[i] then
      state = 'waiting-children'
      score = parents[i]
    elseif ranks[i] then
      state = 'prioritized'
      score = ranks[i]
    else
      state = 'waiting'
    end
    local size = 1
    local outcome
    for f = 1, #hash, 2 do
      size = size + #hash[f + 1]
      if hash[f] == 'lst' then
        outcome = string.match(hash[f + 1], ' (%S+)$')
      end
    end
    if state == 'waiting' and (outcome == 'completed' or outcome == 'failed') then
      -- An ended job of which nothing is kept is its stub.
      state = outcome
      kept = 0
    end
    if bytes > 0 and bytes + size > limit then
      state = 'crowded'
      score = nil
      kept = 1
      hash = {}
    end
    bytes = bytes + size
  end
  local r = #results
  results[r + 1] = state
  results[r + 2] = math.floor(tonumber(score or 0) or 0)
  results[r + 3] = kept
  results[r + 4] = hash
end
return { now, results }
