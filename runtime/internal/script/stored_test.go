package script_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/lua"
	"github.com/echomq/echomq-go/lua/header"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
	"github.com/echomq/echomq-go/runtime/internal/model"
	"github.com/echomq/echomq-go/runtime/internal/script"
)

// storing are calls on the fixture that store what headers say with @stores. No
// value in a call is like another one of it.
func storing() []model.Caller {
	settle := func(outcome script.SettleOutcome) model.Caller {
		return script.Settle{Events: "all", History: 100, Items: []script.SettleItem{{
			ID: jobID("a1"), Token: "w:1", Outcome: outcome, Value: []byte("a value"), Trace: []byte(`["a trace"]`), Delay: 71,
			Attempts: 72, Starts: 73, Unknown: 74, Priority: 75, Keep: true,
		}}}
	}
	return []model.Caller{
		script.Add{Events: "all", History: 100, Items: []script.AddItem{{
			ID: jobID("n1"), Name: "a name", Data: []byte("some data"), Codec: "pb", Version: 81, Opts: []byte(`{"attempts":82}`), Delay: 83, Priority: 84,
		}}},
		script.Add{Events: "all", History: 100, Items: []script.AddItem{{
			ID: jobID("n2"), Name: "a name", Data: []byte("some data"), Version: 1, Parent: "emq:{mail}:p9", Edge: "0|fail|mail|n2||mail",
			Children: 1, Edges: []byte("0|fail|mail|n3||mail"), Delivery: []byte("children []"),
		}}},
		script.Pick{Events: "all", History: 101, Token: "w:2", Worker: "a worker", Lease: 1000, Want: 1, Window: 2,
			Limit: much, Payload: much + 1, Items: []script.PickItem{{ID: jobID("w1")}}},
		script.Change{Events: "all", History: 100, By: "a call", Priority: 95, Due: 4000000000096,
			Items: []script.ChangeItem{{ID: jobID("w1")}}},
		script.Change{Events: "all", History: 100, By: "a call", Priority: 95, Delay: -1, Items: []script.ChangeItem{{ID: jobID("d1")}}},
		script.Progress{Events: "all", History: 100, Items: []script.ProgressItem{{ID: jobID("a1"), Token: "w:1", Value: []byte("91")}}},
		script.Add{Events: "none", Items: []script.AddItem{{
			ID: jobID("n3"), Name: "a name", Data: []byte("some data"), Version: 1, Opts: []byte(`{"attempts":82}`),
		}}},
		script.Add{Events: "none", Items: []script.AddItem{{
			ID: jobID("n4"), Name: "a name", Data: []byte("some data"), Codec: "pb", Version: 81, Opts: []byte(`{"attempts":82}`),
		}}},
		script.Settle{Events: "all", History: 100, Items: []script.SettleItem{{
			ID: jobID("a1"), Token: "w:1", Outcome: "completed", Value: []byte("a value"), Attempts: 72, Keep: true, Groupless: true,
		}}},
		settle("completed"), settle("failed"), settle("retry"), settle("release"),
	}
}

// TestFieldsTakeTheValuesThatHeadersSay makes calls and looks for each @stores of
// each script into the hash of the call's first job.
func TestFieldsTakeTheValuesThatHeadersSay(t *testing.T) {
	t.Parallel()
	enginetest.Each(t, func(t *testing.T, e *enginetest.Engine) {
		b := newBench(t, e)
		shown := map[string]bool{}
		for _, caller := range storing() {
			b.use(t, e)
			b.plantText(t, fixture)
			call := caller.Call(b.queue)
			declared, err := header.Parse(call.Script.Name+".lua", []byte(call.Script.Source))
			require.NoError(t, err)
			_, err = b.call(t.Context(), call)
			require.NoError(t, err)
			job := call.Keys[len(declared.Keys)]
			hash, err := b.client.HGetAll(t.Context(), job).Result()
			require.NoError(t, err)
			for _, store := range declared.Stores {
				named := func(value header.Value) bool { return value.Name == store.Value }
				at := slices.IndexFunc(slices.Concat(declared.Args, declared.Items), named)
				value := fmt.Sprint(call.Args[at])
				if bytes, ok := call.Args[at].([]byte); ok {
					value = string(bytes)
				}
				if hash[store.Field] == value {
					shown[declared.Name+" "+store.Field+" "+store.Value] = true
				}
			}
		}
		for _, one := range lua.All() {
			declared, err := header.Parse(one.Name+".lua", []byte(one.Source))
			require.NoError(t, err)
			for _, store := range declared.Stores {
				require.True(t, shown[declared.Name+" "+store.Field+" "+store.Value],
					"%s: no call shows that field %s takes the value of %s", declared.Name, store.Field, store.Value)
			}
		}
	})
}
