package wire_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/wire"
)

// FuzzStored reads what stands in the store of one piece: what is accepted is
// written as it was.
func FuzzStored(f *testing.F) {
	for _, seed := range []string{
		"", "0|fail|mail|7|json|Welcome", "12|continue|mail-eu|01980000-0000-7000-8000-000000000000||a|b", "-1|ignore|q|7||x",
		"1764500000000 children [{}]", "1764500000000 report emq:{mail}:7 completed 0|fail|mail|8||Welcome\n{\"a\":1}", "7:children",
		"_daily.1764500000000", "_a.b.-7", "daily",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if edge, err := wire.ParseEdge(text); err == nil {
			require.Equal(t, text, edge.String())
		}
		if id, children, err := wire.ParseEntry(text); err == nil && children {
			require.Equal(t, text, wire.ChildrenEntry(id))
		} else if err == nil {
			require.Equal(t, text, id.String())
		}
		if id, err := wire.ParseStoredJobID(text); err == nil {
			require.Equal(t, text, id.String())
		}
		if id, err := wire.ParseSchedulerID(text); err == nil {
			require.Equal(t, text, id.String())
		}
		if scheduler, moment, ok := wire.ParseSlotID(text); ok {
			require.Equal(t, text, scheduler.Slot(moment).String())
		}
		if delivery, err := wire.ParseDelivery([]byte(text)); err == nil && delivery.Children == nil {
			require.Contains(t, text, delivery.Report.Head()+"\n"+string(delivery.Report.Value))
		} else if err == nil {
			require.Contains(t, text, wire.ChildrenHead+string(delivery.Children))
		}
	})
}
