-- Takes an id and locks its ticket: the ticket's key is only known by then.
-- KEYS: 1 open, 2 closed, 3 taken, 4 settings. ARGV: 1 prefix, 2 token.
local call = redis.call

-- Pieces
--- @include "pieces/whereTo"
--- @include "pieces/lockTicket.lua"
--- @include 'pieces/whereTo'

local target = whereTo(KEYS[4], KEYS[1], KEYS[2])
local id = call('RPOPLPUSH', target, KEYS[3])
if not id then
  return false
end
local ticket = ARGV[1] .. id
call('HINCRBY', ticket, 'taken', 1) -- UNDECLARED
call('DEL', unpack({ticket})) -- UNDECLARED
return lockTicket(ticket, ARGV[2])
