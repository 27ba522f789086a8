package echomq_test

import (
	"context"
	"fmt"
	"log"

	echomq "github.com/echomq/echomq-go/runtime"
)

// Sent is the progress of an example's jobs.
type Sent struct {
	Done int `json:"done"`
	Of   int `json:"of"`
}

// A job says how far it has come, and logs; any process can read both while it
// runs, and for as long as the job is kept.
func ExampleJob_Progress() {
	ctx := context.Background()
	client, end := connect(ctx)
	defer end()
	half, goOn := make(chan bool), make(chan bool)
	defer work(client, func(ctx context.Context, job *echomq.Job[Welcome]) (Receipt, error) {
		for i := range 4 {
			if err := job.Progress(ctx, Sent{Done: i + 1, Of: 4}); err != nil {
				return Receipt{}, err // the job was given to another worker
			}
			if err := job.Log(ctx, fmt.Sprintf("part %d sent", i+1)); err != nil {
				return Receipt{}, err
			}
			if i == 1 {
				half <- true
				<-goOn
			}
		}
		return Receipt{MessageID: "m1"}, nil
	})()

	handle, err := echomq.Enqueue(ctx, echomq.NewProducer(client, MailSpec()), WelcomeJob(), Welcome{UserID: 7})
	if err != nil {
		log.Fatal(err)
	}
	<-half
	progress, _, err := echomq.ReadProgress[Sent](ctx, handle)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d of %d\n", progress.Done, progress.Of)
	goOn <- true
	if _, err := handle.Await(ctx); err != nil {
		log.Fatal(err)
	}
	lines, err := handle.Logs(ctx, 2) // those after line 2
	if err != nil {
		log.Fatal(err)
	}
	for _, line := range lines {
		fmt.Println(line.Number, line.Text)
	}
	// Output:
	// 2 of 4
	// 3 part 3 sent
	// 4 part 4 sent
}

// A handler is tested without a worker or a store: the job records what it is
// told.
func ExampleJob_Logged() {
	ctx := context.Background()
	job := &echomq.Job[Welcome]{Payload: Welcome{UserID: 7}}
	_ = job.Log(ctx, "looking for the user")
	_ = job.Progress(ctx, Sent{Done: 1, Of: 2})

	fmt.Println(job.Logged())
	fmt.Println(string(job.Envelope.Progress))
	// Output:
	// [looking for the user]
	// {"done":1,"of":2}
}

// Any process follows what happens in a queue, from any position on.
func ExampleQueue_Events() {
	ctx := context.Background()
	client, end := connect(ctx)
	defer end()
	queue, err := client.Queue("mail")
	if err != nil {
		log.Fatal(err)
	}
	position, err := queue.LastEvent(ctx)
	if err != nil {
		log.Fatal(err)
	}
	stop := work(client, sendWelcome)
	handle, err := echomq.Enqueue(ctx, echomq.NewProducer(client, MailSpec(), echomq.Events(echomq.EventsAll)), WelcomeJob(), Welcome{UserID: 7})
	if err != nil {
		log.Fatal(err)
	}
	defer stop()

	for event, err := range queue.Events(ctx, echomq.AfterEvent(position)) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(event.Kind, event.JobName, event.JobID == handle.ID)
		if event.Kind == echomq.EventCompleted {
			break // event.ID is the position to go on from
		}
	}
	// Output:
	// added Welcome true
	// completed Welcome true
}
