package echomq_test

import (
	"context"
	"fmt"
	"log"

	echomq "github.com/echomq/echomq-go/runtime"
)

// Invoice is one customer's: //emq:group by=Customer limit=1.
type Invoice struct {
	Customer string
	Number   int
}

// ExampleJobType_GroupBy adds many invoices of one customer and then one of
// another, who does not wait for them: the two customers take turns.
func ExampleJobType_GroupBy() {
	ctx := context.Background()
	client, end := connect(ctx)
	defer end()
	invoices := echomq.QueueSpec{Name: "invoices", GroupLimit: 1}
	job := echomq.NewJobType[Invoice, echomq.None](echomq.JobSpec{Queue: "invoices", Name: "invoice"}).
		GroupBy(func(key *echomq.GroupKey, payload *Invoice) { key.Text(payload.Customer) })
	producer := echomq.NewProducer(client, invoices)

	var last echomq.Handle[echomq.None]
	for _, invoice := range []Invoice{{"large", 1}, {"large", 2}, {"large", 3}, {"large", 4}, {"small", 1}} {
		handle, err := echomq.Enqueue(ctx, producer, job, invoice)
		if err != nil {
			log.Fatal(err)
		}
		if invoice.Number == 4 {
			last = handle
		}
	}
	worker, err := echomq.NewWorker(client, []echomq.WorkerOption{echomq.Concurrency(1)},
		echomq.Serve(invoices, []echomq.Route{echomq.RouteTo(job, func(_ context.Context, job *echomq.Job[Invoice]) (echomq.None, error) {
			fmt.Println(job.Payload.Customer, job.Payload.Number)
			return echomq.None{}, nil
		})}))
	if err != nil {
		log.Fatal(err)
	}
	go func() { _ = worker.Run(ctx) }()
	if _, err := last.Await(ctx); err != nil {
		log.Fatal(err)
	}
	if err := worker.Stop(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// large 1
	// small 1
	// large 2
	// large 3
	// large 4
}
