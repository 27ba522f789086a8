package echomq_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

// mail is a contract for stores that no test engine stands behind.
var (
	mail     = echomq.QueueSpec{Name: "mail"}
	mailJob  = echomq.NewJobType[greeting, string](echomq.JobSpec{Queue: "mail", Name: "greet"})
	mailWork = echomq.Serve(mail, []echomq.Route{echomq.RouteTo(mailJob, hello)})
)

// clientFor returns a client of a store with the given options.
func clientFor(t *testing.T, options *redis.Options) *echomq.Client {
	t.Helper()
	store := redis.NewClient(options)
	client := echomq.NewClient(store, quiet())
	t.Cleanup(func() {
		require.NoError(t, client.Close())
		_ = store.Close()
	})
	return client
}

// failFast requires that every use of the client fails soon with the error,
// without a deadline as with one.
func failFast(t *testing.T, client *echomq.Client, want error) {
	t.Helper()
	start := time.Now()
	bounded, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, ctx := range []context.Context{context.Background(), t.Context(), bounded} {
		_, err := echomq.Enqueue(ctx, echomq.NewProducer(client, mail), mailJob, greeting{})
		require.ErrorIs(t, err, want)
		var failure *echomq.StoreError
		require.ErrorAs(t, err, &failure)
		require.NotEmpty(t, failure.Advice)
		require.Contains(t, failure.Op, "mail")
	}
	handle, err := mailJob.Handle(client, "a")
	require.NoError(t, err)
	_, err = handle.State(bounded)
	require.ErrorIs(t, err, want)
	_, err = handle.Await(bounded)
	require.ErrorIs(t, err, want)
	w, err := echomq.NewWorker(client, nil, mailWork)
	require.NoError(t, err)
	require.ErrorIs(t, w.Run(bounded), want)
	require.Less(t, time.Since(start), patience/2)
}

// nowhere returns the address of a port that nobody listens at.
func nowhere(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	return listener.Addr().String()
}

func TestServerIsDown(t *testing.T) {
	t.Parallel()
	client := clientFor(t, &redis.Options{Addr: nowhere(t), DialerRetries: 1})
	producer := echomq.NewProducer(client, mail)
	start := time.Now()
	_, err := echomq.Enqueue(context.Background(), producer, mailJob, greeting{})
	require.ErrorIs(t, err, echomq.ErrUnreachable)
	require.Less(t, time.Since(start), 2*time.Second, "it fails fast without a deadline")
	var failure *echomq.StoreError
	require.ErrorAs(t, err, &failure)
	require.Equal(t, "nothing was written", failure.Advice)
	var cause *net.OpError
	require.ErrorAs(t, err, &cause, "the cause can be had")

	bounded, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	start = time.Now()
	_, err = echomq.Enqueue(bounded, producer, mailJob, greeting{})
	require.ErrorIs(t, err, echomq.ErrUnreachable)
	require.GreaterOrEqual(t, time.Since(start), 250*time.Millisecond, "it waits with a deadline")

	outcomes, err := echomq.EnqueueBatch(context.Background(), producer, mailJob, echomq.Items(people(2)...), echomq.ChunkSize(1))
	require.ErrorIs(t, err, echomq.ErrUnreachable)
	require.ErrorIs(t, outcomes[0].Err, echomq.ErrUnreachable)
	require.ErrorIs(t, outcomes[1].Err, echomq.ErrNotSent)
}

func TestEnqueueWaitsForTheServer(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		proxy := enginetest.NewProxy(t, f.engine)
		proxy.Refuse(true)
		f.client = f.newClient(t, proxy.Store(t))
		producer := echomq.NewProducer(f.client, f.spec)
		sent := make(chan error, 1)
		go func() {
			_, err := echomq.Enqueue(f.ctx, producer, f.greet(), greeting{"Ada"}, echomq.ID("a"))
			sent <- err
		}()
		w, err := echomq.NewWorker(f.client, nil, echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(f.greet(), hello)}))
		require.NoError(t, err)
		done := make(chan error, 1)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go func() { done <- w.Run(ctx) }()
		select {
		case err := <-sent:
			require.Fail(t, "it did not wait", "%v", err)
		case err := <-done:
			require.Fail(t, "the worker did not wait", "%v", err)
		case <-time.After(150 * time.Millisecond):
		}
		require.False(t, w.Ready())
		proxy.Refuse(false)
		require.NoError(t, receive(t, sent, "the end of Enqueue"))
		handle, err := f.greet().Handle(f.client, "a")
		require.NoError(t, err)
		require.Equal(t, "hello Ada", await(t, f, handle))
		cancel()
		require.NoError(t, receive(t, done, "the end of Run"))
	})
}

