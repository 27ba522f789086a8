package script_test

import (
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/internal/enginetest"
	"github.com/echomq/echomq-go/runtime/internal/model"
	"github.com/echomq/echomq-go/runtime/internal/script"
)

// situations are the places where the job "a" can be, and the damage that it
// can have. Its worker's token is w:1; its lease ran out at 1000.
var situations = map[string]string{
	"missing":  ``,
	"waiting":  `wait list c a` + "\n" + `a hash name=mail data=1` + "\n" + `c hash name=mail data=1` + "\n" + `marker zset a=0`,
	"ranked":   `prioritized zset a=4294967297` + "\n" + `pc text 1` + "\n" + `a hash name=mail data=1 priority=1` + "\n" + `marker zset a=0`,
	"delayed":  `delayed zset a=4000000000001` + "\n" + `a hash name=mail data=1 delay=5`,
	"due":      `delayed zset a=1000` + "\n" + `a hash name=mail data=1 delay=5`,
	"due back": `delayed zset a=1000` + "\n" + `a hash name=mail data=1 delay=5 ats=1 atm=1 lst="w:0 retry"`,
	"reserved": `active zset a=1000` + "\n" + `reserved hash a=w:1` + "\n" + `a hash name=mail data=1`,
	"active":   `active zset a=1000` + "\n" + `a:lock text w:1` + "\n" + `a hash name=mail data=1 ats=1 pb=w processedOn=900`,
	"cancelled": `meta hash version=echomq:2.0.0 cancels=1` + "\n" + `active zset a=4000000000001` + "\n" +
		`a:lock text w:1` + "\n" + `a hash name=mail data=1 ats=1 defa=cancelled`,
	"another's": `active zset a=1000` + "\n" + `a:lock text w:2` + "\n" + `a hash name=mail data=1 ats=2 pb=w processedOn=900` +
		"\n" + `reserved hash b=w:2`,
	"paused": `meta hash version=echomq:2.0.0 paused=1` + "\n" + `wait list a` + "\n" + `a hash name=mail data=1`,
	"at its limit": `meta hash version=echomq:2.0.0 blocked=limit limit=1` + "\n" + `active zset a=1000` + "\n" + `a:lock text w:1` + "\n" +
		`a hash name=mail data=1 ats=1 pb=w processedOn=900` + "\n" + `wait list b` + "\n" + `b hash name=mail data=1`,
	"without a token": `meta hash version=echomq:2.0.0 rate=1/3600000` + "\n" + `limiter hash level=0 interval=3600000 at=4000000000000` + "\n" +
		`wait list a` + "\n" + `a hash name=mail data=1`,
	"completed": `completed zset a=900 b=950` + "\n" + `a hash name=mail data=1 finishedOn=900 lst="w:1 completed"` + "\n" + `a:logs list line`,
	"failed":    `failed zset a=900` + "\n" + `a hash name=mail data=1 finishedOn=900 lst="w:1 failed"`,
	"stub":      `a stub name=mail lst="w:1 completed"`,
	"released":  `wait list a` + "\n" + `a hash name=mail data=1 ats=0 lst="w:1 release"` + "\n" + `marker zset a=0`,

	"waiting for children": `waiting-children zset a=1000` + "\n" + `a hash name=mail data=1 chn=2 timestamp=900` + "\n" +
		`a:dependencies set "0|fail|mail|b||mail" "1|ignore|mail|c||mail"` + "\n" +
		`outbox zset a:children=1000` + "\n" + `outbox-body hash a:children="900 children []"`,
	"waiting for one child": `waiting-children zset a=1000` + "\n" + `a hash name=mail data=1 chn=1 timestamp=900` + "\n" +
		`a:dependencies set "0|fail|mail|b||mail"`,
	"not reported": `completed zset a=900` + "\n" + `a hash name=mail data=1 finishedOn=900 lst="w:1 completed" timestamp=800 parentKey=emq:{mail}:p` +
		"\n" + `outbox zset a=1000` + "\n" + `outbox-body hash a="900 report emq:{mail}:p completed 0|fail|mail|a||mail\n1"`,
	"a stub not reported": `a hash name=mail lst="w:1 completed" parentKey=emq:{mail}:p` + "\n" + `outbox zset a=1000` + "\n" +
		`outbox-body hash a="900 report emq:{mail}:p completed 0|fail|mail|a||mail\n1"`,
	"lost with children": `waiting-children zset a=1000` + "\n" + `a:dependencies set "0|fail|mail|b||mail"`,
	"of a schedule": `meta hash version=echomq:2.0.0 slot=1000` + "\n" + `schedulers zset s=1000` + "\n" +
		`scheduler:s hash rev=r name=mail cron= every=1000 tz= end=0`,
	"the last of a schedule": `meta hash version=echomq:2.0.0 slot=1000` + "\n" + `schedulers zset s=1000` + "\n" +
		`scheduler:s hash rev=r name=mail cnt=2 lim=3`,
	"unique": `dedup hash k=a` + "\n" + `dedup-due zset k=4000000000001` + "\n" + `wait list a` + "\n" +
		`a hash name=mail data=1 opts={} deid=k deu=finished` + "\n" + `marker zset a=0`,
	"unique and delayed": `dedup hash k=a` + "\n" + `delayed zset a=4000000000001` + "\n" +
		`a hash name=mail data=1 cdc=pb delay=5 priority=2 deid=k deu=started`,
	"unique and reserved": `dedup hash k=a` + "\n" + `active zset a=1000` + "\n" + `reserved hash a=w:1` + "\n" +
		`a hash name=mail data=1 deid=k deu=started`,
	"unique and active": `dedup hash k=a` + "\n" + `active zset a=1000` + "\n" + `a:lock text w:1` + "\n" +
		`a hash name=mail data=1 ats=1 deid=k deu=finished`,
	"unique until removed": `dedup hash k=a` + "\n" + `completed zset a=900` + "\n" +
		`a hash name=mail data=1 finishedOn=900 lst="w:1 completed" deid=k deu=removed`,
	"unique and another's turn": `dedup hash k=b` + "\n" + `dedup-due zset k=1000` + "\n" + `b hash name=mail deid=k deu=removed` + "\n" +
		`failed zset b=900` + "\n" + `active zset a=1000` + "\n" + `a:lock text w:1` + "\n" + `a hash name=mail data=1 ats=1 deid=k deu=finished`,
	"unique and lost": `dedup hash k=a`,

	"waiting in a group": `meta hash version=echomq:2.0.0 grouped=2` + "\n" + `groups zset g=1 h=2` + "\n" +
		`grouped zset g|0000000|0000000000000001|a=0 h|0000000|0000000000000002|b=0` + "\n" + `marker zset a=0` + "\n" +
		`a hash name=mail data=1 grp=g gpl=0000000|0000000000000001` + "\n" + `b hash name=mail grp=h gpl=0000000|0000000000000002`,
	"active of a group at its limit": `meta hash version=echomq:2.0.0 grouped=2` + "\n" + `groups zset g=4503599627370497` + "\n" +
		`grouped zset g|0000000|0000000000000002|b=0` + "\n" + `group-active hash a=g |g=1` + "\n" +
		`active zset a=1000` + "\n" + `a:lock text w:1` + "\n" + `a hash name=mail data=1 ats=1 grp=g gpl=0000000|0000000000000001` + "\n" +
		`b hash name=mail grp=g gpl=0000000|0000000000000002`,
	"reserved of a group": `meta hash version=echomq:2.0.0 grouped=2` + "\n" + `group-active hash a=g |g=1` + "\n" +
		`active zset a=1000` + "\n" + `reserved hash a=w:1` + "\n" + `a hash name=mail data=1 grp=g gpl=0000000|0000000000000001`,
	"delayed of a group": `delayed zset a=1000` + "\n" + `a hash name=mail data=1 ats=1 grp=g`,
	"failed of a group":  `failed zset a=900` + "\n" + `a hash name=mail data=1 finishedOn=900 grp=g lst="w:1 failed"`,
	"lost in a group": `meta hash version=echomq:2.0.0 grouped=1` + "\n" + `groups zset g=1` + "\n" +
		`grouped zset g|0000000|0000000000000001|a=0` + "\n" + `marker zset a=0`,

	"lost while waiting":       `wait list a` + "\n" + `marker zset a=0`,
	"lost while delayed":       `delayed zset a=1000`,
	"lost while active":        `active zset a=1000` + "\n" + `a:lock text w:1`,
	"lost while reserved":      `active zset a=1000` + "\n" + `reserved hash a=w:1`,
	"replaced while waiting":   `wait list a` + "\n" + `a text strange` + "\n" + `marker zset a=0`,
	"replaced while delayed":   `delayed zset a=1000` + "\n" + `a text strange`,
	"replaced while active":    `active zset a=1000` + "\n" + `a:lock text w:1` + "\n" + `a text strange`,
	"nameless while active":    `active zset a=1000` + "\n" + `a:lock text w:1` + "\n" + `a hash data=1`,
	"nameless while delayed":   `delayed zset a=1000` + "\n" + `a hash data=1`,
	"changed while waiting":    `wait list a` + "\n" + `a hash name=mail data=1 chp=2 chc=b0` + "\n" + `marker zset a=0`,
	"put off while waiting":    `wait list a` + "\n" + `a hash name=mail data=1 chd=4000000000001 chc=b0` + "\n" + `marker zset a=0`,
	"changed and reserved":     `active zset a=1000` + "\n" + `reserved hash a=w:1` + "\n" + `a hash name=mail data=1 chp=2 chd=4000000000001`,
	"quarantined":              `quarantine zset a=900` + "\n" + `a text strange`,
	"lock lost while active":   `active zset a=1000` + "\n" + `a hash name=mail data=1 ats=1`,
	"a job without its number": `wait list "a b"` + "\n" + `marker zset "a b"=0`,
}

