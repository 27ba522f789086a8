package script_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/lua"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
	"github.com/echomq/echomq-go/runtime/internal/model"
	"github.com/echomq/echomq-go/runtime/internal/script"
)

// fixture is a queue on which every call of wellFormed does something.
const fixture = `
	meta        hash version=echomq:2.0.0
	wait        list w2 w1
	prioritized zset p1=4294967297
	pc          text 1
	delayed     zset d1=1000
	active      zset a1=1000 r1=1000
	reserved    hash r1=w:1
	completed   zset c1=900
	marker      zset w1=0
	w1          hash name=mail data=1
	w2          hash name=mail data=1
	p1          hash name=mail data=1 priority=1
	d1          hash name=mail data=1 delay=5
	a1          hash name=mail data=1 ats=1
	a1:lock     text w:1
	r1          hash name=mail data=1
	c1          hash name=mail data=1 lst="w:0 completed"
`

// wellFormed has a call of two items for each script that takes items.
func wellFormed() map[string]model.Caller {
	return map[string]model.Caller{
		"add": script.Add{Events: "all", History: 100, Items: []script.AddItem{
			{ID: jobID("n1"), Name: "mail", Version: 1}, {ID: jobID("n2"), Name: "mail", Version: 1, Priority: 2},
		}},
		"pick": script.Pick{Events: "all", History: 100, Token: "w:2", Worker: "w", Lease: 1000, Want: 2, Window: 2,
			Limit: much, Payload: much, Items: []script.PickItem{{ID: jobID("w1")}, {ID: jobID("r1"), Reservation: "w:1"}}},
		"settle": script.Settle{Events: "all", History: 100, Items: []script.SettleItem{
			{ID: jobID("a1"), Token: "w:1", Outcome: "retry", Delay: 5}, {ID: jobID("w1"), Token: "w:1", Outcome: "failed"},
		}},
		"cancel": script.Cancel{Events: "all", History: 100, Mark: "cancelled", Items: []script.CancelItem{
			{ID: jobID("w1")}, {ID: jobID("a1"), Name: "mail"},
		}},
		"leave": script.Leave{Events: "all", History: 100, Items: []script.LeaveItem{
			{ID: jobID("a1"), Token: "w:1"}, {ID: jobID("w1"), Token: "w:1"},
		}},
		"extend": script.Extend{Lease: 1000, Items: []script.ExtendItem{
			{ID: jobID("a1"), Token: "w:1"}, {ID: jobID("w1"), Token: "w:1"},
		}},
		"promote": script.Promote{Events: "all", History: 100, Items: []script.PromoteItem{{ID: jobID("d1")}, {ID: jobID("w1")}}},
		"recover": script.Recover{Events: "all", History: 100, Items: []script.RecoverItem{
			{ID: jobID("a1"), Deadline: 1000}, {ID: jobID("r1"), Deadline: 1000},
		}},
		"trim":   script.Trim{Set: "completed", Items: []script.TrimItem{{ID: jobID("c1"), Age: 1, Newer: -1}, {ID: jobID("w1")}}},
		"due":    script.Due{Limit: 10},
		"pause":  script.Pause{Events: "all", History: 100},
		"resume": script.Resume{Events: "all", History: 100},
		"inspect": script.Inspect{Items: []script.InspectItem{
			{ID: jobID("w1")}, {ID: jobID("a1")},
		}},
		"progress": script.Progress{Events: "all", History: 100, Items: []script.ProgressItem{
			{ID: jobID("a1"), Token: "w:1", Value: []byte("1"), Announce: true}, {ID: jobID("w1"), Token: "w:1"},
		}},
		"log": script.Log{Keep: 10, Items: []script.LogItem{
			{ID: jobID("a1"), Token: "w:1", Number: 1, Line: []byte("line")}, {ID: jobID("w1"), Token: "w:1", Number: 1},
		}},
		"report": script.Report{Limit: 10, Items: []script.ReportItem{{ID: jobID("a1")}, {ID: jobID("w1"), After: 1}}},
	}
}

// TestMalformedCallIsRefusedWhole shows law 10: whatever is wrong with a call,
// it is refused before anything is written.
func TestMalformedCallIsRefusedWhole(t *testing.T) {
	t.Parallel()
	enginetest.Each(t, func(t *testing.T, e *enginetest.Engine) {
		b := newBench(t, e)
		b.plantText(t, fixture)
		before, err := b.readAll(t.Context())
		require.NoError(t, err)
		for name, call := range wellFormed() {
			for about, bad := range malformed(t, call.Call(b.queue)) {
				reply, err := b.call(t.Context(), bad)
				require.Equal(t, "EMQARGS", code(err), "%s with %s answered %v, error %v", name, about, reply, err)
				after, err := b.readAll(t.Context())
				require.NoError(t, err)
				require.Equal(t, before.String(), after.String(), "the store after %s with %s", name, about)
			}
		}
		for name, call := range wellFormed() { // so that each was refused for its fault alone
			b.use(t, e)
			b.plantText(t, fixture)
			_, err := b.call(t.Context(), call.Call(b.queue))
			require.NoError(t, err, name)
		}
	})
}

