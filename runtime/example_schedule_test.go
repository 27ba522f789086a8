package echomq_test

import (
	"context"
	"fmt"
	"log"
	"time"

	echomq "github.com/echomq/echomq-go/runtime"
)

// A job that repeats is added by the workers of its queue, each time once.
func ExampleUpsertSchedule() {
	ctx := context.Background()
	client, end := connect(ctx)
	defer end()
	done := make(chan string, 3)
	stop := work(client, func(_ context.Context, job *echomq.Job[Welcome]) (Receipt, error) {
		done <- fmt.Sprintf("user %d, of schedule %s", job.Payload.UserID, job.RepeatJobKey)
		return Receipt{}, nil
	})
	defer stop()

	producer := echomq.NewProducer(client, MailSpec())
	_, err := echomq.UpsertSchedule(ctx, producer, WelcomeJob(),
		echomq.ScheduleSpec{ID: "often", Every: 100 * time.Millisecond, Limit: 3}, Welcome{UserID: 7})
	if err != nil {
		log.Fatal(err)
	}
	for range 3 {
		fmt.Println(<-done)
	}
	// Output:
	// user 7, of schedule often
	// user 7, of schedule often
	// user 7, of schedule often
}

// Schedules tell when they come next.
func ExampleQueue_Schedules() {
	ctx := context.Background()
	client, end := connect(ctx)
	defer end()
	producer := echomq.NewProducer(client, MailSpec())
	_, err := echomq.UpsertSchedule(ctx, producer, WelcomeJob(),
		echomq.ScheduleSpec{Cron: "0 9 * * *", Zone: "Europe/Berlin"}, Welcome{})
	if err != nil {
		log.Fatal(err)
	}
	queue, err := client.Queue("mail")
	if err != nil {
		log.Fatal(err)
	}
	schedules, err := queue.Schedules(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, schedule := range schedules {
		fmt.Println(schedule.ID, "runs", schedule.Job, "at", schedule.Cron, "in", schedule.Zone)
	}
	if err := queue.RemoveSchedule(ctx, "Welcome"); err != nil {
		log.Fatal(err)
	}
	// Output: Welcome runs Welcome at 0 9 * * * in Europe/Berlin
}
