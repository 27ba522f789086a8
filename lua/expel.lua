--- expel takes ids that cannot be a job's out of the queue: into quarantine from
--- where they stand, or for good from there.
---
--- Somebody put them there by hand. No client can declare the keys of such an id,
--- so no other script can do anything about it. Those among the jobs that wait
--- or are prioritized are put into quarantine by pick and drain.
---
--- One that was active counted for the queue's limit. If that blocks the queue, it
--- does so no more, and a worker is woken that looks again.
---
--- @memory drains
--- @key meta hash the queue's version, and whether it is blocked
--- @key delayed zset ids by due time
--- @key active zset ids by the deadline of their lease
--- @key reserved hash ids to the token they are reserved for
--- @key completed zset ids by finishing time
--- @key failed zset ids by finishing time
--- @key quarantine zset ids that cannot be run
--- @key events stream what happened
--- @key marker zset wakes idle workers
--- @arg events word(none|final|all) which events are written
--- @arg history int how many events are kept, about
--- @arg to word(quarantine|nowhere) into quarantine, or for good from there
--- @item member string an id that cannot be a job's
--- @field version meta
--- @field blocked meta
--- @field * reserved
--- @reply now ms the server's clock
--- @reply results records one per item, in order
--- @record results verdict word(expelled|kept|missing) what happened; kept is one that can be a job's
--- @error EMQARGS the call is malformed; nothing was written
--- @error EMQVERSION the queue speaks another version of the protocol

local meta = redis.call('HMGET', KEYS[1], 'version', 'blocked')
local version = meta[1]
if version and version ~= 'echomq:2.0.0' then
  return redis.error_reply('EMQVERSION expected echomq:2.0.0, found ' .. version)
end

-- Whether text is a plain whole number in range. Any other would be refused by
-- a command halfway through the script.
local function whole(text, low, high)
  local number = string.find(text, '^%-?%d+$') and tonumber(text)
  return number and number >= low and number <= high
end

if #KEYS ~= 9 or #ARGV < 4 or #ARGV > 503 then
  return redis.error_reply('EMQARGS expel takes 9 keys and 3 arguments, then 1 argument for each of at most 500 ids')
end
local level = ARGV[1]
local history = tonumber(ARGV[2])
local levels = { none = true, final = true, all = true }
if not levels[level] or not whole(ARGV[2], 0, 9007199254740991) then
  return redis.error_reply('EMQARGS events must be none, final or all, and history a whole number from 0')
end
if ARGV[3] ~= 'quarantine' and ARGV[3] ~= 'nowhere' then
  return redis.error_reply('EMQARGS to must be quarantine or nowhere')
end
local names = ' meta wait prioritized pc delayed active reserved completed failed waiting-children quarantine dedup'
  .. ' dedup-due groups grouped group-active outbox outbox-body schedulers limiter marker events metrics scheduler'
  .. ' control version queues nodes paused stalled stalled-check id repeat de '

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local verdicts = {}
local held = {}
local broken = {}
local opened = false
for a = 4, #ARGV do
  local id = ARGV[a]
  local verdict = 'missing'
  if #id <= 255 and string.find(id, '^_?%w[%w._-]*$') and not string.find(names, ' ' .. id .. ' ', 1, true) then
    verdict = 'kept'
  elseif ARGV[3] == 'nowhere' then
    if redis.call('ZREM', KEYS[7], id) == 1 then
      verdict = 'expelled'
    end
  else
    local active = redis.call('ZREM', KEYS[3], id)
    local found = active + redis.call('ZREM', KEYS[2], id)
      + redis.call('ZREM', KEYS[5], id) + redis.call('ZREM', KEYS[6], id)
    if found > 0 then
      opened = opened or active > 0 and meta[2] == 'limit'
      verdict = 'expelled'
      held[#held + 1] = id
      broken[#broken + 1] = now
      broken[#broken + 1] = id
    end
  end
  verdicts[#verdicts + 1] = verdict
end
if #held > 0 then
  redis.call('HDEL', KEYS[4], unpack(held))
  redis.call('ZADD', KEYS[7], unpack(broken))
  if level ~= 'none' then
    for h = 1, #held do
      redis.call('XADD', KEYS[8], 'MAXLEN', '~', history, '*', 'event', 'quarantined', 'jobId', held[h])
    end
  end
end
if opened then
  redis.call('HDEL', KEYS[1], 'blocked')
  redis.call('ZADD', KEYS[9], 1, '~due')
end
return { now, verdicts }
