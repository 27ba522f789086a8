-- Of three keys it uses one.
return redis.call('GET', KEYS[2])
