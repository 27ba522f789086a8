--- @include "<base>/pieces/here"
return redis.call('GET', KEYS[1])
