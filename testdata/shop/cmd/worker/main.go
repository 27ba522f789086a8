// Command worker does what the web service of the shop has enqueued. Run as many
// of it as the work needs; stop one with SIGTERM, and what it runs may end first.
//
// REDIS_URL is the store.
package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"syscall"

	echomq "github.com/echomq/echomq-go/runtime"

	"example.com/shop/internal/store"
	"example.com/shop/jobs"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

// run works until ctx ends and the jobs that run then have ended.
func run(ctx context.Context) error {
	connection, err := store.Open()
	if err != nil {
		return err
	}
	defer connection.Close()
	client := echomq.NewClient(connection)
	defer client.Close()

	worker, err := jobs.NewOrdersWorker(client, handler{mail: logMail{}})
	if err != nil {
		return err
	}
	return worker.Run(ctx)
}
