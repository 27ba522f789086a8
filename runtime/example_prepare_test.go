package echomq_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	echomq "github.com/echomq/echomq-go/runtime"
)

// A prepared job is kept in an outbox table, in the transaction that it belongs
// to, and sent after the commit: as often as need be, for it is added once.
func ExamplePrepare() {
	ctx := context.Background()
	client, end := connect(ctx)
	defer end()

	producer := echomq.NewProducer(client, MailSpec())
	prepared, err := echomq.Prepare(producer, WelcomeJob(), Welcome{UserID: 7}, echomq.ID("welcome-7"))
	if err != nil {
		log.Fatal(err)
	}
	row, err := json.Marshal(prepared) // INSERT INTO outbox …; COMMIT
	if err != nil {
		log.Fatal(err)
	}

	var fromOutbox echomq.Prepared // later, perhaps in another process
	if err := json.Unmarshal(row, &fromOutbox); err != nil {
		log.Fatal(err)
	}
	for range 2 {
		sent, err := client.Send(ctx, fromOutbox)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(sent[0].ID, sent[0].Existing)
	}
	// Output:
	// welcome-7 false
	// welcome-7 true
}

// A handle can be had again from an id, in any process.
func ExampleJobType_Handle() {
	ctx := context.Background()
	client, end := connect(ctx)
	defer end()

	producer := echomq.NewProducer(client, MailSpec())
	if _, err := echomq.Enqueue(ctx, producer, WelcomeJob(), Welcome{UserID: 7}, echomq.ID("welcome-7")); err != nil {
		log.Fatal(err)
	}
	handle, err := WelcomeJob().Handle(client, "welcome-7")
	if err != nil {
		log.Fatal(err)
	}
	state, err := handle.State(ctx)
	fmt.Println(state, err)
	defer work(client, sendWelcome)()
	receipt, err := handle.Await(ctx)
	fmt.Println(receipt.MessageID, err)
	// Output:
	// waiting <nil>
	// message-7 <nil>
}
