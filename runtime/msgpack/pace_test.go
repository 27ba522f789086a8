package msgpack_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/internal/packed"
)

// perCall returns how long one call takes: the least of several runs.
func perCall(t *testing.T, call func(*packed.Order, []byte) error, value *packed.Order, data []byte) float64 {
	t.Helper()
	const runs, calls = 10, 500
	best := time.Hour
	for range runs {
		start := time.Now()
		for range calls {
			require.NoError(t, call(value, data))
		}
		best = min(best, time.Since(start))
	}
	return float64(best) / calls
}