// limited gives picks a limit for each group.
func limited(calls [2]model.Caller) [2]model.Caller {
	for i, call := range calls {
		pick := call.(script.Pick)
		pick.PerGroup = 1
		calls[i] = pick
	}
	return calls
}

// repeated are calls that name the job "a", each as it is sent first and again.
func repeated() map[string][2]model.Caller {
	a := jobID("a")
	twice := func(call model.Caller) [2]model.Caller { return [2]model.Caller{call, call} }
	pick := func(want int64, items ...script.PickItem) [2]model.Caller {
		first := script.Pick{
			Events: script.PickEventsAll, History: 100, Token: "w:7", Worker: "w", Lease: hour,
			Want: want, Window: 5, Limit: much, Payload: much, Items: items,
		}
		again := first
		again.Again = true
		return [2]model.Caller{first, again}
	}
	calls := map[string][2]model.Caller{
		"add": twice(script.Add{Events: script.AddEventsAll, History: 100, Items: []script.AddItem{
			{ID: a, Name: "mail", Data: []byte("2"), Version: 1}, {ID: jobID("d"), Name: "mail", Version: 1, Delay: hour},
			{ID: jobID("e"), Name: "mail", Version: 1, Priority: 7},
		}}),
		"pick of nothing":       pick(0),
		"pick without a guess":  pick(2),
		"pick with a guess":     pick(2, script.PickItem{ID: a}),
		"pick of a reservation": pick(0, script.PickItem{ID: a, Reservation: "w:1"}),
		"pick with a false claim": pick(1, script.PickItem{ID: a, Reservation: "w:9"},
			script.PickItem{ID: jobID("b"), Reservation: "w:9"}),
		"extend": twice(script.Extend{Lease: hour, Items: []script.ExtendItem{{ID: a, Token: "w:1"}}}),
		"leave":  twice(script.Leave{Events: script.LeaveEventsAll, History: 100, Items: []script.LeaveItem{{ID: a, Token: "w:1"}}}),
		"change of the priority": twice(script.Change{Events: script.ChangeEventsAll, History: 100, By: "b1", Priority: 3, Delay: -1,
			Items: []script.ChangeItem{{ID: a}, {ID: jobID("b")}}}),
		"change of the time": twice(script.Change{Events: script.ChangeEventsAll, History: 100, By: "b1", Priority: -1, Delay: hour,
			Items: []script.ChangeItem{{ID: a, Name: "mail"}, {ID: jobID("b")}}}),
		"change of the time to now": twice(script.Change{Events: script.ChangeEventsAll, History: 100, By: "b1", Priority: 0,
			Items: []script.ChangeItem{{ID: a}, {ID: a}}}),
		"cancel": twice(script.Cancel{Events: script.CancelEventsAll, History: 100, Mark: "cancelled: why",
			Items: []script.CancelItem{{ID: a, Name: "mail"}, {ID: jobID("b")}}}),
		"promote": twice(script.Promote{Events: script.PromoteEventsAll, History: 100, Items: []script.PromoteItem{{ID: a}}}),
		"recover": twice(script.Recover{Events: script.RecoverEventsAll, History: 100,
			Items: []script.RecoverItem{{ID: a, Deadline: 1000, Stalls: 0}}}),
		"recover of a renewed lease": twice(script.Recover{Events: script.RecoverEventsAll, History: 100,
			Items: []script.RecoverItem{{ID: a, Deadline: 999, Stalls: 0}}}),
		"trim by age":    twice(script.Trim{Set: script.TrimSetCompleted, Items: []script.TrimItem{{ID: a, Age: 0, Newer: -1}}}),
		"trim by number": twice(script.Trim{Set: script.TrimSetFailed, Items: []script.TrimItem{{ID: a, Age: -1, Newer: 0}}}),
		"trim of nothing": twice(script.Trim{Set: script.TrimSetCompleted,
			Items: []script.TrimItem{{ID: a, Age: -1, Newer: -1}}}),
		"schedule": twice(script.Schedule{Items: []script.ScheduleItem{{
			Scheduler: schedulerID("s"), Revision: "x", Next: 4000000000001, Name: "mail", Every: 1000, Misfire: "once", Version: 1,
		}}}),
		"unschedule":          twice(script.Unschedule{Items: []script.UnscheduleItem{{Scheduler: schedulerID("s")}}}),
		"tick":                twice(script.Tick{Events: script.TickEventsAll, History: 100, Items: []script.TickItem{tickItem("s", 1000, 4000000000001)}}),
		"tick of a slot past": twice(script.Tick{Events: script.TickEventsAll, History: 100, Items: []script.TickItem{tickItem("s", 900, 4000000000001)}}),
		"progress": twice(script.Progress{Events: script.ProgressEventsNone, History: 100,
			Items: []script.ProgressItem{{ID: a, Token: "w:1", Value: []byte("1")}}}),
		"log": twice(script.Log{Keep: 10, Items: []script.LogItem{
			{ID: a, Token: "w:1", Number: 1, Line: []byte("one")}, {ID: a, Token: "w:1", Number: 2, Line: []byte("two")},
		}}),
		"override": twice(script.Override{Limit: "2", Rate: "clear"}),
		"report":   twice(script.Report{Limit: 10, Items: []script.ReportItem{{ID: a}}}),
		"deliver of a success": twice(script.Deliver{Events: script.DeliverEventsAll, History: 100, Items: []script.DeliverItem{
			{ID: a, Edge: "0|fail|mail|b||mail", Outcome: "completed", Value: []byte("1")}}}),
		"deliver of a failure": twice(script.Deliver{Events: script.DeliverEventsAll, History: 100, Items: []script.DeliverItem{
			{ID: a, Edge: "0|fail|mail|b||mail", Outcome: "failed", Value: []byte("no")}}}),
		"acknowledge of a report": twice(script.Acknowledge{Items: []script.AcknowledgeItem{{ID: a, Entry: "a"}}}),
		"acknowledge of children": twice(script.Acknowledge{Items: []script.AcknowledgeItem{{ID: a, Entry: "a:children"}}}),
		"verify":                  twice(script.Verify{Bytes: 100, Items: []script.VerifyItem{{ID: a, Parent: "emq:{mail}:p"}}}),
		"add of a parent": twice(script.Add{Events: script.AddEventsAll, History: 100, Items: []script.AddItem{{
			ID: a, Name: "mail", Version: 1, Children: 1, Edges: []byte("0|fail|mail|b||mail"), Delivery: []byte("children []"),
		}}}),
		"due":    twice(script.Due{Limit: 10}),
		"counts": twice(script.Counts{}),
		"list":   twice(script.List{Set: script.ListSetFailed, Order: script.ListOrderRising, Limit: 10}),
		"view":   twice(script.View{Limit: much, Items: []script.ViewItem{{ID: a}}}),
		"remove": twice(script.Remove{Events: script.RemoveEventsAll, History: 100, Items: []script.RemoveItem{{ID: a}}}),
		"retry":  twice(script.Retry{Events: script.RetryEventsAll, History: 100, Items: []script.RetryItem{{ID: a}}}),
		"drain": twice(script.Drain{Events: script.DrainEventsAll, History: 100, Set: script.DrainSetWait, Take: 1,
			Items: []script.DrainItem{{ID: a}}}),
		"drain of delayed": twice(script.Drain{Events: script.DrainEventsAll, History: 100, Set: script.DrainSetDelayed, Take: 1,
			Items: []script.DrainItem{{ID: a}}}),
		"expel": twice(script.Expel{Events: script.ExpelEventsAll, History: 100, To: script.ExpelToNowhere,
			Items: []script.ExpelItem{{Member: "a b"}}}),
		"erase":      twice(script.Erase{Items: []script.EraseItem{{ID: a}}}),
		"obliterate": twice(script.Obliterate{}),
		"sweep": twice(script.Sweep{Worker: "w", Set: script.SweepSetCompleted, Step: script.SweepStepLook, Limit: 10,
			Hold: hour}),
		"add with a key": twice(script.Add{Events: script.AddEventsAll, History: 100, Items: []script.AddItem{
			{ID: jobID("d"), Name: "mail", Version: 1, Unique: "k", Until: script.AddUntilStarted},
			{ID: jobID("e"), Name: "mail", Version: 1, Unique: "k", Until: script.AddUntilStarted},
			{ID: jobID("f"), Name: "mail", Version: 1, Unique: "l", Until: script.AddUntilFinished, Term: hour},
		}}),
		"add to groups": twice(script.Add{Events: script.AddEventsAll, History: 100, Items: []script.AddItem{
			{ID: jobID("d"), Name: "mail", Version: 1, Group: "g"}, {ID: jobID("e"), Name: "mail", Version: 1, Group: "h", Priority: 3},
			{ID: jobID("f"), Name: "mail", Version: 1, Group: "h", Delay: hour},
		}}),
		"pick with a group limit": limited(pick(2, script.PickItem{ID: a})),
		"drain of groups": twice(script.Drain{Events: script.DrainEventsAll, History: 100, Set: script.DrainSetGrouped, Take: 1,
			Items: []script.DrainItem{{ID: a}}}),
		"list of groups": twice(script.List{Set: script.ListSetGrouped, Order: script.ListOrderRising, Limit: 10}),
		"heal":           twice(script.Heal{Items: []script.HealItem{{ID: a, Unique: "k"}}}),
		"prune":          twice(script.Prune{Limit: 10}),
		"replace": twice(script.Replace{Events: script.ReplaceEventsAll, History: 100, Items: []script.ReplaceItem{{
			ID: a, By: "d", Data: []byte("2"), Version: 2, Delay: hour, Priority: 1, Unique: "k", Until: script.ReplaceUntilRemoved, Term: hour,
		}}}),
		"replace with defaults": twice(script.Replace{Events: script.ReplaceEventsAll, History: 100, Items: []script.ReplaceItem{{
			ID: a, By: "d", Data: []byte("2"), Version: 1, Unique: "k", Until: script.ReplaceUntilStarted,
		}}}),
		"declare": twice(script.Declare{Items: []script.DeclareItem{
			{Name: "mail", Version: 1, Hash: "h1", Program: "p"}, {Name: "mail", Version: 2, Hash: "h2", Program: "q", Replaces: "h1"},
		}}),
		"pause":   twice(script.Pause{Events: script.PauseEventsAll, History: 100}),
		"resume":  twice(script.Resume{Events: script.ResumeEventsAll, History: 100}),
		"inspect": twice(script.Inspect{Items: []script.InspectItem{{ID: a}}}),
	}
	for _, outcome := range []script.SettleOutcome{"completed", "failed", "retry", "snooze", "release"} {
		for what, item := range map[string]script.SettleItem{
			"":            {Keep: true},
			" in a while": {Delay: hour, Keep: true},
			" not kept":   {Priority: 3},
			" with a key": {Keep: true, Unique: "k"},
		} {
			item.ID, item.Token, item.Outcome, item.Attempts, item.Starts = a, "w:1", outcome, 1, 1
			calls["settle "+string(outcome)+what] = twice(script.Settle{
				Events: script.SettleEventsAll, History: 100, Items: []script.SettleItem{item},
			})
		}
	}
	return calls
}

