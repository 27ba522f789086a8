--- declare enters the contracts of jobs into their queue, and tells which of them
--- another program has declared otherwise.
---
--- A contract is known by its hash, for each version of a job: the first program
--- that declares one enters it, with its name, and others find theirs to be the
--- same or not. One that names the hash that stands there as one that it replaces
--- is entered instead. A job that is named twice in a call meets its own contract.
--- With maxmemory reached nothing is written and the answer is EMQFULL.
---
--- @memory refused
--- @key meta hash the queue's version, and the contracts of its jobs
--- @item name string the job's wire name
--- @item version int the version of its payload
--- @item hash string the hash of its contract, without spaces
--- @item program string what declares it, as people know it
--- @item replaces string hashes that it replaces on purpose, parted by spaces; empty for none
--- @field version meta
--- @field * meta
--- @reply now ms the server's clock
--- @reply results records one per item, in order
--- @record results verdict word(declared|agreed|replaced|conflict) what became of it
--- @record results hash string the hash that stood there, empty for none
--- @record results program string what declared that
--- @error EMQARGS the call is malformed; nothing was written
--- @error EMQVERSION the queue speaks another version of the protocol
--- @error EMQFULL the server has no memory left; nothing was written

-- Whether text is a plain whole number in range.
local function whole(text, low, high)
  local number = string.find(text, '^%-?%d+$') and tonumber(text)
  return number and number >= low and number <= high
end

local count = math.floor(#ARGV / 5)
if #KEYS ~= 1 or count < 1 or #ARGV ~= 5 * count then
  return redis.error_reply('EMQARGS declare takes 1 key, and 5 arguments for each job')
end
local version = redis.call('HGET', KEYS[1], 'version')
if version and version ~= 'echomq:2.0.0' then
  return redis.error_reply('EMQVERSION expected echomq:2.0.0, found ' .. version)
end

local fields = {}
for i = 1, count do
  local a = 5 * (i - 1)
  if not whole(ARGV[a + 2], -9007199254740991, 9007199254740991) then
    return redis.error_reply('EMQARGS version must be a whole number')
  end
  if ARGV[a + 3] == '' or string.find(ARGV[a + 3], ' ', 1, true) then
    return redis.error_reply('EMQARGS hash must be a word')
  end
  fields[i] = 'contract:' .. ARGV[a + 2] .. ':' .. ARGV[a + 1]
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local found = redis.call('HMGET', KEYS[1], unpack(fields))
local entered = {}
local changes = {}
local results = {}
for i = 1, count do
  local a = 5 * (i - 1)
  local stood = entered[fields[i]] or found[i] or ''
  local hash, program = string.match(stood, '^(%S*) ?(.*)$')
  local verdict = 'conflict'
  if hash == ARGV[a + 3] then
    verdict = 'agreed'
  elseif hash == '' then
    verdict = 'declared'
  elseif string.find(' ' .. ARGV[a + 5] .. ' ', ' ' .. hash .. ' ', 1, true) then
    verdict = 'replaced'
  end
  if verdict == 'declared' or verdict == 'replaced' then
    entered[fields[i]] = ARGV[a + 3] .. ' ' .. ARGV[a + 4]
    changes[#changes + 1] = fields[i]
    changes[#changes + 1] = entered[fields[i]]
  end
  results[#results + 1] = verdict
  results[#results + 1] = hash
  results[#results + 1] = program
end

if #changes > 0 then
  local written = redis.pcall('HSET', KEYS[1], 'version', 'echomq:2.0.0', unpack(changes))
  if type(written) == 'table' and written.err then
    if string.find(written.err, 'OOM', 1, true) then
      return redis.error_reply('EMQFULL ' .. written.err)
    end
    return written
  end
end
return { now, results }
