local key = KEYS[1]
--- @include "pieces/nowhere"
return redis.call('GET', key)
