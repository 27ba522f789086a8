package echomq_test

import (
	"context"
	"fmt"
	"log"
)

// ExampleQueue_Pause holds jobs back while what they need is away.
func ExampleQueue_Pause() {
	ctx := context.Background()
	client, end := connect(ctx)
	defer end()
	queue, err := client.Queue("mail")
	if err != nil {
		log.Fatal(err)
	}
	if err := queue.Pause(ctx); err != nil {
		log.Fatal(err)
	}
	paused, err := queue.Paused(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("paused:", paused)
	if err := queue.Resume(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: paused: true
}
