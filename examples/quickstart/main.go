// Command quickstart enqueues three typed jobs and handles them in the same
// program, on a private server of its own. It ends by itself.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/echomq/echomq-go/examples/quickstart/jobs"
	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/embedded"
)

type handler struct{} // without one of its methods this does not compile

func (handler) HandleWelcome(_ context.Context, job *echomq.Job[jobs.Welcome]) (jobs.Receipt, error) {
	fmt.Printf("welcome: %s\n", job.Payload.Person)
	return jobs.Receipt{MessageID: "message-for-" + job.Payload.Person}, nil
}

func (handler) HandleCharge(_ context.Context, job *echomq.Job[jobs.Charge]) error {
	fmt.Printf("charge: %d cents, attempt %d\n", job.Payload.Cents, job.Attempt())
	if job.Attempt() < 3 {
		return errors.New("the bank did not answer")
	}
	return nil
}

func (handler) HandleRemind(_ context.Context, job *echomq.Job[jobs.Remind]) error {
	fmt.Printf("remind: %s, %v after it was enqueued\n", job.Payload.About, job.ProcessedOn.Time().Sub(job.Timestamp.Time()))
	return nil
}

func main() {
	ctx := context.Background()
	server := must(embedded.Start(ctx))
	defer server.Close()
	client := echomq.NewClient(server.Redis())
	worker := must(jobs.NewQuickstartWorker(client, handler{}))
	go worker.Run(ctx)
	producer := jobs.NewQuickstartProducer(client)
	welcome := must(producer.EnqueueWelcome(ctx, jobs.Welcome{Person: "Ada"}))
	charge := must(producer.EnqueueCharge(ctx, jobs.Charge{Cents: 4200}))
	remind := must(producer.EnqueueRemind(ctx, jobs.Remind{About: "the meeting"}))

	fmt.Printf("=> welcome completed: %+v\n", must(welcome.Await(ctx)))
	must(charge.Await(ctx))
	fmt.Println("=> charge completed")
	must(remind.Await(ctx))
	fmt.Println("=> remind completed")
	if err := worker.Stop(ctx); err != nil {
		log.Fatal(err)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}
