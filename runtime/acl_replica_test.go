package echomq_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/acl"
	"github.com/echomq/echomq-go/runtime/wire"
)

// TestReplicaAckNeedsItsRights holds the table of what WithReplicaAck adds against
// what it sends. No replica is needed for that.
func TestReplicaAckNeedsItsRights(t *testing.T) {
	eachRoles(t, func(t *testing.T, r *roles) {
		setUser(t, r.store, acl.Request{Role: acl.Producer, User: "emq-producer", Queues: []wire.Queue{r.queue}, ReplicaAck: true})
		client := r.newClient(t, r.producerStore, echomq.WithReplicaAck(1))
		ctx, cancel := context.WithCancel(r.ctx)
		defer cancel()
		done := make(chan error, 1)
		go func() {
			_, err := echomq.Enqueue(ctx, echomq.NewProducer(client, r.spec), r.greet(), greeting{"Ada"})
			done <- err
		}()
		eventually(t, func() bool { return r.asProducer.Count("wait") > 0 }, "it waits for replicas")
		cancel()
		require.Error(t, receive(t, done, "the end of the call"))
		r.requireNoRefusal(t)

		sent := map[string]bool{}
		for _, command := range r.asProducer.commands() {
			name, _ := rightOf(command)
			sent[name] = true
		}
		for _, command := range acl.Producer.Commands(true) {
			if command.ReplicaAck {
				assert.True(t, sent[command.Name], command.Name)
			}
		}
	})
}
