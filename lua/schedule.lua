--- schedule sets schedulers: when a job repeats, and what the job is.
---
--- A scheduler that is set as given already stays as it is and is answered "same".
--- One whose slots stay the same keeps its next slot, also if that has passed and
--- waits for a worker. Any other needs a next slot that lies ahead by the server's
--- clock; without one it is answered "wanted", unchanged, and its caller works it
--- out from the clock in the reply. One whose hash something else has replaced is
--- answered "broken"; to remove it is the cure. With maxmemory reached nothing is written and
--- the answer is EMQFULL.
---
--- @memory refused
--- @key meta hash the queue's version, and the earliest slot
--- @key schedulers zset ids of schedulers by their next slot
--- @key marker zset wakes idle workers
--- @each record hash scheduler:<scheduler> the scheduler
--- @item scheduler scheduler the scheduler's id
--- @item revision string a hash over all that follows but the next slot
--- @item next ms the next slot if the present one is no good; 0 for not known yet
--- @item name string the wire name of the job
--- @item cron string the cron expression; empty for an interval
--- @item every ms the interval; 0 for a cron expression
--- @item zone string the time zone of the expression; empty for UTC
--- @item misfire word(once|skip) what comes of slots at which no worker was there
--- @item computed flag whether a worker computes the payload for each slot
--- @item data bytes the encoded payload; empty if it is computed
--- @item codec string the payload's codec; empty for JSON
--- @item version int the payload's version
--- @item opts bytes the jobs' settings, JSON; empty for none
--- @item delay ms how long each job waits after its slot
--- @item priority int the jobs' priority, 0 to 2097151
--- @item limit int how many jobs are added at most; 0 for any number
--- @item end ms the moment after which there are no slots; 0 for none
--- @item group string the jobs' group, as add takes it; empty for none
--- @field version meta
--- @field slot meta
--- @field name record
--- @field cron record
--- @field every record
--- @field tz record
--- @field msf record
--- @field cmp record
--- @field data record
--- @field cdc record
--- @field ver record
--- @field opts record
--- @field delay record
--- @field priority record
--- @field lim record
--- @field end record
--- @field cnt record
--- @field lsl record
--- @field frm record
--- @field rev record
--- @field grp record
--- @reply now ms the server's clock
--- @reply results records one per item, in order
--- @record results verdict word(set|same|wanted|broken) what happened
--- @record results next ms the next slot; 9007199254740991 for none, 0 if it is wanted or broken
--- @error EMQARGS the call is malformed; nothing was written
--- @error EMQVERSION the queue speaks another version of the protocol
--- @error EMQFULL the server has no memory left; nothing was written

local meta = redis.call('HMGET', KEYS[1], 'version', 'slot')
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

local count = #KEYS - 3
if count < 1 or #ARGV ~= 18 * count then
  return redis.error_reply('EMQARGS schedule takes 3 keys, then 1 key and 18 arguments for each scheduler')
