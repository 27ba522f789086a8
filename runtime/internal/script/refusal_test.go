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
	meta        hash version=echomq:2.0.0 slot=1000
	wait        list w2 w1
	prioritized zset p1=4294967297
	pc          text 1
	delayed     zset d1=1000
	active      zset a1=1000 r1=1000
	reserved    hash r1=w:1
	completed   zset c1=900
	failed      zset f1=900
	marker      zset w1=0
	w1          hash name=mail data=1 deid=k1 deu=finished
	w2          hash name=mail data=1
	p1          hash name=mail data=1 priority=1
	d1          hash name=mail data=1 delay=5 deid=k2 deu=started
	a1          hash name=mail data=1 ats=1
	a1:lock     text w:1
	r1          hash name=mail data=1
	c1          hash name=mail data=1 lst="w:0 completed"
	f1          hash name=mail data=1 lst="w:0 failed"
	waiting-children zset p9=1000
	p9          hash name=mail data=1 chn=2 timestamp=1000
	p9:dependencies set "0|ignore|mail|w1||mail" "1|fail|mail|w2||mail"
	outbox      zset c1=1000 p9:children=4000000000000
	outbox-body hash c1="1000 report emq:{mail}:p9 completed 2|fail|mail|c1||mail\n1" p9:children="1000 children []"
	schedulers  zset s1=1000 s2=1000
	scheduler:s1 hash rev=r name=mail
	scheduler:s2 hash rev=r name=mail
	dedup       hash k1=w1 k2=d1 k3=x
	dedup-due   zset k3=1000
