package acl_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/lua"
	"github.com/echomq/echomq-go/runtime/acl"
	"github.com/echomq/echomq-go/runtime/wire"
)

func queues(t *testing.T, names ...string) []wire.Queue {
	t.Helper()
	var found []wire.Queue
	for _, name := range names {
		queue, err := wire.ParseQueue(name)
		require.NoError(t, err)
		found = append(found, queue)
	}
	return found
}

func ruleFor(t *testing.T, request acl.Request) acl.Rule {
	t.Helper()
	rule, err := acl.RuleFor(request)
	require.NoError(t, err)
	return rule
}

func TestRuleOfAProducer(t *testing.T) {
	t.Parallel()
	rule := ruleFor(t, acl.Request{Role: acl.Producer, User: "shop", Queues: queues(t, "a", "b"), Legacy: []string{"bull", "x*[y]?"}})
	assert.Equal(t, "ACL SETUSER shop on resetkeys resetchannels clearselectors -@all"+
		" +asking +client|setname +cluster|slots +command +evalsha +exists +hdel +hget +hincrby +hmget +hset +incrby +lindex +llen +lpush"+
		" +lrange +ping +publish +sadd +script|load +time +xadd +xrange +xread +xrevrange +zadd +zmscore +zrange +zrangebylex +zrem +zremrangebyscore +zscore ~emq:{a}:* ~emq:{b}:*"+
		" &emq:{a}:control &emq:{b}:control"+
		" (+get +setnx ~emq:{emq}:version) (+sadd %W~emq:{emq}:queues)"+
		` (+exists %R~bull:a:meta %R~x\*\[y\]\?:a:meta %R~bull:b:meta %R~x\*\[y\]\?:b:meta)`, rule.String())
	assert.Contains(t, rule.Args(), "(+sadd %W~emq:{emq}:queues)", "a selector is one word")
}

func TestRuleOfAWorker(t *testing.T) {
	t.Parallel()
	rule := ruleFor(t, acl.Request{Role: acl.Worker, User: "emq-worker", Queues: queues(t, "a")})
	assert.Equal(t, "ACL SETUSER emq-worker on resetkeys resetchannels clearselectors -@all"+
		" +asking +bzpopmin +client|setname +cluster|slots +command +del +evalsha +exists +hdel +hget +hgetall +hincrby +hlen +hmget"+
		" +hscan +hset +hstrlen +incrby +info +lindex +lpush +lrange +ltrim +mget +mset +pexpire +ping +rpop +rpush +script|load +subscribe +time"+
		" +xadd +zadd +zcard +zmscore +zpopmin +zrange +zrangebylex +zrangebyscore +zrem +zrevrank +zscore ~emq:{a}:* &emq:{a}:control"+
		" (+get +setnx ~emq:{emq}:version) (+sadd %W~emq:{emq}:queues)", rule.String(), "without legacy prefixes there is no such key")
}

func TestRuleOfAnOperatorHasBoth(t *testing.T) {
	t.Parallel()
	both := ruleFor(t, acl.Request{Role: acl.Operator, User: "ann", Queues: queues(t, "a"), Legacy: []string{"bull"}})
	for _, role := range []acl.Role{acl.Producer, acl.Worker, acl.Flow} {
		for i, grant := range ruleFor(t, acl.Request{Role: role, User: "ann", Queues: queues(t, "a"), Legacy: []string{"bull"}}).Grants {
			assert.Subset(t, both.Grants[i].Commands, grant.Commands)
		}
	}
	assert.Contains(t, both.String(), "(+sadd +smembers +srem ~emq:{emq}:queues)")
	assert.NotContains(t, both.String(), "+@")
}

func TestRuleThatAdds(t *testing.T) {
	t.Parallel()
	rule := ruleFor(t, acl.Request{Role: acl.Producer, User: "emq-worker", Queues: queues(t, "mail"), Also: true})
	args := rule.Args()
	assert.Equal(t, []string{"ACL", "SETUSER", "emq-worker"}, args[:3])
	for _, selector := range args[3:] {
		assert.Regexp(t, `^\(\+.*~[^ ]+( &[^ ]+)?\)$`, selector)
	}
	assert.Contains(t, rule.String(), "+zscore ~emq:{mail}:* &emq:{mail}:control) (+get")
}

func TestRightsOfOptions(t *testing.T) {
	t.Parallel()
	request := acl.Request{Role: acl.Producer, User: "shop", Queues: queues(t, "a")}
	plain := ruleFor(t, request).Grants[0].Commands
	request.Database, request.ReplicaAck = 3, true
	var more []string
	for _, command := range ruleFor(t, request).Grants[0].Commands {
		if !slices.Contains(plain, command) {
			more = append(more, command)
		}
	}
	assert.Equal(t, []string{"exec", "multi", "persist", "pexpire", "select|3", "wait"}, more)
}

func TestRequestsThatMakeNoRule(t *testing.T) {
	t.Parallel()
	for wrong, request := range map[string]acl.Request{
		`unknown role "boss"; it is one of producer, worker, flow, operator`: {Role: "boss", User: "x", Queues: queues(t, "a")},
		"at least one queue":                   {Role: acl.Worker, User: "x"},
		`user name ""`:                         {Role: acl.Worker, Queues: queues(t, "a")},
		`user name "x on"`:                     {Role: acl.Worker, User: "x on", Queues: queues(t, "a")},
		`user name "x\n"`:                      {Role: acl.Worker, User: "x\n", Queues: queues(t, "a")},
		`legacy prefix "a b"`:                  {Role: acl.Worker, User: "x", Queues: queues(t, "a"), Legacy: []string{"a b"}},
		`legacy prefix "a)"`:                   {Role: acl.Worker, User: "x", Queues: queues(t, "a"), Legacy: []string{"a)"}},
		"database -1: it must not be negative": {Role: acl.Worker, User: "x", Queues: queues(t, "a"), Database: -1},
	} {
		_, err := acl.RuleFor(request)
		assert.ErrorContains(t, err, wrong)
	}
}

// TestEveryScriptHasARole holds that no script is forgotten.
func TestEveryScriptHasARole(t *testing.T) {
	t.Parallel()
	var all []string
	for _, script := range lua.All() {
		all = append(all, script.Name)
	}
	assert.Equal(t, all, acl.Operator.Scripts())
	var shared []string
	for _, script := range acl.Producer.Scripts() {
		if slices.Contains(acl.Worker.Scripts(), script) {
			shared = append(shared, script)
		}
	}
	assert.Equal(t, []string{"declare", "schedule"}, shared, "each other one is of one program")
}

func TestTableIsWellFormed(t *testing.T) {
	t.Parallel()
	for _, command := range acl.Operator.Commands(true) {
		assert.Equal(t, strings.ToLower(command.Name), command.Name)
		assert.NotEmpty(t, command.Roles, command.Name)
		assert.NotEmpty(t, command.Why, command.Name)
	}
	for _, grant := range ruleFor(t, acl.Request{Role: acl.Operator, User: "x", Queues: queues(t, "a"), Legacy: []string{"bull"}}).Grants {
		assert.NotEmpty(t, grant.Commands)
		for _, key := range grant.Keys {
			assert.Regexp(t, `^(%[RW])?~.`, key, "the table says what is done to it")
		}
	}
}
