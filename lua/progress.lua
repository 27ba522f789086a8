--- progress records how far active jobs have come.
---
--- Only the holder of a job's token may record: what a late worker sends is
--- answered "lost" and changes nothing. The value stays on the job until the
--- next one replaces it, through retries and after its end.
---
--- @memory drains
--- @key meta hash the queue's version
--- @key events stream what happened
--- @each job hash <id> the job
--- @each lock string <id>:lock the token that holds it
--- @arg events word(none|final|all) which events are written
--- @arg history int how many events are kept, about
--- @item id id the job's id
--- @item token string the token under which it was started
--- @item value bytes the progress, JSON
--- @item announce flag whether it is an event at the level all
--- @field version meta
--- @field name job
--- @field progress job
--- @stores progress job value
--- @reply now ms the server's clock
--- @reply results records one per item, in order
--- @record results verdict word(recorded|lost|gone) what happened
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

local count = math.floor((#KEYS - 2) / 2)
if count < 1 or #KEYS ~= 2 + 2 * count or #ARGV ~= 2 + 4 * count then
  return redis.error_reply('EMQARGS progress takes 2 keys and 2 arguments, then 2 keys and 4 arguments for each job')
end
local level = ARGV[1]
local history = tonumber(ARGV[2])
local levels = { none = true, final = true, all = true }
if not levels[level] or not whole(ARGV[2], 0, 9007199254740991) then
  return redis.error_reply('EMQARGS events must be none, final or all, and history a whole number from 0')
end
local locks = {}
for i = 1, count do
  if ARGV[4 * i] == '' or not whole(ARGV[4 * i + 2], 0, 1) then
    return redis.error_reply('EMQARGS a token is empty, or announce neither 0 nor 1')
  end
  locks[i] = KEYS[2 + 2 * i]
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local tokens = redis.call('MGET', unpack(locks))
local verdicts = {}
for i = 1, count do
  if tokens[i] ~= ARGV[4 * i] then
    verdicts[i] = 'lost'
  else
    local name = redis.pcall('HGET', KEYS[1 + 2 * i], 'name')
    if type(name) ~= 'string' then
      verdicts[i] = 'gone'
    else
      verdicts[i] = 'recorded'
      -- Taken out and put back, because the engine allows a removal, and then
      -- the rest of the script, when it has no memory left.
      redis.call('HDEL', KEYS[1 + 2 * i], 'progress')
      redis.call('HSET', KEYS[1 + 2 * i], 'progress', ARGV[4 * i + 1])
      if level == 'all' and ARGV[4 * i + 2] == '1' then
        redis.call('XADD', KEYS[2], 'MAXLEN', '~', history, '*', 'event', 'progress', 'jobId', ARGV[4 * i - 1],
          'name', name, 'progress', ARGV[4 * i + 1])
      end
    end
  end
end
return { now, verdicts }