`

// wellFormed has a call of two items for each script that takes items.
func wellFormed() map[string]model.Caller {
	return map[string]model.Caller{
		"add": script.Add{Events: "all", History: 100, Items: []script.AddItem{
			{ID: jobID("n1"), Name: "mail", Version: 1, Unique: "k4", Until: "started"},
			{ID: jobID("n2"), Name: "mail", Version: 1, Priority: 2, Unique: "k5", Until: "removed"},
		}},
		"pick": script.Pick{Events: "all", History: 100, Token: "w:2", Worker: "w", Lease: 1000, Want: 2, Window: 2,
			Limit: much, Payload: much, Items: []script.PickItem{{ID: jobID("w1")}, {ID: jobID("r1"), Reservation: "w:1"}}},
		"settle": script.Settle{Events: "all", History: 100, Items: []script.SettleItem{
			{ID: jobID("a1"), Token: "w:1", Outcome: "retry", Delay: 5}, {ID: jobID("w1"), Token: "w:1", Outcome: "release"},
		}},
		"push": script.Add{Events: "final", History: 100, Items: []script.AddItem{
			{ID: jobID("n1"), Name: "mail", Version: 1}, {ID: jobID("n2"), Name: "mail", Version: 1, Opts: []byte("{}")},
		}},
		"post": script.Add{Events: "final", History: 100, Items: []script.AddItem{
			{ID: jobID("n1"), Name: "mail", Version: 2}, {ID: jobID("n2"), Name: "mail", Version: 1, Codec: "pb"},
		}},
		"complete": script.Settle{Events: "all", History: 100, Items: []script.SettleItem{
			{ID: jobID("a1"), Token: "w:1", Outcome: "completed", Attempts: 1, Keep: true, Groupless: true},
			{ID: jobID("w1"), Token: "w:1", Outcome: "completed", Attempts: 1, Keep: true, Groupless: true},
		}},
		"override": script.Override{Limit: "3", Rate: "5/1000"},
		"cancel": script.Cancel{Events: "all", History: 100, Mark: "cancelled", Items: []script.CancelItem{
			{ID: jobID("w1")}, {ID: jobID("a1"), Name: "mail"},
		}},
		"change": script.Change{Events: "all", History: 100, By: "b1", Priority: 3, Delay: 5, Items: []script.ChangeItem{
			{ID: jobID("w1")}, {ID: jobID("d1"), Name: "mail"},
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
		"trim": script.Trim{Set: "completed", Items: []script.TrimItem{{ID: jobID("c1"), Age: 1, Newer: -1}, {ID: jobID("w1")}}},
		"deliver": script.Deliver{Events: "all", History: 100, Items: []script.DeliverItem{
			{ID: jobID("p9"), Edge: "0|ignore|mail|w1||mail", Outcome: "completed", Value: []byte("1")},
			{ID: jobID("p9"), Edge: "1|fail|mail|w2||mail", Outcome: "failed", Value: []byte("no")},
		}},
		"collect": script.Collect{Limit: 10, Bytes: 1000, Least: 1, Most: 10, Parents: 10, Check: 10},
		"acknowledge": script.Acknowledge{Items: []script.AcknowledgeItem{
			{ID: jobID("c1"), Entry: "c1"}, {ID: jobID("p9"), Entry: "p9:children"},
		}},
		"verify": script.Verify{Bytes: 1000, Items: []script.VerifyItem{
			{ID: jobID("w1"), Parent: "emq:{mail}:p9"}, {ID: jobID("c1"), Parent: "emq:{mail}:f1"},
		}},
		"due":   script.Due{Limit: 10},
		"heal":  script.Heal{Items: []script.HealItem{{ID: jobID("w1"), Unique: "k1"}, {ID: jobID("x"), Unique: "k3"}}},
		"prune": script.Prune{Limit: 10},
		"replace": script.Replace{Events: "all", History: 100, Items: []script.ReplaceItem{
			{ID: jobID("w1"), By: "n1", Version: 1, Unique: "k1", Until: "finished"},
			{ID: jobID("d1"), By: "n2", Version: 1, Unique: "k2", Until: "started"},
		}},
		"declare": script.Declare{Items: []script.DeclareItem{
			{Name: "mail", Version: 1, Hash: "h1", Program: "p"}, {Name: "other", Version: 1, Hash: "h1", Program: "p"},
		}},
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
		"counts": script.Counts{},
		"list":   script.List{Set: "delayed", Order: "falling", Limit: 2},
		"view":   script.View{Limit: much, Items: []script.ViewItem{{ID: jobID("w1")}, {ID: jobID("a1")}}},
		"remove": script.Remove{Events: "all", History: 100, Items: []script.RemoveItem{{ID: jobID("w1")}, {ID: jobID("d1")}}},
		"retry":  script.Retry{Events: "all", History: 100, Items: []script.RetryItem{{ID: jobID("f1")}, {ID: jobID("w1")}}},
		"drain": script.Drain{Events: "all", History: 100, Set: "wait", Take: 2,
			Items: []script.DrainItem{{ID: jobID("w1")}, {ID: jobID("w2")}}},
		"expel":      script.Expel{Events: "all", History: 100, To: "quarantine", Items: []script.ExpelItem{{Member: "a b"}, {Member: "c d"}}},
		"erase":      script.Erase{Items: []script.EraseItem{{ID: jobID("c1")}, {ID: jobID("d1")}}},
		"obliterate": script.Obliterate{},
		"sweep":      script.Sweep{Worker: "w", Set: "completed", Step: "look", Limit: 10, Hold: 1000},
		"schedule": script.Schedule{Items: []script.ScheduleItem{
			{Scheduler: schedulerID("s1"), Revision: "x", Next: 4000000000001, Name: "mail", Every: 1000, Misfire: "once", Version: 1},
			{Scheduler: schedulerID("s3"), Revision: "x", Next: 4000000000001, Name: "mail", Every: 1000, Misfire: "once", Version: 1},
		}},
		"unschedule": script.Unschedule{Items: []script.UnscheduleItem{{Scheduler: schedulerID("s1")}, {Scheduler: schedulerID("s3")}}},
		"tick": script.Tick{Events: "all", History: 100, Items: []script.TickItem{
			tickItem("s1", 1000, 4000000000001), tickItem("s2", 1000, 4000000000001),
		}},
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
	keys("two keys", slices.Concat(call.Keys, call.Keys)[:2])
	switch {
	case call.Script.Name == "expel": // whose number of items only the arguments tell
		args("no ids", call.Args[:3])
		args("too many ids", append(slices.Clone(call.Args), slices.Repeat([]any{"x"}, 499)...))
	case len(call.Args) > 0:
		args("an argument less", call.Args[:len(call.Args)-1])
		fallthrough
	default:
		args("an argument more", append(slices.Clone(call.Args), "1"))
	}
	arguments := argumentsOf(t, call)
	for i, argument := range arguments {
		for _, value := range argument.wrong() {
			changed := slices.Clone(call.Args)
			changed[i] = value
			args(fmt.Sprintf("%q for %s", value, argument.Name), changed)
		}
	}
	if twice := map[string]int{"pick": 2, "replace": 12}[call.Script.Name]; twice > 0 {
		changed := slices.Clone(call.Args)
		changed[len(changed)-twice] = call.Args[len(call.Args)-2*twice]
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
	"add priority": {"-1", "2097152"}, "add term": {"-1"}, "replace priority": {"-1", "2097152"}, "replace term": {"-1"},
	"prune limit": {"0", "1001", "-1"}, "replace history": {"-1"}, "settle priority": {"-1", "2097152"},
	"pick want": {"-1", "501"}, "pick window": {"0", "1001"}, "pick lease": {"0", "-1"}, "pick limit": {"-1"},
	"schedule priority": {"-1", "2097152"}, "schedule version": {"0"}, "schedule next": {"-1", "9007199254740991"},
	"schedule every": {"-1"}, "schedule delay": {"-1"}, "schedule limit": {"-1"}, "schedule end": {"-1"},
	"tick priority": {"-1", "2097152"}, "tick version": {"0"}, "tick next": {"0", "999", "1000", "9007199254740992"},
	"tick from": {"0", "1001"}, "tick slot": {"0", "999", "4000000000001"}, "tick delay": {"-1"}, "tick history": {"-1"},
	"pick payload": {"-1"}, "log keep": {"0", "10001", "-1"}, "log number": {"0", "-1"}, "progress history": {"-1"},
	"report limit": {"1001", "-1"}, "report after": {"-1"}, "extend lease": {"0", "-1"}, "due limit": {"0", "501", "-1"},
	"add children": {"-1", "5001", "1"}, "collect limit": {"0", "501"}, "collect parents": {"-1", "501"}, "collect bytes": {"-1"},
	"collect least": {"0"}, "collect most": {"0"}, "collect check": {"0"}, "verify bytes": {"-1"}, "deliver history": {"-1"},
	"pick cap": {"-1", "2147483648"}, "pick tokens": {"-1", "1000001"}, "pick interval": {"-1", "2678400001"},
	"change history": {"-1"}, "change priority": {"-2", "2097152"}, "change delay": {"-2"}, "change due": {"-1"},
	"add history": {"-1"}, "pick history": {"-1"}, "settle history": {"-1"}, "complete history": {"-1"}, "promote history": {"-1"}, "recover history": {"-1"},
	"remove history": {"-1"}, "retry history": {"-1"}, "drain history": {"-1"}, "expel history": {"-1"},
	"list limit": {"0", "501"}, "view limit": {"-1"}, "drain take": {"0", "501"},
	"sweep from": {"-1"}, "sweep limit": {"0", "501"}, "sweep hold": {"0", "86400001"},
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
		if a.script == "override" {
			return []string{"0", "-1", "x", "1.5", "5/", "/5", "0/5", "5/0", "5/5/5", " none", "2147483648", "5/2678400001", "1000001/5"}
		}
		switch {
		case a.Name == "token" && a.script != "extend" && a.script != "leave" || a.script == "sweep" || a.script == "replace" && (a.Name == "by" || a.Name == "unique"), a.script == "change" && a.Name == "by":
			return []string{""}
		case a.Name == "edge" && a.script == "deliver":
			return []string{"", "0|fail|mail|w1|mail", "x|fail|mail|w1||mail", "0|never|mail|w1||mail", "0|fail|mail|w1||", "0|fail||w1||mail"}
		case a.Name == "entry":
			return []string{"", "other", "children"}
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
