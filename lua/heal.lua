--- heal releases unique keys whose job is gone.
---
--- It is asked for the keys of duplicates: whether the job that holds each is
--- there at all. A holder whose hash was lost, or replaced by something that does
--- not have the key, holds nothing, and the next one to add a job has it.
---
--- @memory drains
--- @key meta hash the queue's version
--- @key dedup hash unique keys to the id of the job that holds each
--- @key dedup-due zset unique keys by when their time is over
--- @each job hash <id> the job
--- @item id id the job that is believed to hold the key
--- @item unique string the key
--- @field version meta
--- @field name job
--- @field deid job
--- @field * dedup
--- @reply now ms the server's clock
--- @reply results records one per item, in order
--- @record results verdict word(held|freed|passed) whether the job holds it, did and is gone, or does not
--- @error EMQARGS the call is malformed; nothing was written
--- @error EMQVERSION the queue speaks another version of the protocol

local version = redis.call('HGET', KEYS[1], 'version')
if version and version ~= 'echomq:2.0.0' then
  return redis.error_reply('EMQVERSION expected echomq:2.0.0, found ' .. version)
end

local count = #KEYS - 3
if count < 1 or #ARGV ~= 2 * count then
  return redis.error_reply('EMQARGS heal takes 3 keys, then 1 key and 2 arguments for each job')
end
local keyed = {}
for i = 1, count do
  keyed[i] = ARGV[2 * i]
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local owners = redis.call('HMGET', KEYS[2], unpack(keyed))
local verdicts = {}
local free = {}
for i = 1, count do
  verdicts[i] = 'passed'
  if owners[i] == ARGV[2 * i - 1] then
    local fields = redis.pcall('HMGET', KEYS[3 + i], 'name', 'deid')
    if fields.err and not string.find(fields.err, 'WRONGTYPE', 1, true) then
      return fields
    end
    if not fields.err and fields[1] and fields[2] == keyed[i] then
      verdicts[i] = 'held'
    else
      verdicts[i] = 'freed'
      free[#free + 1] = keyed[i]
    end
  end
end
if #free > 0 then
  redis.call('HDEL', KEYS[2], unpack(free))
  redis.call('ZREM', KEYS[3], unpack(free))
end
return { now, verdicts }
