package msgpack_test

import (
	"testing"
	"time"

	"github.com/echomq/echomq-go/runtime/internal/packed"
)

// perCall returns how long one call takes: the least of several runs.
func perCall(t *testing.T, call func(*packed.Order, []byte) error, value *packed.Order, data []byte) float64 {
	t.Helper()
	const runs, calls = 10, 50
	best := time.Hour
	for range runs {
		start := time.Now()
		for range calls {
			if err := call(value, data); err != nil {
				t.Fatal(err)
			}
		}
		best = min(best, time.Since(start))
	}
	return float64(best) / calls
}
