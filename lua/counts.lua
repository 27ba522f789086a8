--- counts tells how many jobs there are in each place.
---
--- @memory reads
--- @key meta hash the queue's version
--- @key wait list ids without priority; the next to run is at the tail
--- @key prioritized zset ids with a priority
--- @key delayed zset ids by due time
--- @key active zset ids by the deadline of their lease
--- @key reserved hash ids to the token they are reserved for
--- @key completed zset ids by finishing time
--- @key failed zset ids by finishing time
--- @key quarantine zset ids that cannot be run
--- @key waiting-children zset parents by when their children are next looked for
--- @key groups zset groups with work by turn; those at their limit after all others
--- @key grouped zset jobs that wait in their groups: group, place and id
--- @field version meta
--- @field paused meta
--- @field * reserved
--- @reply now ms the server's clock
--- @reply paused flag whether the queue is paused
--- @reply waiting int jobs that wait in order of arrival
--- @reply prioritized int jobs that wait by priority
--- @reply delayed int jobs that are not due yet
--- @reply active int jobs that workers hold, the reserved ones among them
--- @reply reserved int jobs that workers hold and have not started yet
--- @reply completed int jobs that succeeded and are kept
--- @reply failed int jobs that failed for good and are kept
--- @reply quarantined int ids that cannot be run
--- @reply waitingChildren int parents whose children have not all ended
--- @reply grouped int jobs that wait in their groups
--- @reply groups int groups that have work
--- @error EMQARGS the call is malformed
--- @error EMQVERSION the queue speaks another version of the protocol

local meta = redis.call('HMGET', KEYS[1], 'version', 'paused')
local version = meta[1]
local paused = meta[2] == '1'
if version and version ~= 'echomq:2.0.0' then
  return redis.error_reply('EMQVERSION expected echomq:2.0.0, found ' .. version)
end

if #KEYS ~= 12 or #ARGV ~= 0 then
  return redis.error_reply('EMQARGS counts takes 12 keys and no arguments')
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
return {
  now,
  paused and 1 or 0,
  redis.call('LLEN', KEYS[2]),
  redis.call('ZCARD', KEYS[3]),
  redis.call('ZCARD', KEYS[4]),
  redis.call('ZCARD', KEYS[5]),
  redis.call('HLEN', KEYS[6]),
  redis.call('ZCARD', KEYS[7]),
  redis.call('ZCARD', KEYS[8]),
  redis.call('ZCARD', KEYS[9]),
  redis.call('ZCARD', KEYS[10]),
  redis.call('ZCARD', KEYS[12]),
  redis.call('ZCARD', KEYS[11]),
}
