package script_test

// limitMutations are faults in what the scripts do about limits and rates.
var limitMutations = []mutation{
	{"pick", "reserved jobs do not count", "cap - redis.call('ZCARD', KEYS[6])", "cap - redis.call('ZCARD', KEYS[6]) + redis.call('HLEN', KEYS[7])"},
	{"pick", "the limit is not kept", "if cap > 0 and want > 0 then", "if false then"},
	{"pick", "a fixed limit gives way", "ARGV[12] == '0' and meta[4] == 'none'", "meta[4] == 'none'"},
	{"pick", "an override of the rate does not count", "tokens = tonumber(many)", ""},
	{"pick", "a reserved job has no token", "  if fresh[crowded[c]] then\n    spent = spent + 1", "  if fresh[crowded[c]] then\n    spent = spent"},
	{"pick", "a token is taken twice", "if not redeemed[i] then\n          spent", "if true then\n          spent"},
	{"pick", "the bucket has no bottom", "math.min(room, math.floor(stock / interval))", "room"},
	{"pick", "the bucket does not fill", "math.min(math.max(now - tonumber(bucket[3]), 0), interval) * tokens", "0"},
	{"pick", "the bucket overflows", "math.min(stock, math.max(tokens - redis.call('HLEN', KEYS[7]), 0) * interval)", "stock"},
	{"pick", "what is reserved leaves room in the bucket", "tokens - redis.call('HLEN', KEYS[7])", "tokens"},
	{"pick", "another interval is not converted", "if unit ~= interval then", "if false then"},
	{"pick", "a blocked queue wakes workers", "if #upcoming > 0 and blocked == 'no' then", "if #upcoming > 0 then"},
	{"pick", "all look for the next token", "if spent == 0 and told and now < told and told <= ready then", "if false then"},
	{"pick", "nobody takes over who is late", "told and now < told and", "told and"},
	{"pick", "an override is not told of", "(cap > 0 or tokens > 0 or perGroup > 0) and 1 or 0", "(tonumber(ARGV[11]) > 0 or tokens > 0 or perGroup > 0) and 1 or 0"},
	{"pick", "a limit of groups is not told of", "(cap > 0 or tokens > 0 or perGroup > 0) and 1 or 0", "(cap > 0 or tokens > 0) and 1 or 0"},
	{"pick", "it stays blocked", "redis.call('HDEL', KEYS[1], 'blocked')", ""},

	{"settle", "the limit is not opened", "redis.call('HDEL', KEYS[1], 'blocked')", ""},
	{"settle", "nobody is woken for the slot", "elseif (opened or opening", "elseif (opening"},
	{"recover", "the limit is not opened", "redis.call('HDEL', KEYS[1], 'blocked')", ""},
	{"complete", "nobody is woken when there is room again", "opened and not stopped and", "false and"},
	{"recover", "nobody is woken for the slot", "elseif (opened or freed", "elseif (freed"},
	{"add", "wakes a worker of a blocked queue", "or meta[3] == 'limit' or", "or"},
	{"add", "the time that a worker waits for does not pass", "now < (tonumber(meta[3]) or 0)", "tonumber(meta[3])"},
	{"promote", "wakes a worker of a blocked queue", "or meta[3] == 'limit' or", "or"},
	{"override", "the limit is not set", "redis.call('HSET', KEYS[1], 'limit', ARGV[1])", ""},
	{"override", "the limit is not cleared", "redis.call('HDEL', KEYS[1], 'limit')", ""},
	{"override", "nobody is woken", "redis.call('ZADD', KEYS[4], 0, head)", ""},
}
