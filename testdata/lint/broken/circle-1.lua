--- @include "pieces/here"
return redis.call('GET', KEYS[1])
