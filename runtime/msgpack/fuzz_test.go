package msgpack_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/internal/packed"
	"github.com/echomq/echomq-go/runtime/msgpack"
)

// FuzzDecode decodes anything: it ends with a value or an [msgpack.Error], and a
// value is encoded so that it decodes to what is encoded alike. The corpus is kept
// in testdata/fuzz.
func FuzzDecode(f *testing.F) {
	for _, value := range []packed.Everything{full(), small()} {
		data, err := packed.EverythingCodec.Encode(&value)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(data[:len(data)/2])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := check(data); err != nil {
			t.Fatalf("%v\n%x", err, data)
		}
	})
}

// check decodes data and says what is wrong with what came of it.
func check(data []byte) error {
	var value packed.Everything
	if err := packed.EverythingCodec.Decode(data, &value); err != nil {
		var failure *msgpack.Error
		if !errors.As(err, &failure) {
			return fmt.Errorf("error of another type: %w", err)
		}
		return nil
	}
	first, err := packed.EverythingCodec.Encode(&value)
	if err != nil {
		return nil // what has read itself does not write itself: an absent json.RawMessage in a list
	}
	var again packed.Everything
	if err := packed.EverythingCodec.Decode(first, &again); err != nil {
		return fmt.Errorf("what was written is not read: %w", err)
	}
	second, err := packed.EverythingCodec.Encode(&again)
	if err != nil || !bytes.Equal(first, second) {
		return fmt.Errorf("written otherwise the second time: %w\n%x\n%x", err, first, second)
	}
	return nil
}

// TestDamaged has the fuzz target look at what a few faults make of values: a
// byte changed, dropped or doubled, in every place and then in several at random.
func TestDamaged(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for _, value := range []packed.Everything{full(), small()} {
		data := encoded(t, value)
		for range 4_000 {
			damaged := bytes.Clone(data)
			for range 1 + random.IntN(3) {
				at := random.IntN(len(damaged))
				switch random.IntN(4) {
				case 0:
					damaged[at] ^= 1 << random.IntN(8)
				case 1:
					damaged[at] = byte(random.Uint32())
				case 2:
					damaged = slices.Delete(damaged, at, at+1)
				default:
					damaged = slices.Insert(damaged, at, damaged[at])
				}
			}
			require.NoError(t, check(damaged), "%x", damaged)
		}
	}
}
