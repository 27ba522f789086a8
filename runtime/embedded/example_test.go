package embedded_test

import (
	"context"
	"fmt"
	"log"

	"github.com/echomq/echomq-go/runtime/embedded"
)

func Example() {
	ctx := context.Background()
	server, err := embedded.Start(ctx, embedded.InMemory(), embedded.Logger(nil))
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()

	fmt.Println(server.Redis().Ping(ctx).Val())
	// Output: PONG
}
