package echomq_test

import (
	"context"
	"fmt"
	"log"
	"time"

	echomq "github.com/echomq/echomq-go/runtime"
)

// A job that was to run in an hour is put off further, and then run at once.
func ExampleHandle_Reschedule() {
	ctx := context.Background()
	client, end := connect(ctx)
	defer end()
	defer work(client, sendWelcome)()

	producer := echomq.NewProducer(client, MailSpec())
	handle, err := echomq.Enqueue(ctx, producer, WelcomeJob(), Welcome{UserID: 7}, echomq.In(time.Hour))
	if err != nil {
		log.Fatal(err)
	}
	if err := handle.Reschedule(ctx, echomq.In(24*time.Hour)); err != nil {
		log.Fatal(err)
	}
	state, err := handle.State(ctx)
	fmt.Println(state, err)
	if err := handle.RunNow(ctx); err != nil {
		log.Fatal(err)
	}
	receipt, err := handle.Await(ctx)
	fmt.Println(receipt.MessageID, err)
	// Output:
	// delayed <nil>
	// message-7 <nil>
}

// Of three jobs that wait, the first gets to the end and the last to the front.
func ExampleHandle_SetPriority() {
	ctx := context.Background()
	client, end := connect(ctx)
	defer end()
	producer := echomq.NewProducer(client, MailSpec())
	var handles []echomq.Handle[Receipt]
	for user, priority := range []int{0, 1, 1} {
		handle, err := echomq.Enqueue(ctx, producer, WelcomeJob(), Welcome{UserID: int64(user)}, echomq.Priority(priority))
		if err != nil {
			log.Fatal(err)
		}
		handles = append(handles, handle)
	}
	if err := handles[0].SetPriority(ctx, 2); err != nil {
		log.Fatal(err)
	}
	if err := handles[2].SetPriority(ctx, 0); err != nil {
		log.Fatal(err)
	}

	worker, err := echomq.NewWorker(client, nil, echomq.Serve(MailSpec(), []echomq.Route{
		echomq.RouteTo(WelcomeJob(), func(_ context.Context, job *echomq.Job[Welcome]) (Receipt, error) {
			fmt.Println("user", job.Payload.UserID, "priority", job.Priority)
			return Receipt{}, nil
		}),
	}, echomq.Concurrency(1)))
	if err != nil {
		log.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- worker.Run(ctx) }()
	for _, handle := range handles {
		if _, err := handle.Await(ctx); err != nil {
			log.Fatal(err)
		}
	}
	if err := worker.Stop(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println(<-done)
	// Output:
	// user 2 priority 0
	// user 1 priority 1
	// user 0 priority 2
	// <nil>
}

// An operator brings jobs forward by their ids.
func ExampleQueue_RunNow() {
	ctx := context.Background()
	client, end := connect(ctx)
	defer end()
	producer := echomq.NewProducer(client, MailSpec())
	_, err := echomq.Enqueue(ctx, producer, WelcomeJob(), Welcome{UserID: 7}, echomq.ID("welcome-7"), echomq.In(time.Hour))
	if err != nil {
		log.Fatal(err)
	}
	queue, err := client.Queue("mail")
	if err != nil {
		log.Fatal(err)
	}
	outcomes, err := queue.RunNow(ctx, "welcome-7", "welcome-8")
	if err != nil {
		log.Fatal(err)
	}
	for _, outcome := range outcomes {
		fmt.Println(outcome.ID, outcome.Err)
	}
	// Output:
	// welcome-7 <nil>
	// welcome-8 job does not exist
}
