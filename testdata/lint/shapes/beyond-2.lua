-- It uses a key more than its name declares.
redis.call('SET', KEYS[1], ARGV[1])
redis.call('SET', KEYS[2], ARGV[1])
return redis.call('DEL', KEYS[3]) -- UNDECLARED