func TestWorkerIsStoppedWhileTheServerIsDown(t *testing.T) {
	t.Parallel()
	logged := make(records, 100)
	store := redis.NewClient(&redis.Options{Addr: nowhere(t), DialerRetries: 1})
	client := echomq.NewClient(store, echomq.WithLogger(slog.New(logged)))
	w, err := echomq.NewWorker(client, nil, mailWork)
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- w.Run(context.Background()) }()
	require.Equal(t, "store is unreachable; trying again", receive(t, (<-chan slog.Record)(logged), "a word about it").Message)
	require.False(t, w.Ready())
	require.NoError(t, w.Stop(t.Context()))
	require.NoError(t, receive(t, done, "the end of Run"))
	require.NoError(t, client.Close())
	require.NoError(t, store.Close())
}

// records is a slog.Handler that keeps what it has room for.
type records chan slog.Record

func (r records) Enabled(context.Context, slog.Level) bool { return true }
func (r records) WithAttrs([]slog.Attr) slog.Handler       { return r }
func (r records) WithGroup(string) slog.Handler            { return r }
func (r records) Handle(_ context.Context, record slog.Record) error {
	select {
	case r <- record:
	default:
	}
	return nil
}

func TestServerIsNoRedis(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := &http.Server{Handler: http.NotFoundHandler()}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	t.Cleanup(func() {
		require.NoError(t, server.Close())
		require.ErrorIs(t, <-done, http.ErrServerClosed)
	})
	failFast(t, clientFor(t, &redis.Options{Addr: listener.Addr().String(), DialerRetries: 1}), echomq.ErrNotRedis)
}

func TestServerThatHangsUp(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() {
		require.NoError(t, listener.Close())
		<-done
	})
	client := clientFor(t, &redis.Options{Addr: listener.Addr().String(), DialerRetries: 1})
	_, err = echomq.Enqueue(context.Background(), echomq.NewProducer(client, mail), mailJob, greeting{})
	require.ErrorIs(t, err, echomq.ErrUnreachable)
	require.True(t, errors.Is(err, io.EOF) || isReset(err), "%v", err)
}

// isReset reports whether the other end broke the connection off.
func isReset(err error) bool {
	var op *net.OpError
	return errors.As(err, &op)
}

func TestPasswordIsWanted(t *testing.T) {
	t.Parallel()
	enginetest.EachPrivate(t, func(t *testing.T, e *enginetest.Engine) {
		options := e.Options()
		options.Password = ""
		failFast(t, clientFor(t, options), echomq.ErrAuth)
		options = e.Options()
		options.Password = "wrong"
		failFast(t, clientFor(t, options), echomq.ErrAuth)
		options = e.Options()
		options.Username = "nobody"
		failFast(t, clientFor(t, options), echomq.ErrAuth)
		f := newFixture(t, e)
		f.work(t, hello)
		require.Equal(t, "hello Ada", await(t, f, f.enqueue(t, "Ada")))
	}, enginetest.RequirePass("secret"))
}

func TestUserWithoutPermission(t *testing.T) {
	t.Parallel()
	enginetest.EachPrivate(t, func(t *testing.T, e *enginetest.Engine) {
		store := e.Client(t)
		ctx := t.Context()
		require.NoError(t, store.Do(ctx, "ACL", "SETUSER", "reader", "on", ">secret", "+@all", "-set", "-setnx", "-sadd", "-evalsha", "~*").Err())
		options := e.Options()
		options.Username, options.Password = "reader", "secret"
		failFast(t, clientFor(t, options), echomq.ErrPermission)
		require.NoError(t, store.Do(ctx, "ACL", "SETUSER", "elsewhere", "on", ">secret", "+@all", "~emq:{other}:*", "~emq:{emq}:*", "~bull:*").Err())
		options = e.Options()
		options.Username, options.Password = "elsewhere", "secret"
		failFast(t, clientFor(t, options), echomq.ErrPermission)
		require.Empty(t, store.Keys(ctx, "emq:{mail}:*").Val())
	})
}

func TestStoreThatWasClosed(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		store := f.engine.Store(t)
		client := echomq.NewClient(store, quiet())
		require.NoError(t, store.Close())
		failFast(t, client, echomq.ErrClosed)
		require.NoError(t, client.Close())
	})
}

func TestStoreThatIsClosedAfterTheContact(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		store := f.engine.Store(t)
		client := f.newClient(t, store)
		producer := echomq.NewProducer(client, f.spec)
		_, err := echomq.Enqueue(f.ctx, producer, f.greet(), greeting{"Ada"})
		require.NoError(t, err)
		require.NoError(t, store.Close())
		_, err = echomq.Enqueue(f.ctx, producer, f.greet(), greeting{"Bob"})
		require.ErrorIs(t, err, echomq.ErrClosed)
	})
}
