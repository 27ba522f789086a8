--- obliterate deletes the keys of a queue that is paused and holds neither jobs
--- nor schedulers any more: the last step of its end.
---
--- @memory drains
--- @key meta hash the queue's version
--- @key wait list ids without priority; the next to run is at the tail
--- @key prioritized zset ids with a priority
--- @key pc string counter that orders jobs of one priority
--- @key delayed zset ids by due time
--- @key active zset ids by the deadline of their lease
--- @key reserved hash ids to the token they are reserved for
--- @key completed zset ids by finishing time
--- @key failed zset ids by finishing time
--- @key quarantine zset ids that cannot be run
--- @key marker zset wakes idle workers
--- @key events stream what happened
--- @key waiting-children zset parents whose children are not done
--- @key dedup hash unique keys to the id of the job that holds each
--- @key dedup-due zset unique keys by when their time is over
--- @key groups zset groups with work, by turn
--- @key grouped zset jobs of groups
--- @key group-active hash running jobs of each group
--- @key outbox zset deliveries to other queues
--- @key outbox-body hash what they deliver
--- @key schedulers zset repeating jobs
--- @key limiter hash the token bucket
--- @key metrics:completed hash counts
--- @key metrics:failed hash counts
--- @field version meta
--- @field paused meta
--- @reply now ms the server's clock
--- @reply verdict word(obliterated|running|holding) whether it was deleted; running is a queue that is not paused, holding one that has jobs or schedulers
--- @error EMQARGS the call is malformed; nothing was written
--- @error EMQVERSION the queue speaks another version of the protocol

local meta = redis.call('HMGET', KEYS[1], 'version', 'paused')
local version = meta[1]
local paused = meta[2] == '1'
if version and version ~= 'echomq:2.0.0' then
  return redis.error_reply('EMQVERSION expected echomq:2.0.0, found ' .. version)
end

if #KEYS ~= 24 or #ARGV ~= 0 then
  return redis.error_reply('EMQARGS obliterate takes 24 keys and no arguments')
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
if not paused then
  return { now, 'running' }
end
if redis.call('EXISTS', KEYS[2], KEYS[3], KEYS[5], KEYS[6], KEYS[8], KEYS[9], KEYS[10], KEYS[13], KEYS[17], KEYS[21]) > 0 then
  return { now, 'holding' }
end
redis.call('UNLINK', KEYS[4], KEYS[7], KEYS[11], KEYS[12], KEYS[14], KEYS[15], KEYS[16], KEYS[18], KEYS[19],
  KEYS[20], KEYS[21], KEYS[22], KEYS[23], KEYS[24], KEYS[1])
return { now, 'obliterated' }
