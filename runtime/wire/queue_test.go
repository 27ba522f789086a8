package wire_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/wire"
)

func TestKeysOfAQueue(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a", "mail", "mail.eu-1_x"} {
		queue, err := wire.ParseQueue(name)
		require.NoError(t, err)
		for _, suffix := range append(wire.QueueSuffixes(), "scheduler:daily", "other") {
			assert.Equal(t, "emq:{"+name+"}:"+suffix, queue.Key(suffix))
		}
		assert.Equal(t, "emq:{"+name+"}:control", queue.ControlChannel())
		again, err := wire.ParseQueue(name)
		require.NoError(t, err)
		assert.Equal(t, queue, again)
		assert.True(t, queue == again, "queues are compared")
	}
	assert.Equal(t, "wait", wire.Queue{}.Key("wait"), "the zero Queue has no keys, and does not panic")
}

func TestKeysOfAQueueAreBuiltOnce(t *testing.T) {
	queue, err := wire.ParseQueue("mail")
	require.NoError(t, err)
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		for _, suffix := range []string{"meta", "wait", "metrics:failed"} {
			if queue.Key(suffix) == "" {
				t.Error("a key is empty")
			}
		}
	}))
}
