--- @include "deep/nameOfLock"
local function lockTicket(ticket, token)
  local lock = nameOfLock(ticket)
  return redis.call('SET', lock, token, 'NX') -- UNDECLARED
end

-- Nothing calls it, so nothing runs it.
local function unlockTicket(ticket)
  redis.call('DEL', ticket .. ':lock')
end
