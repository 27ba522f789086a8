// Command emq looks at EchoMQ queues and at what speaks their protocol.
//
//	emq probe conformance   does a deployment speak the protocol? read from the engine
//	emq probe fleet         do jobs cross between runtimes of several languages?
//	emq lint PATH…          judge Redis Lua scripts: does each declare its keys?
//	emq slot KEY…           the hash tag and slot of keys
//	emq acl ROLE            the access rule that a producer, worker or operator needs
//
// The exit status is 0 if all is well, 1 if what was looked at is not, and 2 if
// it could not be told.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
