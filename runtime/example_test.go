package echomq_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/embedded"
)

// The contract of these examples, as emqgen would write it for an annotated
// struct.
type Welcome struct {
	UserID int64 `json:"userId"`
}

type Receipt struct {
	MessageID string `json:"messageId"`
}

func MailSpec() echomq.QueueSpec { return echomq.QueueSpec{Name: "mail"} }

func WelcomeJob() echomq.JobType[Welcome, Receipt] {
	return echomq.NewJobType[Welcome, Receipt](echomq.JobSpec{Queue: "mail", Name: "Welcome"})
}

// sendWelcome is the handler of most examples.
func sendWelcome(_ context.Context, job *echomq.Job[Welcome]) (Receipt, error) {
	return Receipt{MessageID: fmt.Sprintf("message-%d", job.Payload.UserID)}, nil
}

// connect starts a private server for an example. A program connects to its own
// with redis.NewClient.
func connect(ctx context.Context) (client *echomq.Client, end func()) {
	silent := slog.New(slog.DiscardHandler)
	server, err := embedded.Start(ctx, embedded.Logger(silent))
	if err != nil {
		log.Fatal(err)
	}
	client = echomq.NewClient(server.Redis(), echomq.WithLogger(silent))
	return client, func() {
		_ = client.Close()
		_ = server.Close()
	}
}

// work runs a worker for an example and returns a function that stops it.
func work(client *echomq.Client, handle func(context.Context, *echomq.Job[Welcome]) (Receipt, error)) (stop func()) {
	worker, err := echomq.NewWorker(client, nil,
		echomq.Serve(MailSpec(), []echomq.Route{echomq.RouteTo(WelcomeJob(), handle)}))
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- worker.Run(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			log.Fatal(err)
		}
	}
}

// A job is enqueued here and its result awaited, wherever it runs.
func ExampleEnqueue() {
	ctx := context.Background()
	client, end := connect(ctx)
	defer end()
	defer work(client, sendWelcome)()

	producer := echomq.NewProducer(client, MailSpec())
	handle, err := echomq.Enqueue(ctx, producer, WelcomeJob(), Welcome{UserID: 7})
	if err != nil {
		log.Fatal(err)
	}
	receipt, err := handle.Await(ctx)
	fmt.Println(receipt.MessageID, err)
	// Output: message-7 <nil>
}

// A batch is added in chunks, each whole or not at all, and has one outcome an
// item.
func ExampleEnqueueBatch() {
	ctx := context.Background()
	client, end := connect(ctx)
	defer end()
	defer work(client, sendWelcome)()

	items := echomq.Items(Welcome{UserID: 1}, Welcome{UserID: 2})
	items[1].Options = []echomq.EnqueueOption{echomq.ID("welcome-2")}
	producer := echomq.NewProducer(client, MailSpec())
	outcomes, err := echomq.EnqueueBatch(ctx, producer, WelcomeJob(), items, echomq.Priority(5))
	if err != nil {
		log.Fatal(err)
	}
	for _, outcome := range outcomes {
		receipt, err := outcome.Handle.Await(ctx)
		fmt.Println(receipt.MessageID, err)
	}
	fmt.Println(outcomes[1].Handle.ID)
	// Output:
	// message-1 <nil>
	// message-2 <nil>
	// welcome-2
}
