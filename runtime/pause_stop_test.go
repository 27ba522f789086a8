package echomq

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A runner that stops waits for what ends, and not for a token whose time has come.
func TestStoppingRunnerDoesNotSpin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &runner{store: context.Background(), nudge: make(chan struct{}, 1), stopping: true, running: 1}
		r.exchanger.ready = time.Now().Add(-time.Second)
		returned := make(chan struct{})
		go func() {
			r.pause()
			close(returned)
		}()
		synctest.Wait()
		select {
		case <-returned:
			require.Fail(t, "it looks again at once")
		default:
		}
		r.wake()
		<-returned
	})
}
