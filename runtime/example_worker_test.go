package echomq_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	echomq "github.com/echomq/echomq-go/runtime"
)

// A handler's error decides what becomes of the job: any error is tried again
// after a backoff, and these are more than that.
func ExampleFail() {
	ctx := context.Background()
	client, end := connect(ctx)
	defer end()
	defer work(client, func(_ context.Context, job *echomq.Job[Welcome]) (Receipt, error) {
		switch {
		case job.Payload.UserID < 0:
			return Receipt{}, echomq.Fail(errors.New("no such user"))
		case job.Attempt() == 1:
			return Receipt{}, echomq.RetryAfter(10*time.Millisecond, errors.New("mail server is busy"))
		case job.AttemptsStarted == 2:
			return Receipt{}, echomq.Snooze(10 * time.Millisecond)
		}
		return Receipt{MessageID: fmt.Sprintf("sent by attempt %d", job.Attempt())}, nil
	})()

	producer := echomq.NewProducer(client, MailSpec())
	for _, user := range []int64{7, -1} {
		handle, err := echomq.Enqueue(ctx, producer, WelcomeJob(), Welcome{UserID: user})
		if err != nil {
			log.Fatal(err)
		}
		receipt, err := handle.Await(ctx)
		var failure *echomq.JobError
		if errors.As(err, &failure) {
			fmt.Printf("failed after %d attempt: %s\n", failure.Attempts, failure.Reason)
			continue
		}
		fmt.Println(receipt.MessageID)
	}
	// Output:
	// sent by attempt 2
	// failed after 1 attempt: no such user
}

// Stop lets running jobs end. Those that are still running when its context
// ends are cancelled and given back, for another worker to run.
func ExampleWorker_Stop() {
	ctx := context.Background()
	client, end := connect(ctx)
	defer end()

	started := make(chan struct{})
	worker, err := echomq.NewWorker(client, nil, echomq.Serve(MailSpec(), []echomq.Route{
		echomq.RouteTo(WelcomeJob(), func(ctx context.Context, _ *echomq.Job[Welcome]) (Receipt, error) {
			close(started)
			<-ctx.Done()
			fmt.Println(context.Cause(ctx))
			return Receipt{}, ctx.Err()
		}),
	}))
	if err != nil {
		log.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- worker.Run(ctx) }()

	handle, err := echomq.Enqueue(ctx, echomq.NewProducer(client, MailSpec()), WelcomeJob(), Welcome{UserID: 7})
	if err != nil {
		log.Fatal(err)
	}
	<-started
	patience, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	fmt.Println(worker.Stop(patience), <-done)
	state, err := handle.State(ctx)
	fmt.Println(state, err)
	// Output:
	// worker is shutting down
	// <nil> <nil>
	// waiting <nil>
}
