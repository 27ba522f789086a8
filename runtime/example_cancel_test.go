package echomq_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	echomq "github.com/echomq/echomq-go/runtime"
)

// A running job is cancelled, from any process: its handler's context ends, and
// whoever awaits the job is told.
func ExampleHandle_Cancel() {
	ctx := context.Background()
	client, end := connect(ctx)
	defer end()
	started := make(chan struct{})
	defer work(client, func(ctx context.Context, _ *echomq.Job[Welcome]) (Receipt, error) {
		close(started)
		select {
		case <-ctx.Done():
			return Receipt{}, fmt.Errorf("half of the mail was written: %w", ctx.Err())
		case <-time.After(time.Hour):
			return Receipt{MessageID: "sent"}, nil
		}
	})()

	handle, err := echomq.Enqueue(ctx, echomq.NewProducer(client, MailSpec()), WelcomeJob(), Welcome{UserID: 7})
	if err != nil {
		log.Fatal(err)
	}
	<-started
	if err := handle.Cancel(ctx, "the account was closed"); err != nil {
		log.Fatal(err)
	}
	_, err = handle.Await(ctx)
	var failure *echomq.JobError
	fmt.Println(errors.Is(err, echomq.ErrCancelled), errors.As(err, &failure))
	fmt.Println(failure.Reason)
	fmt.Println(handle.Cancel(ctx) != nil, errors.Is(handle.Cancel(ctx), echomq.ErrJobEnded))
	// Output:
	// true true
	// cancelled: the account was closed: half of the mail was written: context canceled
	// true true
}

// An operator cancels jobs by their ids. Those that wait are not run.
func ExampleQueue_Cancel() {
	ctx := context.Background()
	client, end := connect(ctx)
	defer end()
	handle, err := echomq.Enqueue(ctx, echomq.NewProducer(client, MailSpec()), WelcomeJob(), Welcome{UserID: 7}, echomq.ID("welcome-7"))
	if err != nil {
		log.Fatal(err)
	}
	queue, err := client.Queue("mail")
	if err != nil {
		log.Fatal(err)
	}
	outcomes, err := queue.Cancel(ctx, "welcome-7", "welcome-8")
	if err != nil {
		log.Fatal(err)
	}
	for _, outcome := range outcomes {
		fmt.Println(outcome.ID, outcome.Err)
	}
	defer work(client, sendWelcome)()
	_, err = handle.Await(ctx)
	fmt.Println(err)
	// Output:
	// welcome-7 <nil>
	// welcome-8 job does not exist
	// echomq: job "welcome-7" of queue "mail" failed after 0 attempt(s): cancelled
}

// The context of a handler ends for one of four reasons, and context.Cause says
// for which.
func ExampleWorker_causes() {
	ctx := context.Background()
	client, end := connect(ctx)
	defer end()
	started, ended := make(chan struct{}), make(chan error)
	worker, err := echomq.NewWorker(client, nil, echomq.Serve(MailSpec(), []echomq.Route{
		echomq.RouteTo(WelcomeJob(), func(ctx context.Context, _ *echomq.Job[Welcome]) (Receipt, error) {
			started <- struct{}{}
			<-ctx.Done()
			switch cause := context.Cause(ctx); {
			case errors.Is(cause, echomq.ErrTimeout): // too slow: it is tried again
			case errors.Is(cause, echomq.ErrCancelled): // not wanted any more: it has failed
			case errors.Is(cause, echomq.ErrLeaseLost): // another worker has it, or it is gone
			case errors.Is(cause, echomq.ErrShutdown): // this worker stops: another one goes on
			}
			ended <- context.Cause(ctx)
			return Receipt{}, ctx.Err()
		}),
	}, echomq.Lease(300*time.Millisecond)))
	if err != nil {
		log.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- worker.Run(ctx) }()
	producer := echomq.NewProducer(client, MailSpec())
	begin := func(opts ...echomq.EnqueueOption) echomq.Handle[Receipt] {
		handle, err := echomq.Enqueue(ctx, producer, WelcomeJob(), Welcome{UserID: 7}, opts...)
		if err != nil {
			log.Fatal(err)
		}
		<-started
		return handle
	}

	begin(echomq.Timeout(20*time.Millisecond), echomq.Retry(echomq.RetrySpec{Attempts: 1}))
	fmt.Println(<-ended)

	if err := begin().Cancel(ctx, "not wanted"); err != nil {
		log.Fatal(err)
	}
	fmt.Println(<-ended)

	begin()
	queue, err := client.Queue("mail")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := queue.Obliterate(ctx, echomq.Force()); err != nil {
		log.Fatal(err)
	}
	fmt.Println(<-ended)

	begin()
	impatient, cancel := context.WithCancel(ctx)
	cancel()
	go func() { fmt.Println(<-ended); ended <- nil }()
	err = worker.Stop(impatient)
	<-ended
	fmt.Println(err, <-done)
	// Output:
	// job timed out
	// cancelled: not wanted
	// job's lease was lost
	// worker is shutting down
	// <nil> <nil>
}
