package echomq_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	echomq "github.com/echomq/echomq-go/runtime"
)

// A handler that takes many jobs at once answers for each of them.
func ExampleRouteToBatch() {
	ctx := context.Background()
	client, end := connect(ctx)
	defer end()
	job := echomq.NewJobType[Welcome, Receipt](echomq.JobSpec{
		Queue: "mail", Name: "Welcome", Batch: echomq.BatchSpec{Size: 3, Wait: 10 * time.Second},
	})
	worker, err := echomq.NewWorker(client, nil, echomq.Serve(MailSpec(), []echomq.Route{
		echomq.RouteToBatch(job, func(_ context.Context, jobs []*echomq.Job[Welcome]) ([]Receipt, error) {
			fmt.Println("one call for", len(jobs), "jobs")
			receipts, each := make([]Receipt, len(jobs)), make(echomq.JobErrors, len(jobs))
			for i, job := range jobs {
				receipts[i].MessageID = fmt.Sprintf("message-%d", job.Payload.UserID)
				if job.Payload.UserID < 0 {
					each[i] = echomq.Fail(errors.New("no such user"))
				}
			}
			return receipts, each
		}),
	}))
	if err != nil {
		log.Fatal(err)
	}
	go func() { _ = worker.Run(ctx) }()
	defer func() { _ = worker.Stop(ctx) }()

	outcomes, err := echomq.EnqueueBatch(ctx, echomq.NewProducer(client, MailSpec()), job,
		echomq.Items(Welcome{UserID: 7}, Welcome{UserID: -1}, Welcome{UserID: 8}))
	if err != nil {
		log.Fatal(err)
	}
	for _, outcome := range outcomes {
		receipt, err := outcome.Handle.Await(ctx)
		var failed *echomq.JobError
		if errors.As(err, &failed) {
			fmt.Println("failed:", failed.Reason)
			continue
		}
		fmt.Println(receipt.MessageID, err)
	}
	// Output:
	// one call for 3 jobs
	// message-7 <nil>
	// failed: no such user
	// message-8 <nil>
}
