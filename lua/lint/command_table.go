package lint

// The commands, as COMMAND of Valkey 8 describes them, but for blocking ones and
// those that no script can call. Columns: name, arity, first key, last key, step;
// effect; type of the key; and where there are any, "numkeys=" the operand that
// counts the keys, "fields=" the first operand that is a field, "/" and from
// there each how manieth is.
//
// Where a form of a command is newer than Redis 7.0, the arity leaves it out.
//
// allowedCommands are those that mean the same on every engine that the protocol
// runs on, the embedded one included.
const allowedCommands = `
COPY             -3 1  2 1 grows any
DECR              2 1  1 1 grows string
DECRBY            3 1  1 1 grows string
DEL              -2 1 -1 1 frees any
EXISTS           -2 1 -1 1 reads any
EXPIRE           -3 1  1 1 frees any
EXPIREAT         -3 1  1 1 frees any
GET               2 1  1 1 reads string
GETDEL            2 1  1 1 frees string
GETEX            -2 1  1 1 frees string
GETRANGE          4 1  1 1 reads string
HDEL             -3 1  1 1 frees hash   fields=2/1
HEXISTS           3 1  1 1 reads hash   fields=2
HGET              3 1  1 1 reads hash   fields=2
HGETALL           2 1  1 1 reads hash
HINCRBY           4 1  1 1 grows hash   fields=2
HKEYS             2 1  1 1 reads hash
HLEN              2 1  1 1 reads hash
HMGET            -3 1  1 1 reads hash   fields=2/1
HSCAN            -3 1  1 1 reads hash
HSET             -4 1  1 1 grows hash   fields=2/2
HSETNX            4 1  1 1 grows hash   fields=2
HSTRLEN           3 1  1 1 reads hash   fields=2
HVALS             2 1  1 1 reads hash
INCR              2 1  1 1 grows string
INCRBY            3 1  1 1 grows string
LINDEX            3 1  1 1 reads list
LINSERT           5 1  1 1 grows list
LLEN              2 1  1 1 reads list
LMOVE             5 1  2 1 grows list
LPOP             -2 1  1 1 frees list
LPOS             -3 1  1 1 reads list
LPUSH            -3 1  1 1 grows list
LPUSHX           -3 1  1 1 grows list
LRANGE            4 1  1 1 reads list
LREM              4 1  1 1 frees list
LSET              4 1  1 1 grows list
LTRIM             4 1  1 1 frees list
MGET             -2 1 -1 1 reads string
MSET             -3 1 -1 2 grows string
PERSIST           2 1  1 1 frees any
PEXPIRE          -3 1  1 1 frees any
PEXPIREAT        -3 1  1 1 frees any
PTTL              2 1  1 1 reads any
PUBLISH           3 0  0 0 reads any
RPOP             -2 1  1 1 frees list
RPOPLPUSH         3 1  2 1 grows list
RPUSH            -3 1  1 1 grows list
RPUSHX           -3 1  1 1 grows list
SADD             -3 1  1 1 grows set
SCARD             2 1  1 1 reads set
SET              -3 1  1 1 grows string
SETEX             4 1  1 1 grows string
SETNX             3 1  1 1 grows string
SISMEMBER         3 1  1 1 reads set
SMEMBERS          2 1  1 1 reads set
SMISMEMBER       -3 1  1 1 reads set
SMOVE             4 1  2 1 frees set
SPOP             -2 1  1 1 frees set
SREM             -3 1  1 1 frees set
SSCAN            -3 1  1 1 reads set
STRLEN            2 1  1 1 reads string
TIME              1 0  0 0 reads any
TTL               2 1  1 1 reads any
TYPE              2 1  1 1 reads any
UNLINK           -2 1 -1 1 frees any
XADD             -5 1  1 1 grows stream
XDEL             -3 1  1 1 frees stream
XLEN              2 1  1 1 reads stream
XRANGE           -4 1  1 1 reads stream
XREVRANGE        -4 1  1 1 reads stream
XTRIM            -4 1  1 1 frees stream
ZADD             -4 1  1 1 grows zset
ZCARD             2 1  1 1 reads zset
ZCOUNT            4 1  1 1 reads zset
ZINCRBY           4 1  1 1 grows zset
ZLEXCOUNT         4 1  1 1 reads zset
ZMSCORE          -3 1  1 1 reads zset
ZPOPMAX          -2 1  1 1 frees zset
ZPOPMIN          -2 1  1 1 frees zset
ZRANGE           -4 1  1 1 reads zset
ZRANGEBYLEX      -4 1  1 1 reads zset
ZRANGEBYSCORE    -4 1  1 1 reads zset
ZRANK             3 1  1 1 reads zset
ZREM             -3 1  1 1 frees zset
ZREMRANGEBYLEX    4 1  1 1 frees zset
ZREMRANGEBYRANK   4 1  1 1 frees zset
ZREMRANGEBYSCORE  4 1  1 1 frees zset
ZREVRANGE        -4 1  1 1 reads zset
ZREVRANGEBYSCORE -4 1  1 1 reads zset
ZREVRANK          3 1  1 1 reads zset
ZSCAN            -3 1  1 1 reads zset
ZSCORE            3 1  1 1 reads zset
`

