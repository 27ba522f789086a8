--- due tells whose time has come: delayed jobs to promote, leases that ran out.
---
--- It is the look before promote and recover, which take the ids that they work
--- on from their caller.
---
--- @memory reads
--- @key meta hash the queue's version
--- @key delayed zset ids by due time
--- @key active zset ids by the deadline of their lease
--- @arg limit int how many ids of each kind, at most 500
--- @field version meta
--- @reply now ms the server's clock
--- @reply due ids delayed jobs that are due, the earliest first
--- @reply expired records active jobs whose lease ran out, the earliest first
--- @record expired id id the job's id
--- @record expired deadline ms when its lease ended
--- @reply nextDue ms when the next job after these is due; 0 if there is none
--- @reply nextExpiry ms when the next lease after these ends; 0 if there is none
--- @error EMQARGS the call is malformed
--- @error EMQVERSION the queue speaks another version of the protocol

local version = redis.call('HGET', KEYS[1], 'version')
if version and version ~= 'echomq:2.0.0' then
  return redis.error_reply('EMQVERSION expected echomq:2.0.0, found ' .. version)
end

local limit = tonumber(ARGV[1])
if #KEYS ~= 3 or #ARGV ~= 1 or not limit or limit < 1 or limit > 500 or limit % 1 ~= 0 then
  return redis.error_reply('EMQARGS due takes 3 keys and a whole limit from 1 to 500')
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

-- One more than asked for, so that the next one is known.
local delayed = redis.call('ZRANGE', KEYS[2], 0, limit, 'WITHSCORES')
local due = {}
local nextDue = 0
for f = 1, #delayed, 2 do
  local score = math.floor(tonumber(delayed[f + 1]))
  if score <= now and #due < limit then
    due[#due + 1] = delayed[f]
  else
    nextDue = score
    break
  end
end
local active = redis.call('ZRANGE', KEYS[3], 0, limit, 'WITHSCORES')
local expired = {}
local nextExpiry = 0
for f = 1, #active, 2 do
  local score = math.floor(tonumber(active[f + 1]))
  if score <= now and #expired < 2 * limit then
    expired[#expired + 1] = active[f]
    expired[#expired + 1] = score
  else
    nextExpiry = score
    break
  end
end
return { now, due, expired, nextDue, nextExpiry }
