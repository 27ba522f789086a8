--- log adds lines to the logs of active jobs, of which the newest are kept.
---
--- Only the holder of a job's token may add: what a late worker sends is
--- answered "lost" and changes nothing. A job's lines are numbered from 1 by who
--- holds it, through all of its attempts; a line whose number is not above the
--- last one was recorded before, and is answered so again.
---
--- A line is kept as its number, the server's clock in milliseconds and its
--- text, parted by blanks.
---
--- @memory drains
--- @key meta hash the queue's version
--- @each job hash <id> the job
--- @each lock string <id>:lock the token that holds it
--- @each logs list <id>:logs log lines, the oldest at the head
--- @arg keep int how many lines of each job are kept, from 1 to 10000
--- @item id id the job's id
--- @item token string the token under which it was started
--- @item number int the line's number, from 1
--- @item line bytes the text
--- @field version meta
--- @field name job
--- @field lgc job
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

local count = math.floor((#KEYS - 1) / 3)
if count < 1 or #KEYS ~= 1 + 3 * count or #ARGV ~= 1 + 4 * count then
  return redis.error_reply('EMQARGS log takes 1 key and 1 argument, then 3 keys and 4 arguments for each line')
end
if not whole(ARGV[1], 1, 10000) then
  return redis.error_reply('EMQARGS keep must be a whole number from 1 to 10000')
end
local keep = tonumber(ARGV[1])
local locks = {}
for i = 1, count do
  if ARGV[4 * i - 1] == '' or not whole(ARGV[4 * i], 1, 9007199254740991) then
    return redis.error_reply('EMQARGS a token is empty, or number not a whole number from 1')
  end
  locks[i] = KEYS[3 * i]
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local tokens = redis.call('MGET', unpack(locks))
local verdicts = {}
for i = 1, count do
  if tokens[i] ~= ARGV[4 * i - 1] then
    verdicts[i] = 'lost'
  else
    local fields = redis.pcall('HMGET', KEYS[3 * i - 1], 'name', 'lgc')
    if fields.err or not fields[1] then
      verdicts[i] = 'gone'
    else
      verdicts[i] = 'recorded'
      if tonumber(ARGV[4 * i]) > (tonumber(fields[2] or 0) or 0) then
        -- Room first: the engine allows that when it has no memory left, and
        -- then the rest of the script.
        if keep == 1 then
          redis.call('DEL', KEYS[3 * i + 1])
        else
          redis.call('LTRIM', KEYS[3 * i + 1], 1 - keep, -1)
        end
        redis.call('RPUSH', KEYS[3 * i + 1], ARGV[4 * i] .. ' ' .. string.format('%.0f', now) .. ' ' .. ARGV[4 * i + 1])
        redis.call('HSET', KEYS[3 * i - 1], 'lgc', ARGV[4 * i])
      end
    end
  end
end
return { now, verdicts }
