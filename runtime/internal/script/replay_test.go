package script_test

import (
	"reflect"
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
	"paused":    `meta hash version=echomq:2.0.0 paused=1` + "\n" + `wait list a` + "\n" + `a hash name=mail data=1`,
	"completed": `completed zset a=900 b=950` + "\n" + `a hash name=mail data=1 finishedOn=900 lst="w:1 completed"` + "\n" + `a:logs list line`,
	"failed":    `failed zset a=900` + "\n" + `a hash name=mail data=1 finishedOn=900 lst="w:1 failed"`,
	"stub":      `a stub name=mail lst="w:1 completed"`,
	"released":  `wait list a` + "\n" + `a hash name=mail data=1 ats=0 lst="w:1 release"` + "\n" + `marker zset a=0`,

	"lost while waiting":       `wait list a` + "\n" + `marker zset a=0`,
	"lost while delayed":       `delayed zset a=1000`,
	"lost while active":        `active zset a=1000` + "\n" + `a:lock text w:1`,
	"lost while reserved":      `active zset a=1000` + "\n" + `reserved hash a=w:1`,
	"replaced while waiting":   `wait list a` + "\n" + `a text strange` + "\n" + `marker zset a=0`,
	"replaced while delayed":   `delayed zset a=1000` + "\n" + `a text strange`,
	"replaced while active":    `active zset a=1000` + "\n" + `a:lock text w:1` + "\n" + `a text strange`,
	"nameless while active":    `active zset a=1000` + "\n" + `a:lock text w:1` + "\n" + `a hash data=1`,
	"nameless while delayed":   `delayed zset a=1000` + "\n" + `a hash data=1`,
	"quarantined":              `quarantine zset a=900` + "\n" + `a text strange`,
	"lock lost while active":   `active zset a=1000` + "\n" + `a hash name=mail data=1 ats=1`,
	"a job without its number": `wait list "a b"` + "\n" + `marker zset "a b"=0`,
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
		"progress": twice(script.Progress{Events: script.ProgressEventsNone, History: 100,
			Items: []script.ProgressItem{{ID: a, Token: "w:1", Value: []byte("1")}}}),
		"log": twice(script.Log{Keep: 10, Items: []script.LogItem{
			{ID: a, Token: "w:1", Number: 1, Line: []byte("one")}, {ID: a, Token: "w:1", Number: 2, Line: []byte("two")},
		}}),
		"report":  twice(script.Report{Limit: 10, Items: []script.ReportItem{{ID: a}}}),
		"due":     twice(script.Due{Limit: 10}),
		"pause":   twice(script.Pause{Events: script.PauseEventsAll, History: 100}),
		"resume":  twice(script.Resume{Events: script.ResumeEventsAll, History: 100}),
		"inspect": twice(script.Inspect{Items: []script.InspectItem{{ID: a}}}),
	}
	for _, outcome := range []script.SettleOutcome{"completed", "failed", "retry", "snooze", "release"} {
		for what, item := range map[string]script.SettleItem{
			"":            {Keep: true},
			" in a while": {Delay: hour, Keep: true},
			" not kept":   {Priority: 3},
		} {
			item.ID, item.Token, item.Outcome, item.Attempts, item.Starts = a, "w:1", outcome, 1, 1
			calls["settle "+string(outcome)+what] = twice(script.Settle{
				Events: script.SettleEventsAll, History: 100, Items: []script.SettleItem{item},
			})
		}
	}
	return calls
}

// TestReplay shows law 6 for every script and situation: a call that is sent
// twice leaves the store as after the first time, and the second answer says
// what happened the first time.
func TestReplay(t *testing.T) {
	t.Parallel()
	enginetest.Each(t, func(t *testing.T, e *enginetest.Engine) {
		b := newBench(t, e)
		for situation, text := range situations {
			for name, calls := range repeated() {
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
				if name == "extend" { // it counts from the time of the call
					delete(once, "active")
					delete(twice, "active")
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
	later := strings.NewReplacer(
		"Verdict:added", "Verdict:exists",
		"Verdict:settled", "Verdict:already",
		"Verdict:promoted", "Verdict:gone",
		"Verdict:stalled", "Verdict:gone", "Verdict:returned", "Verdict:gone",
		"Verdict:orphan", "Verdict:gone", "Verdict:quarantined", "Verdict:gone",
		"Verdict:trimmed", "Verdict:gone",
	)
	expected := later.Replace(verdicts(first))
	if _, ok := first.(script.CancelReply); ok {
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
