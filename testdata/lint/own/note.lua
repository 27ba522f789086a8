--- note stores a note.
---
--- @memory refused
--- @key meta hash the note
--- @arg text string what is noted
--- @field text meta
--- @reply stored int 1
--- @error EMQARGS the call is malformed

if #KEYS ~= 1 or #ARGV ~= 1 then
  return redis.error_reply('EMQARGS note takes 1 key and 1 argument')
end
redis.call('HSET', KEYS[1], 'text', ARGV[1])
return 1
