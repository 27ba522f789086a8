package emqtest_test

import (
	"context"
	"testing"
	"time"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/emqtest"
)

// signUp is the program's own code, which is to be tested.
func signUp(ctx context.Context, producer *echomq.Producer, user int64) error {
	_, err := echomq.Enqueue(ctx, producer, welcomeJob, welcome{UserID: user, Template: "hello"})
	if err != nil {
		return err
	}
	_, err = echomq.Enqueue(ctx, producer, digestJob, "weekly", echomq.In(7*24*time.Hour))
	return err
}

// A test looks at what the program enqueued, and then runs it: the digest of next
// week too.
func TestSignUp(t *testing.T) {
	t.Parallel()
	kit := emqtest.New(t)
	producer := echomq.NewProducer(kit.Client(), spec)
	if err := signUp(t.Context(), producer, 7); err != nil {
		t.Fatal(err)
	}
	emqtest.Enqueued(kit, welcomeJob, emqtest.Payload(welcome{UserID: 7, Template: "hello"}))
	emqtest.Enqueued(kit, digestJob, emqtest.Due(kit.Now().Add(7*24*time.Hour), time.Second))

	for _, run := range kit.Drain(served(producer)) {
		if run.Err != nil {
			t.Errorf("%s: %v", run.Name, run.Err)
		}
	}
	emqtest.NotEnqueued(kit, digestJob)
}

// One job through the real worker, and a handle for a fake.
func TestWelcome(t *testing.T) {
	t.Parallel()
	message, err := emqtest.Perform(t, served(nil), welcomeJob, welcome{UserID: 7})
	if err != nil || message != "message-7" {
		t.Errorf("got %q, %v", message, err)
	}
	handle := emqtest.Completed(t, welcomeJob, "message-7")
	if message, err := handle.Await(t.Context()); err != nil || message != "message-7" {
		t.Errorf("got %q, %v", message, err)
	}
}
