package conformance_test

import (
	"strings"

	"github.com/echomq/echomq-go/runtime/internal/model"
	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// situations are what a queue can hold before a call: where the job a can be,
// alone or among others, and the damage that it can have. Its worker's token is
// w:1, and its lease ran out at 1000.
var situations = map[string]string{
	"nothing":                ``,
	"another version":        `meta hash version=echomq:3.0.0`,
	"waiting":                `wait list c a; a hash name=mail data=1; c hash name=mail data=22; marker zset a=0`,
	"prioritized":            `prioritized zset a=4294967297 c=8589934594; pc text 2; a hash name=mail data=1 priority=1; c hash name=mail data=2 priority=2; marker zset a=0`,
	"waiting before ranked":  `wait list a; prioritized zset c=8589934594; pc text 2; a hash name=mail data=1; c hash name=mail data=2 priority=2; marker zset a=0`,
	"delayed":                `delayed zset a=4000000000001 c=4000000000002; a hash name=mail data=1 delay=5; c hash name=mail data=1`,
	"due":                    `delayed zset a=1000; a hash name=mail data=1 delay=5`,
	"due, with a priority":   `delayed zset a=1000 c=1001; a hash name=mail data=1 delay=5 priority=3; c hash name=mail data=1 priority=3 ats=1`,
	"due back":               `delayed zset a=1000; a hash name=mail data=1 delay=5 ats=1 atm=1 lst="w:0 retry"`,
	"reserved":               `active zset a=1000; reserved hash a=w:1; a hash name=mail data=1`,
	"reserved for the call":  `active zset a=1000 b=2000; reserved hash a=w:7; b:lock text w:7; a hash name=mail data=1; b hash name=mail data=1 ats=1`,
	"active":                 `active zset a=1000; a:lock text w:1; a hash name=mail data=1 ats=1 pb=w processedOn=900`,
	"active, ranked":         `active zset a=1000 b=1000; a:lock text w:1; b:lock text w:1; a hash name=mail data=1 ats=1 priority=4 stc=2; b hash name=mail data=1 ats=1`,
	"active, only ranked":    `active zset a=1000; a:lock text w:1; a hash name=mail data=1 ats=1 priority=4`,
	"another's":              `active zset a=1000; a:lock text w:2; a hash name=mail data=1 ats=2 pb=w processedOn=900; reserved hash b=w:2`,
	"completed":              `completed zset a=900 b=950; a hash name=mail data=1 finishedOn=900 lst="w:1 completed"; a:logs list line`,
	"logged":                 `completed zset a=900 b=950; a hash name=mail progress=1 lgc=2; a:logs list "1 800 one" "2 801 two"`,
	"failed":                 `failed zset a=900 b=950; a hash name=mail data=1 finishedOn=900 lst="w:1 failed"`,
	"stub":                   `a stub name=mail lst="w:1 completed"`,
	"lost while waiting":     `wait list a; marker zset a=0`,
	"lost while due":         `delayed zset a=1000`,
	"lost while active":      `active zset a=1000; a:lock text w:1`,
	"replaced while waiting": `wait list a; a text strange; marker zset a=0`,
	"replaced while due":     `delayed zset a=1000; a text strange`,
	"replaced while active":  `active zset a=1000; a:lock text w:1; a text strange`,
	"nameless":               `active zset a=1000; a:lock text w:1; a hash data=1; delayed zset a=1000; wait list a`,
	"quarantined":            `quarantine zset a=900; a text strange`,
	"paused, waiting":        `meta hash version=echomq:2.0.0 paused=1; wait list a; a hash name=mail data=1; delayed zset b=4000000000001; b hash name=mail data=1 delay=5`,
	"cancelled, active":      `meta hash version=echomq:2.0.0 cancels=1; active zset a=4000000000001 b=4000000000002; a:lock text w:1; a hash name=mail data=1 ats=1 defa=cancelled; b:lock text w:1; b hash name=mail data=1`,
	"an odd id":              `wait list "a b" a; a hash name=mail data=1; marker zset a=0`,
}

const hour = 60 * 60 * 1000

func jobID(text string) wire.JobID {
	id, err := wire.ParseJobID(text)
	if err != nil {
		panic(err)
	}
	return id
}

// calls are the calls that are made in each situation.
func calls() map[string]model.Caller {
	a, b, c := jobID("a"), jobID("b"), jobID("c")
	all := map[string]model.Caller{
		"add": script.Add{Events: "all", History: 100, Items: []script.AddItem{
			{ID: a, Name: "mail", Data: []byte("2"), Version: 1}, {ID: jobID("d"), Name: "mail", Version: 1, Delay: hour},
			{ID: jobID("e"), Name: "mail", Version: 3, Codec: "pb", Opts: []byte(`{"attempts":3}`), Priority: 7},
			{ID: jobID("d"), Name: "mail", Version: 1},
		}},
		"add of one":         script.Add{Events: "none", History: 100, Items: []script.AddItem{{ID: jobID("f"), Name: "mail", Version: 1}}},
		"add of one, ranked": script.Add{Events: "final", History: 100, Items: []script.AddItem{{ID: jobID("f"), Name: "mail", Version: 1, Priority: 2097151}}},
		"add by due time":    script.Add{Events: "all", History: 100, Items: []script.AddItem{{ID: jobID("f"), Name: "mail", Version: 1, Due: farFuture}}},
		"add of nothing":     script.Add{Events: "all", History: 100},

		"pick of nothing":      pick(0),
		"pick of one":          pick(1),
		"pick without a guess": pick(3),
		"pick with guesses":    pick(3, script.PickItem{ID: a}, script.PickItem{ID: c}),
		"pick of a claim":      pick(0, script.PickItem{ID: a, Reservation: "w:1"}),
		"pick of a false one":  pick(2, script.PickItem{ID: a, Reservation: "w:9"}, script.PickItem{ID: b, Reservation: "w:9"}),
		"pick again":           again(pick(2, script.PickItem{ID: a}, script.PickItem{ID: b})),
		"pick that is crowded": crowded(pick(3, script.PickItem{ID: a}, script.PickItem{ID: c})),
		"pick of a duplicate":  pick(1, script.PickItem{ID: a}, script.PickItem{ID: a}),

		"extend": script.Extend{Lease: hour, Items: []script.ExtendItem{{ID: a, Token: "w:1"}, {ID: b, Token: "w:1"}}},
		"leave":  script.Leave{Events: "all", History: 100, Items: []script.LeaveItem{{ID: a, Token: "w:1"}, {ID: b, Token: "w:1"}}},
		"cancel": script.Cancel{Events: "all", History: 100, Mark: "cancelled: why", Items: []script.CancelItem{
			{ID: a, Name: "mail"}, {ID: b, Name: "other"}, {ID: c}, {ID: a},
		}},
		"promote": script.Promote{Events: "all", History: 100, Items: []script.PromoteItem{{ID: a}, {ID: c}, {ID: a}}},
		"recover": script.Recover{Events: "all", History: 100, Items: []script.RecoverItem{{ID: a, Deadline: 1000, Stalls: 0}, {ID: b, Deadline: 1000, Stalls: 3}}},
		"recover of a renewed lease": script.Recover{Events: "all", History: 100,
			Items: []script.RecoverItem{{ID: a, Deadline: 999, Stalls: 0}}},
		"trim by age":    script.Trim{Set: "completed", Items: []script.TrimItem{{ID: a, Age: 0, Newer: -1}, {ID: b, Age: -1, Newer: 0}}},
		"trim by number": script.Trim{Set: "failed", Items: []script.TrimItem{{ID: a, Age: -1, Newer: 1}, {ID: b, Age: -1, Newer: 1}}},
		"trim by rank":   script.Trim{Set: "completed", Items: []script.TrimItem{{ID: a, Age: -1, Newer: 1}, {ID: b, Age: -1, Newer: 1}}},
		"due":            script.Due{Limit: 1},
		"pause":          script.Pause{Events: "all", History: 100},
		"resume":         script.Resume{Events: "all", History: 100},
		"due of many":    script.Due{Limit: 10},
		"progress": script.Progress{Events: "all", History: 100, Items: []script.ProgressItem{
			{ID: a, Token: "w:1", Value: []byte(`{"done":1}`), Announce: true}, {ID: b, Token: "w:1", Value: []byte("2")},
		}},
		"log": script.Log{Keep: 2, Items: []script.LogItem{
			{ID: a, Token: "w:1", Number: 1, Line: []byte("one")}, {ID: a, Token: "w:1", Number: 1, Line: []byte("one")},
			{ID: a, Token: "w:1", Number: 2, Line: []byte("two")}, {ID: b, Token: "w:1", Number: 3, Line: []byte("three")},
		}},
		"log of one line": script.Log{Keep: 1, Items: []script.LogItem{{ID: a, Token: "w:1", Number: 1, Line: []byte("one")}}},
		"report":          script.Report{Limit: 10, Items: []script.ReportItem{{ID: a}, {ID: b, After: 1}}},
		"inspect":         script.Inspect{Items: []script.InspectItem{{ID: a}, {ID: b}, {ID: c}}},
	}
	for _, outcome := range []script.SettleOutcome{"completed", "failed", "retry", "snooze", "release"} {
		for what, item := range map[string]script.SettleItem{
			"":            {Keep: true, Value: []byte("a value"), Trace: []byte(`["one"]`)},
			" in a while": {Delay: hour, Keep: true, Announce: true},
			" not kept":   {Priority: 3},
		} {
			item.ID, item.Token, item.Outcome, item.Attempts, item.Starts = a, "w:1", outcome, 1, 1
			other := item
			other.ID = b
			all["settle "+string(outcome)+what] = script.Settle{
				Events: "all", History: 100, Items: []script.SettleItem{item, other, item},
			}
		}
	}
	return all
}

func pick(want int64, items ...script.PickItem) script.Pick {
	return script.Pick{
		Events: "all", History: 100, Token: "w:7", Worker: "w", Lease: hour,
		Want: want, Window: 5, Limit: 1 << 20, Payload: 1 << 20, Items: items,
	}
}

func again(call script.Pick) script.Pick {
	call.Again = true
	return call
}

// crowded makes room for one job, whose payload is too large.
func crowded(call script.Pick) script.Pick {
	call.Limit, call.Payload = 1, 0
	return call
}

// linesOf returns a situation with a line for each key.
func linesOf(situation string) string { return strings.ReplaceAll(situation, "; ", "\n") }
