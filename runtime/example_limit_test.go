package echomq_test

import (
	"context"
	"fmt"
	"log"
	"time"

	echomq "github.com/echomq/echomq-go/runtime"
)

// ExampleQueue_SetRate slows a queue down while the service behind it is
// struggling, and lets the directive hold again afterwards.
func ExampleQueue_SetRate() {
	ctx := context.Background()
	client, end := connect(ctx)
	defer end()
	queue, err := client.Queue("mail")
	if err != nil {
		log.Fatal(err)
	}
	if err := queue.SetRate(ctx, 100, time.Minute); err != nil {
		log.Fatal(err)
	}
	if err := queue.SetLimit(ctx, 5); err != nil {
		log.Fatal(err)
	}
	set, err := queue.Overrides(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("rate", set.Rate, "limit", set.Limit)
	if err := queue.SetLimit(ctx, echomq.NoLimit); err != nil {
		log.Fatal(err)
	}
	if err := queue.ClearOverrides(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: rate 100/1m0s limit 5
}
