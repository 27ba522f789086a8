--- acknowledge takes deliveries that were made out of the outbox.
---
--- A job that is not kept has had its stub stay until its end was reported; from
--- then on it stays for as long as that of any other.
---
--- @memory drains
--- @key meta hash the queue's version
--- @key outbox zset deliveries to other queues by when they are next tried
--- @key outbox-body hash what is to be delivered
--- @each job hash <id> the job
--- @item id id the job that the delivery is about
--- @item entry string the delivery's name: the job's id, or that and ":children"
--- @field version meta
--- @field timestamp job
--- @field * outbox-body
--- @reply now ms the server's clock
--- @reply results records one per item, in order
--- @record results verdict word(acknowledged|gone) what happened
--- @error EMQARGS the call is malformed; nothing was written
--- @error EMQVERSION the queue speaks another version of the protocol

local version = redis.call('HGET', KEYS[1], 'version')
if version and version ~= 'echomq:2.0.0' then
  return redis.error_reply('EMQVERSION expected echomq:2.0.0, found ' .. version)
end

local count = #KEYS - 3
if count < 1 or #ARGV ~= 2 * count then
  return redis.error_reply('EMQARGS acknowledge takes 3 keys, then 1 key and 2 arguments for each delivery')
end
local entries = {}
for i = 1, count do
  entries[i] = ARGV[2 * i]
  if entries[i] ~= ARGV[2 * i - 1] and entries[i] ~= ARGV[2 * i - 1] .. ':children' then
    return redis.error_reply('EMQARGS an entry is not of its job')
  end
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local verdicts = {}
for i = 1, count do
  verdicts[i] = 'gone'
  if redis.call('ZREM', KEYS[2], entries[i]) == 1 then
    verdicts[i] = 'acknowledged'
    if entries[i] == ARGV[2 * i - 1] then
      local added = redis.pcall('HGET', KEYS[3 + i], 'timestamp')
      if not added then
        redis.call('PEXPIRE', KEYS[3 + i], 60000)
      end
    end
  end
end
redis.call('HDEL', KEYS[3], unpack(entries))
return { now, verdicts }
