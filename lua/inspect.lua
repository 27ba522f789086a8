--- inspect tells where a job is and, if it has ended, how.
---
--- @memory reads
--- @key meta hash the queue's version
--- @key prioritized zset ids with a priority
--- @key delayed zset ids by due time
--- @key active zset ids by the deadline of their lease
--- @key completed zset ids by finishing time
--- @key failed zset ids by finishing time
--- @key quarantine zset ids whose hash cannot be used
--- @key waiting-children zset parents by when their children are next looked for
--- @each job hash <id> the job
--- @item id id the job's id
--- @field version meta
--- @field name job
--- @field cdc job
--- @field atm job
--- @field returnvalue job
--- @field failedReason job
--- @field stacktrace job
--- @field lst job
--- @field defa job
--- @reply now ms the server's clock
--- @reply results records one per item, in order
--- @record results state word(missing|waiting|prioritized|delayed|waiting-children|active|completed|failed|quarantined) where it is
--- @record results name string the job's wire name
--- @record results codec string its codec; empty for JSON
--- @record results attempts int attempts made
--- @record results value bytes the encoded result of a completed job
--- @record results reason string the error of the last failed attempt
--- @record results trace string the errors of all attempts, JSON
--- @record results deferred string why it was to fail without being run, if so
--- @record results kept flag whether an ended job was kept; if not, only its state is known
--- @error EMQARGS the call is malformed
--- @error EMQVERSION the queue speaks another version of the protocol

local version = redis.call('HGET', KEYS[1], 'version')
if version and version ~= 'echomq:2.0.0' then
  return redis.error_reply('EMQVERSION expected echomq:2.0.0, found ' .. version)
end

local count = #KEYS - 8
if count < 1 or #ARGV ~= count then
  return redis.error_reply('EMQARGS inspect takes 8 keys, then 1 key and 1 argument for each job')
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local results = {}
for i = 1, count do
  local id = ARGV[i]
  local state = 'missing'
  local kept = 1
  local fields = redis.pcall('HMGET', KEYS[8 + i],
    'name', 'cdc', 'atm', 'returnvalue', 'failedReason', 'stacktrace', 'lst', 'defa')
  if fields.err and not string.find(fields.err, 'WRONGTYPE', 1, true) then
    return fields
  end
  if fields.err or redis.call('ZSCORE', KEYS[7], id) then
    state = 'quarantined'
    fields = {}
  elseif fields[1] then
    if redis.call('ZSCORE', KEYS[5], id) then
      state = 'completed'
    elseif redis.call('ZSCORE', KEYS[6], id) then
      state = 'failed'
    elseif redis.call('ZSCORE', KEYS[4], id) then
      state = 'active'
    elseif redis.call('ZSCORE', KEYS[3], id) then
      state = 'delayed'
    elseif redis.call('ZSCORE', KEYS[2], id) then
      state = 'prioritized'
    elseif redis.call('ZSCORE', KEYS[8], id) then
      state = 'waiting-children'
    else
      state = 'waiting'
      -- An ended job of which nothing is kept is its stub.
      local outcome = string.match(fields[7] or '', ' (%S+)$')
      if outcome == 'completed' or outcome == 'failed' then
        state = outcome
        kept = 0
      end
    end
  end
  local r = #results
  results[r + 1] = state
  results[r + 2] = fields[1] or ''
  results[r + 3] = fields[2] or ''
  results[r + 4] = math.floor(tonumber(fields[3] or 0) or 0)
  results[r + 5] = fields[4] or ''
  results[r + 6] = fields[5] or ''
  results[r + 7] = fields[6] or ''
  results[r + 8] = fields[8] or ''
  results[r + 9] = kept
end
return { now, results }
