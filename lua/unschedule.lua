--- unschedule removes schedulers. The jobs that they have added stay.
---
--- @memory drains
--- @key meta hash the queue's version, and the earliest slot
--- @key schedulers zset ids of schedulers by their next slot
--- @each record hash scheduler:<scheduler> the scheduler
--- @item scheduler scheduler the scheduler's id
--- @field version meta
--- @field slot meta
--- @reply now ms the server's clock
--- @reply results records one per item, in order
--- @record results verdict word(removed|missing) what happened
--- @error EMQARGS the call is malformed; nothing was written
--- @error EMQVERSION the queue speaks another version of the protocol

local version = redis.call('HGET', KEYS[1], 'version')
if version and version ~= 'echomq:2.0.0' then
  return redis.error_reply('EMQVERSION expected echomq:2.0.0, found ' .. version)
end

local count = #KEYS - 2
if count < 1 or #ARGV ~= count then
  return redis.error_reply('EMQARGS unschedule takes 2 keys, then 1 key and 1 argument for each scheduler')
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local ids = {}
local records = {}
for i = 1, count do
  ids[i] = ARGV[i]
  records[i] = KEYS[2 + i]
end
local slots = redis.call('ZMSCORE', KEYS[2], unpack(ids))
local verdicts = {}
local seen = {}
for i = 1, count do
  verdicts[i] = slots[i] and not seen[ids[i]] and 'removed' or 'missing'
  seen[ids[i]] = true
end
redis.call('ZREM', KEYS[2], unpack(ids))
redis.call('DEL', unpack(records))
local soonest = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2]
if soonest and math.floor(tonumber(soonest)) < 9007199254740991 then
  redis.call('HSET', KEYS[1], 'slot', math.floor(tonumber(soonest)))
else
  redis.call('HDEL', KEYS[1], 'slot')
end
return { now, verdicts }