// malformed returns what a call must not be, by what is wrong with it.
func malformed(t *testing.T, call script.Call) map[string]script.Call {
	bad := map[string]script.Call{}
	keys := func(about string, keys []string) {
		bad[about] = script.Call{Script: call.Script, Keys: keys, Args: call.Args}
	}
	args := func(about string, args []any) {
		bad[about] = script.Call{Script: call.Script, Keys: call.Keys, Args: args}
	}
	keys("a key less", call.Keys[:len(call.Keys)-1])
	keys("a key more", append(slices.Clone(call.Keys), call.Keys[0]))
	keys("two keys", call.Keys[:2])
	args("an argument more", append(slices.Clone(call.Args), "1"))
	if len(call.Args) > 0 {
		args("an argument less", call.Args[:len(call.Args)-1])
	}
	arguments := argumentsOf(t, call)
	for i, argument := range arguments {
		for _, value := range argument.wrong() {
			changed := slices.Clone(call.Args)
			changed[i] = value
			args(fmt.Sprintf("%q for %s", value, argument.Name), changed)
		}
	}
	if call.Script.Name == "pick" {
		changed := slices.Clone(call.Args)
		changed[len(changed)-2] = call.Args[len(call.Args)-4]
		args("a job declared twice", changed)
	}
	return bad
}

// argument is an argument as the manifest declares it.
type argument struct{ Name, Kind, script string }

// argumentsOf returns the declared arguments of a call of two items.
func argumentsOf(t *testing.T, call script.Call) []argument {
	t.Helper()
	var manifest struct {
		Scripts []struct {
			Name        string
			Args, Items []argument
		}
	}
	require.NoError(t, json.Unmarshal(lua.Manifest(), &manifest))
	for _, s := range manifest.Scripts {
		if s.Name == call.Script.Name {
			all := slices.Concat(s.Args, s.Items, s.Items)
			require.Len(t, call.Args, len(all))
			for i := range all {
				all[i].script = s.Name
			}
			return all
		}
	}
	t.Fatalf("the manifest has no script %s", call.Script.Name)
	return nil
}

// limits are the ranges of arguments that have one.
var limits = map[string][]string{
	"add priority": {"-1", "2097152"}, "settle priority": {"-1", "2097152"},
	"pick want": {"-1", "501"}, "pick window": {"0", "1001"}, "pick lease": {"0", "-1"}, "pick limit": {"-1"},
	"pick payload": {"-1"}, "log keep": {"0", "10001", "-1"}, "log number": {"0", "-1"}, "progress history": {"-1"},
	"report limit": {"1001", "-1"}, "report after": {"-1"}, "extend lease": {"0", "-1"}, "due limit": {"0", "501", "-1"},
	"add history": {"-1"}, "pick history": {"-1"}, "settle history": {"-1"}, "promote history": {"-1"}, "recover history": {"-1"},
}

// wrong returns values that the argument must not have.
func (a argument) wrong() []string {
	switch a.Kind {
	case "int", "ms":
		wrong := []string{"", "x", "1.5", "1e400", "nan", "-nan", "inf", "99999999999999999999", "1 2"}
		return append(wrong, limits[a.script+" "+a.Name]...)
	case "word":
		return []string{"", "strange"}
	case "flag":
		return []string{"", "2", "-1", "true"}
	case "string":
		if a.Name == "token" && a.script != "extend" && a.script != "leave" {
			return []string{""}
		}
		if a.Name == "mark" {
			return []string{"", "cancelled:", "strange"}
		}
	}
	return nil
}

// TestForeignVersionIsRefused shows law 7 for every script: a queue of another
// version is left alone.
func TestForeignVersionIsRefused(t *testing.T) {
	t.Parallel()
	enginetest.Each(t, func(t *testing.T, e *enginetest.Engine) {
		b := newBench(t, e)
		b.plantText(t, fixture)
		for _, version := range []string{"echomq:3.0.0", "echomq:2.0.1", "bullmq:5.0.0", ""} {
			require.NoError(t, b.client.HSet(t.Context(), b.queue.Key("meta"), "version", version).Err())
			before, err := b.readAll(t.Context())
			require.NoError(t, err)
			for name, call := range wellFormed() {
				reply, err := b.call(t.Context(), call.Call(b.queue))
				require.Equal(t, "EMQVERSION", code(err), "%s answered %v, error %v", name, reply, err)
				after, err := b.readAll(t.Context())
				require.NoError(t, err)
				require.Equal(t, before.String(), after.String(), "the store after %s", name)
			}
		}
		require.Len(t, wellFormed(), len(lua.All()), "every script has its call")
	})
}
