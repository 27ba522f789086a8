package echomq_test

import (
	"context"
	"fmt"
	"log"
	"time"

	echomq "github.com/echomq/echomq-go/runtime"
)

// ExampleQueue_Drain looks at what waits in a queue and deletes it.
func ExampleQueue_Drain() {
	ctx := context.Background()
	client, end := connect(ctx)
	defer end()

	producer := echomq.NewProducer(client, MailSpec())
	for user := range int64(2) {
		if _, err := echomq.Enqueue(ctx, producer, WelcomeJob(), Welcome{UserID: user}); err != nil {
			log.Fatal(err)
		}
	}
	if _, err := echomq.Enqueue(ctx, producer, WelcomeJob(), Welcome{UserID: 2}, echomq.In(time.Hour)); err != nil {
		log.Fatal(err)
	}

	queue, err := client.Queue("mail")
	if err != nil {
		log.Fatal(err)
	}
	for job, err := range queue.Jobs(ctx, echomq.StateWaiting) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(job.State, job.Name, string(job.Data))
	}
	drained, err := queue.Drain(ctx)
	if err != nil {
		log.Fatal(err)
	}
	counts, err := queue.Counts(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(drained, "drained,", counts.Waiting, "waiting,", counts.Delayed, "delayed")
	// Output:
	// waiting Welcome {"userId":0}
	// waiting Welcome {"userId":1}
	// 2 drained, 0 waiting, 1 delayed
}
