package echomq_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

// TestJobWithABackoffThatIsNone is tried again and ends: what is no time has no
// part in a settle, which would be refused for ever.
func TestJobWithABackoffThatIsNone(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		for _, opts := range []string{
			`{"backoff":{"base":-5,"cap":1}}`, `{"backoff":{"type":"fixed","base":1,"cap":-7}}`,
			`{"backoff":{"type":"fixed","base":-9223372036854775808,"jitter":"none"}}`,
		} {
			handle := f.enqueue(t, "Ada", echomq.In(time.Hour))
			require.NoError(t, f.store.HSet(f.ctx, f.queue.Key(handle.ID), "opts", opts).Err())
			w := f.work(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
				if job.Attempt() == 1 {
					return "", errFlaky
				}
				return "again", nil
			})
			require.NoError(t, handle.RunNow(f.ctx))
			eventually(t, func() bool { return f.envelope(t, handle.ID).AttemptsMade >= 1 }, "the first attempt is settled")
			if err := handle.RunNow(f.ctx); err != nil { // it may be on its way already
				require.True(t, errors.Is(err, echomq.ErrJobActive) || errors.Is(err, echomq.ErrJobEnded), "%v", err)
			}
			require.Equal(t, "again", await(t, f, handle))
			w.halt(t)
		}
	})
}
