--- list shows the ids in one place of the queue, a page at a time.
---
--- A page begins behind the last id of the page before, which the caller names
--- with its score. In a sorted set that place is found whether or not the id is
--- still there, so an id that stays is shown once, whatever comes and goes.
---
--- In the list of those that wait, from the next to run on, the place is how far
--- from the tail the last page ended. It is put right by looking for the last id
--- among the 1,000 before it, which have moved if jobs were taken since. If it is
--- not there the page begins 1,000 before, and shows some once more.
---
--- Those that wait in groups are listed group by group.
---
--- @memory reads
--- @key meta hash the queue's version
--- @key wait list ids without priority; the next to run is at the tail
--- @key prioritized zset ids with a priority
--- @key delayed zset ids by due time
--- @key active zset ids by the deadline of their lease
--- @key completed zset ids by finishing time
--- @key failed zset ids by finishing time
--- @key quarantine zset ids that cannot be run
--- @key waiting-children zset parents by when their children are next looked for
--- @key grouped zset jobs that wait in their groups: group, place and id
--- @arg set word(wait|prioritized|delayed|active|completed|failed|quarantine|waiting-children|grouped) what is listed
--- @arg order word(rising|falling) from the lowest score on, or from the highest; wait and grouped know only rising
--- @arg limit int how many ids, at most 500
--- @arg begun flag whether there was a page before
--- @arg place int the place of the page before
--- @arg last string what ended the page before
--- @field version meta
--- @reply now ms the server's clock
--- @reply ids records what is there, in order
--- @record ids id string an id; it need not be one that a job can have
--- @record ids score int its score; 0 in wait and grouped
--- @reply place int where this page ended
--- @reply last string what ended it, as the next page is to be told
--- @error EMQARGS the call is malformed
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

local sets = { wait = true, prioritized = true, delayed = true, active = true, completed = true, failed = true, quarantine = true, ['waiting-children'] = true, grouped = true }
if #KEYS ~= 10 or #ARGV ~= 6 or not sets[ARGV[1]] then
  return redis.error_reply('EMQARGS list takes 10 keys and 6 arguments, and the set must be one of the queue')
end
local falling = ARGV[2] == 'falling'
if ARGV[2] ~= 'rising' and (not falling or ARGV[1] == 'wait' or ARGV[1] == 'grouped') then
  return redis.error_reply('EMQARGS the order must be rising or falling, and rising in wait and grouped')
end
if not whole(ARGV[3], 1, 500) or not whole(ARGV[4], 0, 1) or not whole(ARGV[5], -9007199254740991, 9007199254740991) then
  return redis.error_reply('EMQARGS limit must be a whole number from 1 to 500, begun 0 or 1 and place a whole number')
end
local limit = tonumber(ARGV[3])
local begun = ARGV[4] == '1'
local place = tonumber(ARGV[5])
local last = ARGV[6]

-- Whether the id a comes after b, byte by byte as the engine orders them. Lua's
-- own comparison goes by the locale of the server.
local function after(a, b)
  for n = 1, math.min(#a, #b) do
    local x = string.byte(a, n)
    local y = string.byte(b, n)
    if x ~= y then
      return x > y
    end
  end
  return #a > #b
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local ids = {}
if ARGV[1] == 'wait' then
  local from = 0
  if begun and place > 0 then
    from = math.max(place - 1000, 0)
    local before = redis.call('LRANGE', KEYS[2], 0 - place, -1 - from)
    for b = 1, #before do
      if before[b] == last then
        from = from + #before - b + 1
        break
      end
    end
  end
  local page = redis.call('LRANGE', KEYS[2], 0 - from - limit, -1 - from)
  for p = #page, 1, -1 do
    ids[#ids + 1] = page[p]
    ids[#ids + 1] = 0
  end
  return { now, ids, from + #page, page[1] or last }
end
if ARGV[1] == 'grouped' then
  local page = redis.call('ZRANGEBYLEX', KEYS[10], begun and '(' .. last or '-', '+', 'LIMIT', 0, limit)
  for p = 1, #page do
    ids[#ids + 1] = string.match(page[p], '[^|]*$')
    ids[#ids + 1] = 0
    last = page[p]
  end
  return { now, ids, 0, last }
end

local set = ARGV[1] == 'prioritized' and KEYS[3] or ARGV[1] == 'delayed' and KEYS[4] or ARGV[1] == 'active' and KEYS[5]
  or ARGV[1] == 'completed' and KEYS[6] or ARGV[1] == 'failed' and KEYS[7] or ARGV[1] == 'quarantine' and KEYS[8] or KEYS[9]
local rank = 0
if begun then
  -- Among those of the same score, which are in the order of their names, the
  -- place is found by halving.
  rank = redis.call('ZCOUNT', set, '-inf', '(' .. ARGV[5])
  local high = redis.call('ZCOUNT', set, '-inf', ARGV[5])
  for _ = 1, 64 do
    if rank >= high then
      break
    end
    local middle = math.floor((rank + high) / 2)
    local id = redis.call('ZRANGE', set, middle, middle)[1]
    if after(id, last) or (falling and id == last) then
      high = middle
    else
      rank = middle + 1
    end
  end
end
local page
if falling then
  local skipped = begun and redis.call('ZCARD', set) - rank or 0
  page = redis.call('ZREVRANGE', set, skipped, skipped + limit - 1, 'WITHSCORES')
else
  page = redis.call('ZRANGE', set, rank, rank + limit - 1, 'WITHSCORES')
end
for p = 1, #page, 2 do
  place = math.floor(tonumber(page[p + 1]))
  last = page[p]
  ids[#ids + 1] = last
  ids[#ids + 1] = place
end
return { now, ids, place, last }