end
local ids = {}
local given = {}
for i = 1, count do
  local a = 18 * (i - 1)
  if given[ARGV[a + 1]] then
    return redis.error_reply('EMQARGS a scheduler is set twice')
  end
  given[ARGV[a + 1]] = true
  if ARGV[a + 1] == '' or ARGV[a + 2] == '' or ARGV[a + 4] == '' then
    return redis.error_reply('EMQARGS scheduler, revision and name must not be empty')
  end
  if ARGV[a + 8] ~= 'once' and ARGV[a + 8] ~= 'skip' then
    return redis.error_reply('EMQARGS misfire must be once or skip')
  end
  if not whole(ARGV[a + 3], 0, 9007199254740990) or not whole(ARGV[a + 6], 0, 9007199254740991) or not whole(ARGV[a + 9], 0, 1) then
    return redis.error_reply('EMQARGS next and every must be whole numbers from 0, computed 0 or 1')
  end
  if not whole(ARGV[a + 12], 1, 9007199254740991) or not whole(ARGV[a + 14], 0, 9007199254740991) or not whole(ARGV[a + 15], 0, 2097151) then
    return redis.error_reply('EMQARGS version must be a whole number from 1, delay from 0, and priority from 0 to 2097151')
  end
  if not whole(ARGV[a + 16], 0, 9007199254740991) or not whole(ARGV[a + 17], 0, 9007199254740991) then
    return redis.error_reply('EMQARGS limit and end must be whole numbers from 0')
  end
  if #ARGV[a + 18] > 200 or string.find(ARGV[a + 18], '[^%w._%%~-]') then
    return redis.error_reply('EMQARGS group must be at most 200 letters, digits and ._%~-')
  end
  ids[i] = ARGV[a + 1]
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local slots = redis.call('ZMSCORE', KEYS[2], unpack(ids))
local verdicts = {}
local nexts = {}
local set = {}
local broken = {}
for i = 1, count do
  local a = 18 * (i - 1)
  local fields = redis.pcall('HMGET', KEYS[3 + i], 'rev', 'cron', 'every', 'tz', 'end')
  if fields.err and not string.find(fields.err, 'WRONGTYPE', 1, true) then
    return fields
  end
  if fields.err then
    fields = {}
    broken[i] = true
  end
  local present = slots[i] and math.floor(tonumber(slots[i]))
  local timed = fields[2] == ARGV[a + 5] and fields[3] == ARGV[a + 6] and fields[4] == ARGV[a + 7] and fields[5] == ARGV[a + 17]
  verdicts[i] = 'set'
  if broken[i] then
    verdicts[i] = 'broken'
    nexts[i] = 0
  elseif present and fields[1] == ARGV[a + 2] then
    verdicts[i] = 'same'
    nexts[i] = present
  elseif present and timed and present < 9007199254740991 then
    nexts[i] = present
  elseif tonumber(ARGV[a + 3]) > now then
    nexts[i] = tonumber(ARGV[a + 3])
  else
    verdicts[i] = 'wanted'
    nexts[i] = 0
  end
  if verdicts[i] == 'set' then
    set[#set + 1] = nexts[i]
    set[#set + 1] = ids[i]
  end
end

if #set > 0 then
  -- The engine refuses the first write if it has no memory left, and no later
  -- one; so that is where its error is told from others and passed on.
  local written = redis.pcall('ZADD', KEYS[2], unpack(set))
  if type(written) == 'table' and written.err then
    if string.find(written.err, 'OOM', 1, true) then
      return redis.error_reply('EMQFULL ' .. written.err)
    end
    return written
  end
  for i = 1, count do
    local a = 18 * (i - 1)
    if verdicts[i] == 'set' then
      redis.call('HSET', KEYS[3 + i], 'rev', ARGV[a + 2], 'name', ARGV[a + 4], 'cron', ARGV[a + 5], 'every', ARGV[a + 6],
        'tz', ARGV[a + 7], 'msf', ARGV[a + 8], 'cmp', ARGV[a + 9], 'data', ARGV[a + 10], 'cdc', ARGV[a + 11],
        'ver', ARGV[a + 12], 'opts', ARGV[a + 13], 'delay', ARGV[a + 14], 'priority', ARGV[a + 15],
        'lim', ARGV[a + 16], 'end', ARGV[a + 17], 'cnt', 0, 'lsl', 0, 'frm', 0, 'grp', ARGV[a + 18])
    end
  end
  redis.call('HSET', KEYS[1], 'version', 'echomq:2.0.0')
  local soonest = math.floor(tonumber(redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2]))
  redis.call('HSET', KEYS[1], 'slot', soonest)
  if not meta[2] or soonest < tonumber(meta[2]) then
    redis.call('ZADD', KEYS[3], 1, '~due')
  end
end

local results = {}
for i = 1, count do
  results[#results + 1] = verdicts[i]
  results[#results + 1] = nexts[i]
end
return { now, results }
