package echomq_test

import (
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/acl"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
	"github.com/echomq/echomq-go/runtime/wire"
)

// usersVariable, set to anything, makes the clients of all fixtures users with
// no more rights than `emq acl` gives: programs are producers and workers of the
// test's queues, and what the tests do to a queue by hand an operator does.
const usersVariable = "EMQ_USERS"

const userPassword = "secret"

// asUsers reports whether the fixture's clients are users of their own.
func (f *fixture) asUsers() bool { return os.Getenv(usersVariable) != "" && !f.engine.Embedded() }

// programStore returns what programs of the fixture's queue call.
func (f *fixture) programStore(t *testing.T) redis.UniversalClient {
	t.Helper()
	return f.storeOf(t, "program", acl.Producer, acl.Worker, acl.Flow)
}

// operator returns the client of those who look after the fixture's queue.
func (f *fixture) operator(t *testing.T) *echomq.Client {
	t.Helper()
	if !f.asUsers() {
		return f.client
	}
	return f.newClient(t, f.storeOf(t, "operator", acl.Operator))
}

// admin returns the fixture's queue as an operator has it.
func (f *fixture) admin(t *testing.T) *echomq.Queue {
	t.Helper()
	return f.queueThrough(t, f.operator(t))
}

// storeOf returns the store as a user of the test's has it, with the rights of
// roles on the fixture's queue, beside those on other queues of the test.
func (f *fixture) storeOf(t *testing.T, who string, roles ...acl.Role) redis.UniversalClient {
	t.Helper()
	if !f.asUsers() {
		return f.store
	}
	user := who + "/" + strings.Map(func(r rune) rune {
		if strings.ContainsRune("'\"()\\ ", r) {
			return '_'
		}
		return r
	}, t.Name())
	for _, server := range f.engine.Servers(t) {
		change(t, server, user, "on")
		for _, role := range roles {
			setUser(t, server, acl.Request{Role: role, User: user, Queues: []wire.Queue{f.queue}, Also: true})
		}
	}
	return f.engine.Store(t, enginetest.User(user, userPassword))
}

// setUser makes a user with exactly the rule that was asked for, and a password.
func setUser(t *testing.T, admin redis.UniversalClient, request acl.Request) {
	t.Helper()
	if request.Legacy == nil {
		request.Legacy = []string{"bull"}
	}
	rule, err := acl.RuleFor(request)
	require.NoError(t, err)
	// As the command line client sends what emq acl prints.
	words := append(strings.Fields(rule.String()), ">"+userPassword)
	args := make([]any, len(words))
	for i, word := range words {
		args[i] = word
	}
	require.NoError(t, admin.Do(t.Context(), args...).Err())
}

// change changes a user's rights.
func change(t *testing.T, admin redis.UniversalClient, user string, words ...any) {
	t.Helper()
	require.NoError(t, admin.Do(t.Context(), append([]any{"acl", "setuser", user}, words...)...).Err())
}

// clientAs returns a client that is authenticated as a user.
func clientAs(t *testing.T, options *redis.Options, user string) *redis.Client {
	t.Helper()
	options.Username, options.Password = user, userPassword
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// recorder notes what goes through a proxy.
type recorder struct {
	*enginetest.Proxy

	mu   sync.Mutex
	sent [][]string
}

func newRecorder(t *testing.T, e *enginetest.Engine) *recorder {
	t.Helper()
	r := &recorder{Proxy: enginetest.NewProxy(t, e)}
	r.CutBeforeRequest(func(command []string) bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.sent = append(r.sent, slices.Clone(command[:min(len(command), 40)]))
		return false
	})
	return r
}

func (r *recorder) commands() [][]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.sent)
}

// rightOf returns the name of a command as rules have it, and its first key.
func rightOf(command []string) (name, key string) {
	name = strings.ToLower(command[0])
	switch name {
	case "script", "client", "cluster", "acl":
		return name + "|" + strings.ToLower(command[1]), ""
	case "evalsha":
		return name, command[3]
	case "xread":
		return name, command[slices.Index(command, "streams")+1]
	case "time", "info", "ping", "multi", "exec", "wait":
		return name, ""
	}
	return name, command[1]
}

// place returns where a key lies.
func place(key string) acl.Place {
	switch {
	case key == "":
		return acl.NoKey
	case key == wire.StoreVersionKey:
		return acl.StoreVersion
	case key == wire.StoreQueuesKey:
		return acl.StoreQueues
	case strings.HasSuffix(key, ":control"):
		return acl.Control
	case strings.HasPrefix(key, "bull:"):
		return acl.LegacyMeta
	}
	return acl.Queue
}

// requireTable requires that what a role has sent is what the table says: no
// less, and no more.
func (r *recorder) requireTable(t *testing.T, role acl.Role) {
	t.Helper()
	type right struct {
		name string
		on   acl.Place
	}
	sent := map[right]bool{}
	for _, command := range r.commands() {
		if name, key := rightOf(command); name != "hello" {
			sent[right{name, place(key)}] = true
		}
	}
	listed := map[right]bool{}
	for _, command := range role.Commands(false) {
		one := right{command.Name, command.On}
		listed[one] = true
		assert.True(t, sent[one] || command.Sometimes, "the table has %s for a %s, which does not send it (on place %d)", one.name, role, one.on)
	}
	for one := range sent {
		assert.True(t, listed[one], "a %s sends %s, which the table lacks (on place %d)", role, one.name, one.on)
	}
}

// roles is a store in which a producer and a worker have users of their own, for
// two queues.
type roles struct {
	*fixture // its producer is the one user, its client the other
	second   *fixture
	// asProducer and asWorker are the ways of these users to the store.
	asProducer, asWorker *recorder
	producerStore        *redis.Client
	workerStore          *redis.Client
	producing            *echomq.Client
}

func eachRoles(t *testing.T, test func(t *testing.T, r *roles)) {
	t.Helper()
	t.Parallel()
	enginetest.EachPrivate(t, func(t *testing.T, e *enginetest.Engine) {
		f := newFixture(t, e)
		second := newFixture(t, e)
		r := &roles{fixture: f, second: second, asProducer: newRecorder(t, e), asWorker: newRecorder(t, e)}
		queues := []wire.Queue{f.queue, second.queue}
		setUser(t, f.store, acl.Request{Role: acl.Producer, User: "emq-producer", Queues: queues})
		setUser(t, f.store, acl.Request{Role: acl.Worker, User: "emq-worker", Queues: queues})
		r.producerStore = clientAs(t, r.asProducer.Options(), "emq-producer")
		r.workerStore = clientAs(t, r.asWorker.Options(), "emq-worker")
		r.producing = f.newClient(t, r.producerStore)
		f.client = f.newClient(t, r.workerStore)
		second.client = f.client
		f.producer = echomq.NewProducer(r.producing, f.spec)
		second.producer = echomq.NewProducer(r.producing, second.spec)
		test(t, r)
	})
}

// requireNoRefusal requires that the engine has refused nothing to anybody.
func (r *roles) requireNoRefusal(t *testing.T) {
	t.Helper()
	log, err := r.store.Do(r.ctx, "acl", "log").Slice()
	require.NoError(t, err)
	assert.Empty(t, log)
}
