--- prune releases unique keys whose time is over.
---
--- Whoever adds a job sees for itself that such a key is held by nobody; this
--- removes those that nobody asks for any more.
---
--- @memory drains
--- @key meta hash the queue's version
--- @key dedup hash unique keys to the id of the job that holds each
--- @key dedup-due zset unique keys by when their time is over
--- @arg limit int how many keys, at most 1000
--- @field version meta
--- @field * dedup
--- @reply now ms the server's clock
--- @reply freed int how many keys were released
--- @error EMQARGS the call is malformed; nothing was written
--- @error EMQVERSION the queue speaks another version of the protocol

local version = redis.call('HGET', KEYS[1], 'version')
if version and version ~= 'echomq:2.0.0' then
  return redis.error_reply('EMQVERSION expected echomq:2.0.0, found ' .. version)
end

local limit = tonumber(ARGV[1])
if #KEYS ~= 3 or #ARGV ~= 1 or not limit or limit < 1 or limit > 1000 or limit % 1 ~= 0 then
  return redis.error_reply('EMQARGS prune takes 3 keys and a whole limit from 1 to 1000')
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local terms = redis.call('ZRANGE', KEYS[3], 0, limit - 1, 'WITHSCORES')
local free = {}
for f = 1, #terms, 2 do
  if tonumber(terms[f + 1]) > now then
    break
  end
  free[#free + 1] = terms[f]
end
if #free > 0 then
  redis.call('ZREM', KEYS[3], unpack(free))
  redis.call('HDEL', KEYS[2], unpack(free))
end
return { now, #free }
