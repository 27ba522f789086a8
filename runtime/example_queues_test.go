package echomq_test

import (
	"context"
	"fmt"
	"log"

	echomq "github.com/echomq/echomq-go/runtime"
)

// A worker serves several queues in shared slots, and more of them while it runs.
func ExampleWorker_Add() {
	ctx := context.Background()
	client, end := connect(ctx)
	defer end()
	served := func(name string, weight int) echomq.Served {
		return echomq.Serve(MailSpec(), []echomq.Route{echomq.RouteTo(WelcomeJob(), sendWelcome)},
			echomq.QueueName(name), echomq.Weight(weight))
	}
	worker, err := echomq.NewWorker(client, []echomq.WorkerOption{echomq.TotalConcurrency(50)},
		served("mail-eu", 3), served("mail-us", 1))
	if err != nil {
		log.Fatal(err)
	}
	go func() { _ = worker.Run(ctx) }()
	defer func() { _ = worker.Stop(ctx) }()

	if err := worker.Add(ctx, served("mail-asia", 1)); err != nil {
		log.Fatal(err)
	}
	fmt.Println(worker.Queues())
	producer := echomq.NewProducer(client, MailSpec(), echomq.QueueName("mail-asia"))
	handle, err := echomq.Enqueue(ctx, producer, WelcomeJob(), Welcome{UserID: 7})
	if err != nil {
		log.Fatal(err)
	}
	receipt, err := handle.Await(ctx)
	fmt.Println(receipt.MessageID, err)

	if err := worker.Remove(ctx, "mail-us"); err != nil {
		log.Fatal(err)
	}
	fmt.Println(worker.Queues())
	// Output:
	// [mail-asia mail-eu mail-us]
	// message-7 <nil>
	// [mail-asia mail-eu]
}