// situationsUnderRace are enough for the race detector.
const situationsUnderRace = 4

// TestReplay shows law 6 for every script and situation: a call that is sent
// twice leaves the store as after the first time, and the second answer says
// what happened the first time. Under the race detector it tries a few of the
// situations on each engine, others each time.
func TestReplay(t *testing.T) {
	t.Parallel()
	enginetest.Each(t, func(t *testing.T, e *enginetest.Engine) {
		b := newBench(t, e)
		tried := slices.Sorted(maps.Keys(situations))
		if underRace {
			rand.Shuffle(len(tried), func(i, k int) { tried[i], tried[k] = tried[k], tried[i] })
			tried = tried[:situationsUnderRace]
		}
		t.Logf("%d of %d situations: %q", len(tried), len(situations), tried)
		for _, situation := range tried {
			text := situations[situation]
			for name, calls := range repeated() {
				if pick, ok := calls[0].(script.Pick); ok && pick.Want > 0 && situation == "changed while waiting" {
					continue // the first one may only put the job where the second finds it
				}
				b.use(t, e)
				if !strings.Contains(text, "meta hash") {
					text = "meta hash version=echomq:2.0.0\n" + text
				}
				b.plantText(t, text)
				about := name + " of a job that is " + situation
				first, _ := b.do(t, calls[0])
				once, err := b.readAll(t.Context())
				require.NoError(t, err)
				second, _ := b.do(t, calls[1])
				twice, err := b.readAll(t.Context())
				require.NoError(t, err)
				delete(once, "limiter") // the bucket goes on filling
				delete(twice, "limiter")
				if name == "extend" { // it counts from the time of the call
					delete(once, "active")
					delete(twice, "active")
				}
				if name == "sweep" { // and so does that
					delete(once, "meta")
					delete(twice, "meta")
				}
				require.Equal(t, once.String(), twice.String(), "the store after %s", about)
				requireSameStory(t, first, second, about)
			}
		}
	})
}

