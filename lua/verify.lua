--- verify tells what has become of children whose parent still waits for them.
---
--- A child that has ended and whose report is still to be delivered comes with
--- that report; one whose report was lost, with its result or the reason.
---
--- @memory reads
--- @key meta hash the queue's version
--- @key quarantine zset ids whose hash cannot be used
--- @key outbox-body hash what is to be delivered
--- @each job hash <id> the child
--- @arg bytes int at how many bytes of reports to send no more
--- @item id id the child's id
--- @item parent string the key of its parent's hash
--- @field version meta
--- @field name job
--- @field parentKey job
--- @field timestamp job
--- @field finishedOn job
--- @field lst job
--- @field returnvalue job
--- @field failedReason job
--- @field * outbox-body
--- @reply now ms the server's clock
--- @reply results records one per item, in order
--- @record results state word(pending|reported|completed|failed|missing|taken|quarantined) what became of it
--- @record results value bytes its report, result or reason
--- @error EMQARGS the call is malformed
--- @error EMQVERSION the queue speaks another version of the protocol

local version = redis.call('HGET', KEYS[1], 'version')
if version and version ~= 'echomq:2.0.0' then
  return redis.error_reply('EMQVERSION expected echomq:2.0.0, found ' .. version)
end

local count = #KEYS - 3
local limit = ARGV[1] and string.find(ARGV[1], '^%d+$') and tonumber(ARGV[1])
if count < 1 or #ARGV ~= 1 + 2 * count or not limit or limit > 9007199254740991 then
  return redis.error_reply('EMQARGS verify takes 3 keys and a whole number of bytes, then 1 key and 2 arguments for each child')
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local results = {}
local bytes = 0
for i = 1, count do
  local id = ARGV[2 * i]
  local state = 'pending'
  local value = ''
  local fields = redis.pcall('HMGET', KEYS[3 + i], 'name', 'parentKey', 'timestamp', 'finishedOn', 'lst')
  if fields.err and not string.find(fields.err, 'WRONGTYPE', 1, true) then
    return fields
  end
  if fields.err or redis.call('ZSCORE', KEYS[2], id) then
    state = 'quarantined'
  else
    local outcome = string.match(fields[5] or '', ' (%S+)$')
    local ended = (outcome == 'completed' or outcome == 'failed') and (fields[4] or not fields[3])
    if not fields[1] and not fields[2] then
      state = 'missing'
    elseif fields[2] ~= ARGV[2 * i + 1] then
      state = 'taken'
    elseif ended then
      state = outcome
    end
    if state == 'missing' or ended then
      local size = redis.call('HSTRLEN', KEYS[3], id)
      if size > 0 then
        state = 'reported'
        value = redis.call('HGET', KEYS[3], id)
      elseif state == 'completed' then
        value = redis.call('HGET', KEYS[3 + i], 'returnvalue') or ''
      elseif state == 'failed' then
        value = redis.call('HGET', KEYS[3 + i], 'failedReason') or ''
      end
      if bytes > 0 and #value > 0 and bytes + #value > limit then
        state = 'pending'
        value = ''
      end
      bytes = bytes + #value
    end
  end
  results[#results + 1] = state
  results[#results + 1] = value
end
return { now, results }
