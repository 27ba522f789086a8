package echomq_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

// requirePermission requires that an error is of a right that is missing and
// tells which, and the rule.
func requirePermission(t *testing.T, err error, right, rule string) {
	t.Helper()
	require.ErrorIs(t, err, echomq.ErrPermission)
	var failure *echomq.StoreError
	require.ErrorAs(t, err, &failure)
	assert.Contains(t, failure.Error(), "no right to "+right)
	assert.Contains(t, failure.Advice, "`emq acl "+rule+"`")
}

func TestMissingRightOfAProducerIsNamed(t *testing.T) {
	eachRoles(t, func(t *testing.T, r *roles) {
		const user = "emq-producer"
		name, base := r.spec.Name, r.queue.Key("")
		rule := "producer --queue " + name
		// It says nothing of its contract, so nothing comes before add.
		job := r.greet(func(s *echomq.JobSpec) { s.Contract = echomq.ContractSpec{} })
		add := func() error {
			_, err := echomq.Enqueue(r.ctx, r.producer, job, greeting{"Ada"})
			return err
		}
		// A client makes the first contact once, so these come before.
		change(t, r.store, user, "-hmget")
		requirePermission(t, add(), "run HMGET: NOPERM", rule)
		change(t, r.store, user, "+hmget", "clearselectors")
		requirePermission(t, add(), "EXISTS the key bull:"+name+":meta: NOPERM", rule)
		change(t, r.store, user, "-exists")
		requirePermission(t, add(), "run EXISTS: NOPERM", rule)
		change(t, r.store, user, "+exists", "+get", "+setnx", "+sadd")
		change(t, r.store, user, "(+exists ~bull:*)")
		requirePermission(t, add(), "GET the key emq:{emq}:version: NOPERM", rule)
		change(t, r.store, user, "%R~emq:{emq}:version")
		requirePermission(t, add(), "SETNX the key emq:{emq}:version: NOPERM", rule)
		change(t, r.store, user, "~emq:{emq}:*", "-script|load")
		requirePermission(t, add(), "run SCRIPT|LOAD: NOPERM", rule)
		change(t, r.store, user, "+script|load", "-evalsha")
		requirePermission(t, add(), "run EVALSHA: NOPERM", rule)
		change(t, r.store, user, "+evalsha", "-hset")
		// The script catches this error, and hands it on without its line.
		caught := map[enginetest.Kind]string{enginetest.Valkey: "HSET", enginetest.Redis: "a command"}[r.engine.Kind]
		requirePermission(t, add(), "run "+caught+" (push.lua)", rule)
		change(t, r.store, user, "(+hset ~elsewhere)")
		requirePermission(t, add(), "touch the key of a command (push.lua)", rule)
		change(t, r.store, user, "+hset", "-lpush")
		requirePermission(t, add(), "run LPUSH KEYS[2] (line ", rule)
		change(t, r.store, user, "(+lpush ~elsewhere)")
		requirePermission(t, add(), "touch the key of LPUSH KEYS[2] (line ", rule)
		change(t, r.store, user, "+lpush")
		require.NoError(t, add())

		change(t, r.store, user, "-hset")
		_, err := echomq.Enqueue(r.ctx, r.producer, r.greet(), greeting{"Ada"})
		requirePermission(t, err, "touch the key of a command (declare.lua)", rule)
		change(t, r.store, user, "+hset")

		// A record that may not be read is not a damaged one.
		handle := r.enqueue(t, "Ada")
		_, err = handle.Info(r.ctx)
		require.ErrorIs(t, err, echomq.ErrPermission, "that is for operators")
		change(t, r.store, user, "-hmget")
		_, err = handle.State(r.ctx)
		require.ErrorIs(t, err, echomq.ErrPermission)
		_, err = handle.Progress(r.ctx)
		require.ErrorIs(t, err, echomq.ErrPermission)
		change(t, r.store, user, "+hmget")

		change(t, r.store, user, "-xrevrange")
		_, err = handle.Await(r.ctx)
		require.ErrorIs(t, err, echomq.ErrPermission)
		assert.ErrorContains(t, err, "`emq acl producer --queue NAME`")
		change(t, r.store, user, "+xrevrange", "resetkeys")
		requirePermission(t, add(), "touch the keys "+base+"*: NOPERM", rule)
		_, err = handle.State(r.ctx)
		requirePermission(t, err, "touch the keys "+base+"*: NOPERM", rule)
	})
}

// matching is the writer of a log that signals the first line with a text.
type matching struct {
	text  string
	found chan string
}

func (m matching) Write(line []byte) (int, error) {
	if strings.Contains(string(line), m.text) {
		select {
		case m.found <- string(line):
		default:
		}
	}
	return len(line), nil
}

func TestMissingRightOfAWorkerIsNamed(t *testing.T) {
	eachRoles(t, func(t *testing.T, r *roles) {
		const user = "emq-worker"
		rule := "`emq acl worker --queue " + r.spec.Name + "`"
		job := r.enqueue(t, "Ada")

		log := matching{text: "pick failed", found: make(chan string, 1)}
		r.client = r.newClient(t, r.workerStore, echomq.WithLogger(slog.New(slog.NewTextHandler(log, nil))))
		w, err := echomq.NewWorker(r.client, nil, echomq.Serve(r.spec, []echomq.Route{echomq.RouteTo(r.greet(), hello)}))
		require.NoError(t, err)
		change(t, r.store, user, "-hmget")
		err = w.Run(r.ctx)
		requirePermission(t, err, "run HMGET: NOPERM", "producer --queue "+r.spec.Name)
		assert.ErrorContains(t, err, "for a worker it is `emq acl worker`")

		change(t, r.store, user, "+hmget", "-rpop")
		w, err = echomq.NewWorker(r.client, nil, echomq.Serve(r.spec, []echomq.Route{echomq.RouteTo(r.greet(), hello)}))
		require.NoError(t, err)
		ctx, stop := context.WithCancel(r.ctx)
		defer stop()
		done := make(chan error, 1)
		go func() { done <- w.Run(ctx) }()
		line := receive(t, log.found, "the log to tell of it")
		assert.Contains(t, line, "no right to run RPOP")
		assert.Contains(t, line, "of pick.lua")
		assert.Contains(t, line, rule)
		require.False(t, w.Ready())
		change(t, r.store, user, "+rpop")
		require.Equal(t, "hello Ada", await(t, r.fixture, job), "it goes on when the right is given")
		stop()
		require.NoError(t, receive(t, done, "the end of Run"))
	})
}

func TestWorkerGoesOnWithoutOptionalRights(t *testing.T) {
	eachRoles(t, func(t *testing.T, r *roles) {
		change(t, r.store, "emq-worker", "-info")
		job := r.enqueue(t, "Ada")
		r.work(t, hello)
		require.Equal(t, "hello Ada", await(t, r.fixture, job))
	})
}
