--- report reads what jobs have told of themselves: progress and log lines.
---
--- @memory reads
--- @key meta hash the queue's version
--- @each job hash <id> the job
--- @each logs list <id>:logs log lines, the oldest at the head
--- @arg limit int how many lines of each job are read at most, from 0 to 1000
--- @item id id the job's id
--- @item after int the number of a line; those after it are read, the oldest first
--- @field version meta
--- @field name job
--- @field progress job
--- @field lgc job
--- @reply now ms the server's clock
--- @reply results records one per item, in order
--- @record results known flag whether the job exists
--- @record results name string the job's wire name
--- @record results progress bytes the last progress, JSON; empty if there is none
--- @record results logged int the number of the last line; 0 if there is none
--- @record results lines ids log lines: number, time in ms and text, parted by blanks; may begin with some that are not asked for
--- @error EMQARGS the call is malformed
--- @error EMQVERSION the queue speaks another version of the protocol

local version = redis.call('HGET', KEYS[1], 'version')
if version and version ~= 'echomq:2.0.0' then
  return redis.error_reply('EMQVERSION expected echomq:2.0.0, found ' .. version)
end

local function whole(text, low, high)
  local number = string.find(text, '^%-?%d+$') and tonumber(text)
  return number and number >= low and number <= high
end

local count = math.floor((#KEYS - 1) / 2)
if count < 1 or #KEYS ~= 1 + 2 * count or #ARGV ~= 1 + 2 * count or not whole(ARGV[1], 0, 1000) then
  return redis.error_reply('EMQARGS report takes 1 key and a limit from 0 to 1000, then 2 keys and 2 arguments for each job')
end
local limit = tonumber(ARGV[1])
for i = 1, count do
  if not whole(ARGV[1 + 2 * i], 0, 9007199254740991) then
    return redis.error_reply('EMQARGS after must be a whole number from 0')
  end
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local results = {}
for i = 1, count do
  local fields = redis.pcall('HMGET', KEYS[2 * i], 'name', 'progress', 'lgc')
  if fields.err and not string.find(fields.err, 'WRONGTYPE', 1, true) then
    return fields
  end
  if fields.err then
    fields = {}
  end
  local logged = tonumber(fields[3] or 0) or 0
  local lines = {}
  if limit > 0 then
    -- A number may be missing, and then there are fewer lines than numbers: the
    -- page begins with older lines rather than to leave newer ones out.
    local newer = logged - tonumber(ARGV[1 + 2 * i])
    if newer > 0 then
      local first = math.max(redis.call('LLEN', KEYS[2 * i + 1]) - newer, 0)
      lines = redis.call('LRANGE', KEYS[2 * i + 1], first, first + limit - 1)
    end
  end
  local r = #results
  results[r + 1] = fields[1] and 1 or 0
  results[r + 2] = fields[1] or ''
  results[r + 3] = fields[2] or ''
  results[r + 4] = math.floor(logged)
  results[r + 5] = lines
end
return { now, results }
