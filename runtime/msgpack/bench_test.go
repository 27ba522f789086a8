package msgpack_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	library "github.com/vmihailenco/msgpack/v5"

	"github.com/echomq/echomq-go/runtime/internal/packed"
)

// byLibrary encodes by the library's reflection, canonically as far as it can.
func byLibrary(value any) ([]byte, error) {
	var buffer bytes.Buffer
	e := library.GetEncoder()
	defer library.PutEncoder(e)
	e.Reset(&buffer)
	e.SetCustomStructTag("json")
	e.UseCompactInts(true)
	e.SetSortMapKeys(true)
	err := e.Encode(value)
	return buffer.Bytes(), err
}

func fromLibrary(data []byte, value any) error {
	d := library.GetDecoder()
	defer library.PutDecoder(d)
	d.Reset(bytes.NewReader(data))
	d.SetCustomStructTag("json")
	return d.Decode(value)
}

var work = []struct {
	name      string
	generated func(value *packed.Order, data []byte) error
	reflected func(value *packed.Order, data []byte) error
	// least is how many times as fast the generated code is at least.
	least float64
}{
	{"encode",
		func(value *packed.Order, _ []byte) error { _, err := packed.OrderCodec.Encode(value); return err },
		func(value *packed.Order, _ []byte) error { _, err := byLibrary(value); return err }, 3},
	{"decode",
		func(_ *packed.Order, data []byte) error {
			var o packed.Order
			return packed.OrderCodec.Decode(data, &o)
		},
		func(_ *packed.Order, data []byte) error { var o packed.Order; return fromLibrary(data, &o) }, 1.5},
}

// BenchmarkOrder compares what is generated with the library's reflection, and
// reports how many times as fast it is.
func BenchmarkOrder(b *testing.B) {
	value := order()
	data, err := packed.OrderCodec.Encode(&value)
	require.NoError(b, err)
	for _, w := range work {
		var reflected float64
		b.Run(w.name+"/reflected", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := w.reflected(&value, data); err != nil {
					b.Fatal(err)
				}
			}
			reflected = float64(b.Elapsed()) / float64(b.N)
		})
		b.Run(w.name+"/generated", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := w.generated(&value, data); err != nil {
					b.Fatal(err)
				}
			}
			if reflected > 0 {
				b.ReportMetric(reflected/(float64(b.Elapsed())/float64(b.N)), "times-as-fast")
			}
		})
	}
}

// TestFasterThanReflection holds the ratios that the generated code is for. It
// compares the shortest of many short runs of each, so that a busy machine does not
// matter.
func TestFasterThanReflection(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("measures time")
	}
	value := order()
	data, err := packed.OrderCodec.Encode(&value)
	require.NoError(t, err)
	for _, w := range work {
		reflected, generated := math.Inf(1), math.Inf(1)
		for range 100 {
			reflected = min(reflected, perCall(t, w.reflected, &value, data))
			generated = min(generated, perCall(t, w.generated, &value, data))
		}
		t.Logf("%s: %.1f times as fast", w.name, reflected/generated)
		require.GreaterOrEqual(t, reflected/generated, w.least, w.name)
	}
}
