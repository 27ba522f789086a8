package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestACL(t *testing.T) {
	t.Parallel()
	status, out, errs := run(t, "acl", "producer", "--queue", "orders", "--queue", "fills,mail")
	require.Equal(t, exitWell, status, errs)
	assert.True(t, strings.HasPrefix(out, "ACL SETUSER emq-producer on resetkeys resetchannels clearselectors -@all +"), out)
	assert.Equal(t, 1, strings.Count(out, "\n"), "the rule alone, for a pipe")
	for _, key := range []string{" ~emq:{orders}:* ", " ~emq:{fills}:* ", " ~emq:{mail}:* ", " %R~bull:mail:meta)"} {
		assert.Contains(t, out, key)
	}
	assert.Equal(t, "# emq-producer may run, on the keys and the control channel of queues orders, fills, mail, the commands of the scripts add, cancel, change, declare, heal, inspect, post, push, replace, report, schedule and of the runtime; on other keys nothing but first contact.\n"+
		"# A new user cannot log in before it has a password: ACL SETUSER emq-producer >PASSWORD. ACL SAVE or CONFIG REWRITE keeps users over a restart.\n", errs)
}

func TestACLOptions(t *testing.T) {
	t.Parallel()
	status, out, errs := run(t, "acl", "worker", "--queue", "orders", "--user", "ann", "--legacy", "v1,old", "--db", "2", "--replica-ack", "--also")
	require.Equal(t, exitWell, status, errs)
	assert.True(t, strings.HasPrefix(out, "ACL SETUSER ann (+"), out)
	for _, word := range []string{" +select|2 ", " +wait ", " (+exists %R~v1:orders:meta %R~old:orders:meta)"} {
		assert.Contains(t, out, word)
	}
}

func TestACLJSON(t *testing.T) {
	t.Parallel()
	status, out, errs := run(t, "acl", "worker", "--queue", "orders", "--json")
	require.Equal(t, exitWell, status)
	assert.Empty(t, errs)
	var printed struct {
		Role, User string
		Queues     []string
		Rule       string
		Arguments  []string
		Grants     []struct{ Commands, Keys, Channels []string }
		Optional   []string
	}
	decoder := json.NewDecoder(strings.NewReader(out))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&printed))
	assert.Equal(t, "worker", printed.Role)
	assert.Equal(t, "emq-worker", printed.User)
	assert.Equal(t, []string{"orders"}, printed.Queues)
	assert.Equal(t, printed.Rule, strings.Join(printed.Arguments, " "))
	require.Len(t, printed.Grants, 4)
	assert.Equal(t, []string{"~emq:{orders}:*"}, printed.Grants[0].Keys)
	assert.Equal(t, []string{"&emq:{orders}:control"}, printed.Grants[0].Channels)
	assert.Equal(t, []string{"info"}, printed.Optional)
	_, text, _ := run(t, "acl", "worker", "--queue", "orders")
	assert.Equal(t, text, printed.Rule+"\n")
}

func TestACLErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args []string
		errs string
	}{
		{nil, "emq: give one role, producer, worker, flow or operator, and the queues after --queue\n"},
		{[]string{"worker", "producer", "--queue", "a"}, "emq: give one role, producer, worker, flow or operator, and the queues after --queue\n"},
		{[]string{"boss", "--queue", "a"}, "emq: unknown role \"boss\"; it is one of producer, worker, flow, operator\n"},
		{[]string{"worker"}, "emq: give one or more queues: --queue NAME\n"},
		{[]string{"worker", "--queue", "emq"}, "emq: queue name \"emq\" is reserved for the protocol's own keys\n"},
		{[]string{"worker", "--queue", "a", "--user", "a b"}, "emq: user name \"a b\": it must not be empty, nor have blanks, quotes, parentheses or backslashes\n"},
	} {
		status, out, errs := run(t, append([]string{"acl"}, test.args...)...)
		assert.Equal(t, exitUnknown, status)
		assert.Empty(t, out)
		assert.Equal(t, test.errs, errs)
	}
}
