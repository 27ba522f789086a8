-- A key is chosen in every way that can be followed.
local call = redis.call
local first, second = KEYS[1], KEYS[2]
local target = first
if ARGV[1] == 'second' then
  target = second
end
local function pick(one, other)
  if ARGV[2] then
    return one, ARGV[2]
  end
  return other
end
local function push(how, list, id)
  call(how, list, id)
end
push('LPUSH', target, ARGV[3])
push('RPUSH', pick(first, second), ARGV[3])
local picked, why = pick(KEYS[2], KEYS[3])
call('LREM', picked, 1, ARGV[3])
for i = 1, #KEYS do
  call('EXPIRE', KEYS[i], 60)
end
return call('EXISTS', unpack(KEYS))
