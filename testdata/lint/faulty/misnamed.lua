--- named has another name than its file.
---
--- @memory reads
--- @key meta hash the note
--- @field text meta
--- @reply text string the note

if #KEYS ~= 1 then
  return false
end
return redis.call('HGET', KEYS[1], 'text')
