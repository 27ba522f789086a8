package echomq_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/embedded"
)

// Middleware goes around everything that is enqueued with a client, and around
// every handler of a worker.
func ExampleHandlerMiddleware() {
	ctx := context.Background()
	silent := slog.New(slog.DiscardHandler)
	server, err := embedded.Start(ctx, embedded.Logger(silent))
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	client := echomq.NewClient(server.Redis(), echomq.WithLogger(silent),
		echomq.EnqueueMiddleware(func(next echomq.EnqueueFunc) echomq.EnqueueFunc {
			return func(ctx context.Context, jobs []echomq.Prepared) ([]echomq.Sent, error) {
				fmt.Println("enqueue", len(jobs), jobs[0].Name())
				return next(ctx, jobs)
			}
		}))
	defer func() { _ = client.Close() }()

	worker, err := echomq.NewWorker(client, []echomq.WorkerOption{
		echomq.HandlerMiddleware(func(next echomq.HandlerFunc) echomq.HandlerFunc {
			return func(ctx context.Context, job *echomq.Envelope) ([]byte, error) {
				result, err := next(ctx, job)
				fmt.Println("handled", job.Name, string(result), err)
				return result, err
			}
		}),
	}, echomq.Serve(MailSpec(), []echomq.Route{echomq.RouteTo(WelcomeJob(), sendWelcome)}))
	if err != nil {
		log.Fatal(err)
	}
	go func() { _ = worker.Run(ctx) }()
	defer func() { _ = worker.Stop(ctx) }()

	handle, err := echomq.Enqueue(ctx, echomq.NewProducer(client, MailSpec()), WelcomeJob(), Welcome{UserID: 7})
	if err != nil {
		log.Fatal(err)
	}
	_, err = handle.Await(ctx)
	fmt.Println("awaited", err)
	// Output:
	// enqueue 1 Welcome
	// handled Welcome {"messageId":"message-7"} <nil>
	// awaited <nil>
}

// A job belongs to the trace of the request that added it.
func ExampleContextWithTrace() {
	ctx := context.Background()
	client, end := connect(ctx)
	defer end()
	defer work(client, func(ctx context.Context, _ *echomq.Job[Welcome]) (Receipt, error) {
		trace, _ := echomq.TraceFrom(ctx)
		return Receipt{MessageID: "in trace " + trace.Parent}, nil
	})()

	request := echomq.ContextWithTrace(ctx, echomq.TraceContext{
		Parent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
	})
	handle, err := echomq.Enqueue(request, echomq.NewProducer(client, MailSpec()), WelcomeJob(), Welcome{UserID: 7})
	if err != nil {
		log.Fatal(err)
	}
	receipt, err := handle.Await(ctx)
	fmt.Println(receipt.MessageID, err)
	// Output:
	// in trace 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 <nil>
}
