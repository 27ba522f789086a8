-- Which command it calls is an argument, or a choice of constants.
local function push(how, list, id)
  return redis.call(how, list, id)
end
push(ARGV[2] == 'front' and 'RPUSH' or 'LPUSH', KEYS[1], ARGV[1])
return redis.call(ARGV[3], KEYS[2]) -- UNDECLARED
