-- The caller says in an argument, or in a stored field, which key it is.
redis.call('DEL', ARGV[1]) -- UNDECLARED
local parent = redis.call('HGET', KEYS[1], 'parent')
if parent then
  redis.call('SREM', parent, ARGV[2]) -- UNDECLARED
end
local members = redis.call('SMEMBERS', KEYS[2])
for i, member in ipairs(members) do
  redis.call('HGETALL', members[i]) -- UNDECLARED
end
return redis.call('GET', 'a constant') -- UNDECLARED
