package echomq_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	echomq "github.com/echomq/echomq-go/runtime"
)

// errBusy is an error of which it is known when a repetition can succeed.
type errBusy struct{ until time.Duration }

func (e errBusy) Error() string { return "mail server is busy" }

// ExampleRetryWaits decides how long failed jobs of one type wait, by their error.
func ExampleRetryWaits() {
	ctx := context.Background()
	client, end := connect(ctx)
	defer end()

	waits := func(job *echomq.Job[Welcome], err error, backoff time.Duration) time.Duration {
		var busy errBusy
		if errors.As(err, &busy) {
			fmt.Printf("attempt %d of user %d: again in %v\n", job.Attempt(), job.Payload.UserID, busy.until)
			return busy.until
		}
		return backoff // as the job's own settings say
	}
	handle := func(_ context.Context, job *echomq.Job[Welcome]) (Receipt, error) {
		if job.Attempt() == 1 {
			return Receipt{}, errBusy{until: 20 * time.Millisecond}
		}
		return sendWelcome(ctx, job)
	}
	// With the generator: mail.NewMailWorker(client, handler, echomq.RetryWaits(mail.WelcomeJob(), waits))
	worker, err := echomq.NewWorker(client, []echomq.WorkerOption{echomq.RetryWaits(WelcomeJob(), waits)},
		echomq.Serve(MailSpec(), []echomq.Route{echomq.RouteTo(WelcomeJob(), handle)}))
	if err != nil {
		log.Fatal(err)
	}
	running, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- worker.Run(running) }()
	defer func() { stop(); <-done }()

	welcome, err := echomq.Enqueue(ctx, echomq.NewProducer(client, MailSpec()), WelcomeJob(), Welcome{UserID: 7})
	if err != nil {
		log.Fatal(err)
	}
	receipt, err := welcome.Await(ctx)
	fmt.Println(receipt.MessageID, err)
	// Output:
	// attempt 1 of user 7: again in 20ms
	// message-7 <nil>
}
