-- One function is called with a key and with something else.
local function size(list)
  return redis.call('LLEN', list) -- UNDECLARED
end
return size(KEYS[1]) + size(KEYS[2]) + size('elsewhere')
