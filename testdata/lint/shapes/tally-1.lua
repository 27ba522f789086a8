-- The key that it is given is only the beginning of those that it reads.
local sizes = {}
for i = 1, #ARGV do
  local list = KEYS[1] .. ARGV[i]
  sizes[i] = redis.call('LLEN', list) -- UNDECLARED
end
return sizes