// otherCommands are here so that the keys of foreign scripts can be told.
const otherCommands = `
APPEND                3 1  1 1 grows string
BITCOUNT             -2 1  1 1 reads string
BITFIELD             -2 1  1 1 grows string
BITFIELD_RO          -2 1  1 1 reads string
BITOP                -4 2 -1 1 grows string
BITPOS               -3 1  1 1 reads string
DBSIZE                1 0  0 0 reads any
DUMP                  2 1  1 1 reads any
ECHO                  2 0  0 0 reads any
EXPIRETIME            2 1  1 1 reads any
GEOADD               -5 1  1 1 grows zset
GEODIST              -4 1  1 1 reads zset
GEOHASH              -2 1  1 1 reads zset
GEOPOS               -2 1  1 1 reads zset
GEORADIUS_RO         -6 1  1 1 reads zset
GEORADIUSBYMEMBER_RO -5 1  1 1 reads zset
GEOSEARCH            -7 1  1 1 reads zset
GEOSEARCHSTORE       -8 1  2 1 grows zset
GETBIT                3 1  1 1 reads string
GETSET                3 1  1 1 grows string
HINCRBYFLOAT          4 1  1 1 grows hash   fields=2
HMSET                -4 1  1 1 grows hash   fields=2/2
HRANDFIELD           -2 1  1 1 reads hash
INCRBYFLOAT           3 1  1 1 grows string
INFO                 -1 0  0 0 reads any
KEYS                  2 0  0 0 reads any
LCS                  -3 1  2 1 reads string
LMPOP                -4 0  0 0 frees list   numkeys=1
MOVE                  3 1  1 1 frees any
MSETNX               -3 1 -1 2 grows string
PEXPIRETIME           2 1  1 1 reads any
PFADD                -2 1  1 1 grows string
PFCOUNT              -2 1 -1 1 reads string
PFMERGE              -2 1 -1 1 grows string
PING                 -1 0  0 0 reads any
PSETEX                4 1  1 1 grows string
RANDOMKEY             1 0  0 0 reads any
RENAME                3 1  2 1 frees any
RENAMENX              3 1  2 1 frees any
RESTORE              -4 1  1 1 grows any
SCAN                 -2 0  0 0 reads any
SDIFF                -2 1 -1 1 reads set
SDIFFSTORE           -3 1 -1 1 grows set
SETBIT                4 1  1 1 grows string
SETRANGE              4 1  1 1 grows string
SINTER               -2 1 -1 1 reads set
SINTERCARD           -3 0  0 0 reads set    numkeys=1
SINTERSTORE          -3 1 -1 1 grows set
SPUBLISH              3 1  1 1 reads any
SRANDMEMBER          -2 1  1 1 reads set
SUBSTR                4 1  1 1 reads string
SUNION               -2 1 -1 1 reads set
SUNIONSTORE          -3 1 -1 1 grows set
TOUCH                -2 1 -1 1 reads any
XACK                 -4 1  1 1 frees stream
XAUTOCLAIM           -6 1  1 1 frees stream
XCLAIM               -6 1  1 1 frees stream
XPENDING             -3 1  1 1 reads stream
XSETID               -3 1  1 1 grows stream
ZDIFF                -3 0  0 0 reads zset   numkeys=1
ZDIFFSTORE           -4 1  1 1 grows zset   numkeys=2
ZINTER               -3 0  0 0 reads zset   numkeys=1
ZINTERCARD           -3 0  0 0 reads zset   numkeys=1
ZINTERSTORE          -4 1  1 1 grows zset   numkeys=2
ZMPOP                -4 0  0 0 frees zset   numkeys=1
ZRANDMEMBER          -2 1  1 1 reads zset
ZRANGESTORE          -5 1  2 1 grows zset
ZREVRANGEBYLEX       -4 1  1 1 reads zset
ZUNION               -3 0  0 0 reads zset   numkeys=1
ZUNIONSTORE          -4 1  1 1 grows zset   numkeys=2
`
