--- collect takes the deliveries whose time has come, for the caller to make.
---
--- What is taken stays in the outbox until it is acknowledged. It is taken again
--- when it was not: after the shorter wait at first, and then after as long as it
--- has been there, up to the longer wait.
---
--- With them come parents that have waited for their children for a while, so
--- that the caller looks whether these are still there. One whose children are
--- still to be delivered is left out.
---
--- @memory drains
--- @key meta hash the queue's version
--- @key outbox zset deliveries to other queues by when they are next tried
--- @key outbox-body hash what is to be delivered
--- @key waiting-children zset parents by when their children are next looked for
--- @arg limit int how many deliveries, at most 500
--- @arg bytes int at how many bytes of deliveries to take no more
--- @arg least ms the shortest wait until a delivery is taken again
--- @arg most ms the longest one
--- @arg parents int how many parents, at most 500
--- @arg check ms when their children are looked for again
--- @field version meta
--- @field * outbox-body
--- @reply now ms the server's clock
--- @reply deliveries records what is to be delivered, the longest due first
--- @record deliveries entry string its name, by which it is acknowledged
--- @record deliveries body bytes when it was put there, and what it is
--- @reply parents ids parents whose children are to be looked for
--- @reply left flag whether there are deliveries still, or parents that wait
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

if #KEYS ~= 4 or #ARGV ~= 6 then
  return redis.error_reply('EMQARGS collect takes 4 keys and 6 arguments')
end
if not whole(ARGV[1], 1, 500) or not whole(ARGV[5], 0, 500) then
  return redis.error_reply('EMQARGS limit must be a whole number from 1 to 500, parents from 0 to 500')
end
if not whole(ARGV[2], 0, 9007199254740991) or not whole(ARGV[3], 1, 9007199254740991) or not whole(ARGV[4], 1, 9007199254740991) or not whole(ARGV[6], 1, 9007199254740991) then
  return redis.error_reply('EMQARGS bytes must be a whole number from 0, least, most and check from 1')
end
local bytes = tonumber(ARGV[2])
local least = tonumber(ARGV[3])
local most = tonumber(ARGV[4])
local check = tonumber(ARGV[6])

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local deliveries = {}
local due = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, ARGV[1])
if #due > 0 then
  local sizes = 0
  local taken = {}
  local again = {}
  for d = 1, #due do
    local size = redis.call('HSTRLEN', KEYS[3], due[d])
    if sizes > 0 and sizes + size > bytes then
      break
    end
    sizes = sizes + size
    taken[#taken + 1] = due[d]
  end
  local bodies = redis.call('HMGET', KEYS[3], unpack(taken))
  redis.call('ZREM', KEYS[2], unpack(taken))
  for t = 1, #taken do
    if bodies[t] then
      local age = now - (tonumber(string.match(bodies[t], '^(%d+) ') or 0) or 0)
      again[#again + 1] = now + math.max(least, math.min(most, age))
      again[#again + 1] = taken[t]
      deliveries[#deliveries + 1] = taken[t]
      deliveries[#deliveries + 1] = bodies[t]
    end
  end
  if #again > 0 then
    redis.call('ZADD', KEYS[2], unpack(again))
  end
end

local parents = {}
if ARGV[5] ~= '0' then
  local waiting = redis.call('ZRANGEBYSCORE', KEYS[4], '-inf', now, 'LIMIT', 0, ARGV[5])
  if #waiting > 0 then
    local again = {}
    for w = 1, #waiting do
      again[#again + 1] = now + check
      again[#again + 1] = waiting[w]
      if not redis.call('ZSCORE', KEYS[2], waiting[w] .. ':children') then
        parents[#parents + 1] = waiting[w]
      end
    end
    redis.call('ZREM', KEYS[4], unpack(waiting))
    redis.call('ZADD', KEYS[4], unpack(again))
  end
end
return { now, deliveries, parents, math.min(redis.call('EXISTS', KEYS[2], KEYS[4]), 1) }
