package echomq_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

// sealer seals the same payload differently each time.
type sealer struct{ serial *atomic.Int64 }

func (sealer) Name() string { return "odd" }

func (s sealer) Seal(_, _ string, plain []byte) ([]byte, error) {
	return fmt.Appendf(nil, "%03d%s", s.serial.Add(1), plain), nil
}

func (sealer) Open(_, _ string, sealed []byte) ([]byte, error) { return sealed[3:], nil }

func TestSealedPayloadIsNoChange(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.client = f.newClient(t, f.store, echomq.TransformPayloads(sealer{new(atomic.Int64)}))
		f.producer = echomq.NewProducer(f.client, f.spec)
		f.upsert(t, echomq.ScheduleSpec{Every: 24 * time.Hour})
		record := f.hash(t, "scheduler:greet")
		require.Equal(t, `001{"name":"Ada"}`, record["data"])
		f.upsert(t, echomq.ScheduleSpec{Every: 24 * time.Hour})
		require.Equal(t, record, f.hash(t, "scheduler:greet"))
		f.upsert(t, echomq.ScheduleSpec{Every: 24 * time.Hour}, echomq.Priority(1))
		require.Equal(t, record["data"], f.hash(t, "scheduler:greet")["data"])

		f.turnBack(t, f.serverTime(t).Add(-time.Second))
		f.work(t, hello)
		eventually(t, func() bool { return f.schedule(t).Count == 1 }, "it runs")
		require.Equal(t, 1, f.settled(t))
	})
}

// mute is a transform that cannot open what it has sealed.
type mute struct{ sealer }

func (mute) Open(_, _ string, _ []byte) ([]byte, error) { return nil, errFlaky }