// requireSameStory fails if the answer to a call that was sent again does not
// fit the first one.
func requireSameStory(t *testing.T, first, second any, about string) {
	t.Helper()
	if pick, ok := first.(script.PickReply); ok {
		again := second.(script.PickReply)
		require.Equal(t, pickedIDs(pick), pickedIDs(again), "what the token holds after %s", about)
		require.Equal(t, pick.Window, again.Window, "the window after %s", about)
		for i := range again.Started {
			require.Equal(t, pick.Started[i].Starts, again.Started[i].Starts, "the starts after %s", about)
		}
		return
	}
	switch first.(type) {
	case script.TickReply:
		expected := strings.NewReplacer("Verdict:added", "Verdict:already", "Verdict:exists", "Verdict:already").Replace(verdicts(first))
		require.Equal(t, expected, verdicts(second), "the second answer to %s", about)
		return
	case script.ScheduleReply, script.UnscheduleReply:
		expected := strings.NewReplacer("Verdict:set", "Verdict:same", "Verdict:removed", "Verdict:missing").Replace(verdicts(first))
		require.Equal(t, expected, verdicts(second), "the second answer to %s", about)
		return
	}
	if all, ok := first.(script.AddReply); ok && len(all.Results) == 0 { // all were added
		again := second.(script.AddReply).Results
		require.NotEmpty(t, again, "the second answer to %s", about)
		for i, result := range again {
			require.Equal(t, script.AddResult{Verdict: script.AddVerdictExists, Name: "mail", Parent: result.Parent}, result, "item %d of the second answer to %s", i, about)
		}
		return
	}
	if again, ok := second.(script.DeclareReply); ok {
		for i, result := range again.Results {
			require.Equal(t, script.DeclareVerdictAgreed, result.Verdict, "what it declared itself, item %d of %s", i, about)
		}
		return
	}
	if _, ok := first.(script.ViewReply); ok {
		require.Equal(t, verdicts(first), verdicts(second), "the second answer to %s", about)
		return
	}
	later := strings.NewReplacer(
		"Verdict:removed", map[bool]string{true: "Verdict:gone", false: "Verdict:missing"}[strings.HasPrefix(about, "drain")],
		"Verdict:retried", "Verdict:unfailed", "Verdict:expelled", "Verdict:missing",
		"Verdict:added", "Verdict:exists",
		"Verdict:settled", "Verdict:already",
		"Verdict:promoted", "Verdict:gone",
		"Verdict:stalled", "Verdict:gone", "Verdict:returned", "Verdict:gone",
		"Verdict:orphan", "Verdict:gone", "Verdict:quarantined", "Verdict:gone",
		"Verdict:trimmed", "Verdict:gone",
		"Verdict:acknowledged", "Verdict:gone",
		"Verdict:freed", "Verdict:passed",
	)
	expected := later.Replace(verdicts(first))
	if _, ok := first.(script.DeliverReply); ok {
		expected = strings.NewReplacer("recorded", "already", "released", "already").Replace(expected)
	}
	switch first.(type) {
	case script.CancelReply, script.ChangeReply:
		expected = verdicts(first)
	}
	if _, ok := first.(script.AddReply); ok {
		expected = strings.ReplaceAll(expected, "Verdict:exists}", "Verdict:exists Name:mail}")
		if strings.Contains(verdicts(first), "Verdict:exists}") { // of a job that has no name
			expected = strings.Replace(expected, "Verdict:exists Name:mail}", "Verdict:exists}", 1)
		}
	}
	require.Equal(t, expected, verdicts(second), "the second answer to %s", about)
}

// verdicts is a reply without the server's clock and what depends on it.
func verdicts(reply any) string {
	value := reflect.ValueOf(reply)
	results := value.FieldByName("Results")
	if !results.IsValid() {
		results = value.FieldByName("Due")
	}
	if !results.IsValid() {
		return "" // a switch that is turned again tells only that it stood so
	}
	return valueText(results)
}

func pickedIDs(reply script.PickReply) []string {
	var ids []string
	for _, started := range reply.Started {
		ids = append(ids, started.ID)
	}
	return append(ids, reply.Reserved...)
}
