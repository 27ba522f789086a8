--- clock notes what is not a key of its header, and more than that.
---
--- @memory refused
--- @key meta hash the note
--- @field time meta
--- @reply stored int 1
--- @error EMQARGS the call is malformed

if #KEYS ~= 1 then
  return redis.error_reply('EMQARGS clock takes 1 key')
end
redis.call('HSET', KEYS[1], 'time', os.time())
redis.call('DEL', KEYS[1] .. ':old') -- UNDECLARED
return 1
