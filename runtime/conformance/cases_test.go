package conformance_test

import (
	"fmt"
	"strings"

	"github.com/echomq/echomq-go/runtime/internal/model"
	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// situations are what a queue can hold before a call: where the job a can be,
// alone or among others, and the damage that it can have. Its worker's token is
// w:1, and its lease ran out at 1000.
var situations = map[string]string{
	"nothing":                   ``,
	"another version":           `meta hash version=echomq:3.0.0`,
	"waiting":                   `wait list c a; a hash name=mail data=1; c hash name=mail data=22; marker zset a=0`,
	"prioritized":               `prioritized zset a=4294967297 c=8589934594; pc text 2; a hash name=mail data=1 priority=1; c hash name=mail data=2 priority=2; marker zset a=0`,
	"many waiting":              `wait list m1 m2 m3 m4 m5 m6 m7 m8 m9 m10 m11 m12 m13 m14 m15 m16 m17 m18; marker zset m1=0`,
	"waiting before ranked":     `wait list a; prioritized zset c=8589934594; pc text 2; a hash name=mail data=1; c hash name=mail data=2 priority=2; marker zset a=0`,
	"delayed":                   `delayed zset a=4000000000001 c=4000000000002; a hash name=mail data=1 delay=5; c hash name=mail data=1`,
	"due":                       `delayed zset a=1000; a hash name=mail data=1 delay=5`,
	"due, with a priority":      `delayed zset a=1000 c=1001; a hash name=mail data=1 delay=5 priority=3; c hash name=mail data=1 priority=3 ats=1`,
	"due back":                  `delayed zset a=1000; a hash name=mail data=1 delay=5 ats=1 atm=1 lst="w:0 retry"`,
	"reserved":                  `active zset a=1000; reserved hash a=w:1; a hash name=mail data=1`,
	"reserved for the call":     `active zset a=1000 b=2000; reserved hash a=w:7; b:lock text w:7; a hash name=mail data=1; b hash name=mail data=1 ats=1`,
	"active":                    `active zset a=1000; a:lock text w:1; a hash name=mail data=1 ats=1 pb=w processedOn=900`,
	"active, ranked":            `active zset a=1000 b=1000; a:lock text w:1; b:lock text w:1; a hash name=mail data=1 ats=1 priority=4 stc=2; b hash name=mail data=1 ats=1`,
	"active, only ranked":       `active zset a=1000; a:lock text w:1; a hash name=mail data=1 ats=1 priority=4`,
	"another's":                 `active zset a=1000; a:lock text w:2; a hash name=mail data=1 ats=2 pb=w processedOn=900; reserved hash b=w:2`,
	"completed":                 `completed zset a=900 b=950; a hash name=mail data=1 finishedOn=900 lst="w:1 completed"; a:logs list line`,
	"logged":                    `completed zset a=900 b=950; a hash name=mail progress=1 lgc=2; a:logs list "1 800 one" "2 801 two"`,
	"failed":                    `failed zset a=900 b=950; a hash name=mail data=1 finishedOn=900 lst="w:1 failed"`,
	"stub":                      `a stub name=mail lst="w:1 completed"`,
	"unique":                    `dedup hash k=a; dedup-due zset k=4000000000001; wait list a; a hash name=mail data=1 deid=k deu=finished; marker zset a=0`,
	"unique and delayed":        `dedup hash k=a; delayed zset a=4000000000001; a hash name=mail data=1 opts={} cdc=pb delay=5 priority=2 deid=k deu=started`,
	"unique until started":      `dedup hash k=a; dedup-due zset k=4000000000001; active zset a=1000; reserved hash a=w:1; a hash name=mail data=1 deid=k deu=started`,
	"unique and active":         `dedup hash k=a; dedup-due zset k=1000; active zset a=1000; a:lock text w:1; a hash name=mail data=1 ats=1 deid=k deu=finished rpb=c`,
	"unique until removed":      `dedup hash k=a; dedup-due zset k=1000; completed zset a=900; a hash name=mail data=1 finishedOn=900 deid=k deu=removed`,
	"unique, paused":            `meta hash version=echomq:2.0.0 paused=1; dedup hash k=a; wait list a; a hash name=mail data=1 deid=k deu=finished`,
	"unique and failed":         `dedup-due zset k=1000; failed zset a=900; a hash name=mail data=1 deid=k deu=finished lst="w:1 failed"`,
	"unique, failed, held":      `dedup hash k=a; failed zset a=900; a hash name=mail data=1 deid=k deu=removed lst="w:1 failed"`,
	"child that waits":          `wait list a; a hash name=mail data=1 parentKey=emq:{mail}:p parent="0|fail|mail|a||mail"; marker zset a=0`,
	"unique and lost":           `dedup hash k=a; dedup-due zset k=4000000000001`,
	"lost while waiting":        `wait list a; marker zset a=0`,
	"lost while due":            `delayed zset a=1000`,
	"lost while active":         `active zset a=1000; a:lock text w:1`,
	"replaced while waiting":    `wait list a; a text strange; marker zset a=0`,
	"replaced while due":        `delayed zset a=1000; a text strange`,
	"replaced while active":     `active zset a=1000; a:lock text w:1; a text strange`,
	"nameless":                  `active zset a=1000; a:lock text w:1; a hash data=1; delayed zset a=1000; wait list a`,
	"quarantined":               `quarantine zset a=900; a text strange`,
	"paused, waiting":           `meta hash version=echomq:2.0.0 paused=1; wait list a; a hash name=mail data=1; delayed zset b=4000000000001; b hash name=mail data=1 delay=5`,
	"parent":                    `waiting-children zset a=1000; a hash name=mail data=1 chn=1 timestamp=900; a:dependencies set "0|fail|mail|b||mail"; outbox zset a:children=1000; outbox-body hash a:children="900 children []"`,
	"parent, no children":       `waiting-children zset a=1000; a:dependencies set "0|fail|mail|b||mail"`,
	"unreported":                `completed zset a=900; a hash name=mail parentKey=emq:{mail}:p finishedOn=900 timestamp=800 lst="w:1 completed"; outbox zset a=1000; outbox-body hash a="900 report emq:{mail}:p completed 0|fail|mail|a||mail"`,
	"report lost, completed":    `completed zset a=900; a hash name=mail parentKey=emq:{mail}:p finishedOn=900 timestamp=800 lst="w:1 completed" returnvalue=1`,
	"report lost, failed":       `failed zset a=900; a hash name=mail parentKey=emq:{mail}:p finishedOn=900 timestamp=800 lst="w:1 failed" failedReason=no`,
	"unreported stub":           `a hash name=mail parentKey=emq:{mail}:p lst="w:1 completed"; outbox zset a=1000; outbox-body hash a="900 report emq:{mail}:p completed 0|fail|mail|a||mail"`,
	"at its limit":              `meta hash version=echomq:2.0.0 blocked=limit limit=1; active zset a=1000; a:lock text w:1; a hash name=mail data=1 ats=1; wait list b; b hash name=mail data=1`,
	"at its limit, a group":     `meta hash version=echomq:2.0.0 blocked=limit grouped=1; active zset a=1000; a:lock text w:1; a hash name=mail data=1 ats=1; groups zset g=1; grouped zset g|0000000|0000000000000001|b=0; b hash name=mail data=1 grp=g gpl=0000000|0000000000000001`,
	"without a token":           `meta hash version=echomq:2.0.0 blocked=4000000000000 rate=1/1000; limiter hash level=0 interval=1000 at=4000000000000; wait list a; a hash name=mail data=1; active zset b=1000; b:lock text w:1; b hash name=mail data=1 ats=1`,
	"blocked no more":           `meta hash version=echomq:2.0.0 blocked=limit; wait list b a; a hash name=mail data=1; b hash name=mail data=1`,
	"lost at the limit":         `meta hash version=echomq:2.0.0 blocked=limit; active zset a=1000; a:lock text w:1; wait list b; b hash name=mail data=1`,
	"lost before ranked":        `meta hash version=echomq:2.0.0 blocked=limit; active zset a=1000; a:lock text w:1; prioritized zset b=4294967297; b hash name=mail data=1 priority=1`,
	"changed, waiting":          `wait list c b a; a hash name=mail data=1 chp=2; b hash name=mail data=1 chd=4000000000001 delay=5; c hash name=mail data=1`,
	"in groups":                 `meta hash version=echomq:2.0.0 grouped=3; groups zset g=1 h=2; grouped zset g|0000000|0000000000000001|a=0 h|0000000|0000000000000002|b=0 h|0000000|0000000000000003|c=0; a hash name=mail data=1 grp=g gpl=0000000|0000000000000001; b hash name=mail data=1 grp=h gpl=0000000|0000000000000002; c hash name=mail data=1 grp=h gpl=0000000|0000000000000003; marker zset a=0`,
	"in a group":                `meta hash version=echomq:2.0.0 grouped=1; groups zset g=1; grouped zset g|0000000|0000000000000001|a=0; a hash name=mail data=1 grp=g gpl=0000000|0000000000000001; marker zset a=0`,
	"beside groups":             `meta hash version=echomq:2.0.0 grouped=1; wait list a; groups zset g=1; grouped zset g|0000000|0000000000000001|b=0; a hash name=mail data=1; b hash name=mail data=1 grp=g gpl=0000000|0000000000000001; marker zset a=0`,
	"active of a full group":    `meta hash version=echomq:2.0.0 grouped=2; groups zset g=4503599627370497; grouped zset g|0000000|0000000000000002|b=0; group-active hash a=g |g=1; active zset a=1000; a:lock text w:1; a hash name=mail data=1 ats=1 grp=g; b hash name=mail data=1 grp=g gpl=0000000|0000000000000002`,
	"full group, paused":        `meta hash version=echomq:2.0.0 grouped=2 paused=1; groups zset g=4503599627370497; grouped zset g|0000000|0000000000000002|b=0; group-active hash a=g |g=1; active zset a=1000; a:lock text w:1; a hash name=mail data=1 ats=1 grp=g; b hash name=mail data=1 grp=g gpl=0000000|0000000000000002`,
	"reserved of a group, lost": `meta hash version=echomq:2.0.0 grouped=2; groups zset g=4503599627370497; grouped zset g|0000000|0000000000000002|b=0; group-active hash a=g |g=1; active zset a=1000; reserved hash a=w:1; b hash name=mail data=1 grp=g gpl=0000000|0000000000000002`,
	"due of a group":            `delayed zset a=1000; a hash name=mail data=1 delay=5 grp=g`,
	"failed of a group":         `failed zset a=900; a hash name=mail data=1 finishedOn=900 grp=g lst="w:1 failed"`,
	"put off until now":         `wait list a; a hash name=mail data=1 chd=1000 delay=5; marker zset a=0`,
	"ranked before another":     `prioritized zset a=4294967297 e=8589934593; a hash name=mail data=1 priority=1; e hash name=mail data=1 priority=2; marker zset a=0`,
	"cancelled, active":         `meta hash version=echomq:2.0.0 cancels=1; active zset a=4000000000001 b=4000000000002; a:lock text w:1; a hash name=mail data=1 ats=1 defa=cancelled; b:lock text w:1; b hash name=mail data=1`,
	"an odd id":                 `wait list "a b" a; a hash name=mail data=1; marker zset a=0`,
	"failed and broken":         `failed zset a=900 b=901; a text strange; b hash name=mail data=1 priority=3`,
	"just completed":            `completed zset a=4000000000001 b=4000000000002; a hash name=mail lst="w:1 completed" rpb=c; b hash name=mail`,
	"odd at the limit":          `meta hash version=echomq:2.0.0 blocked=limit; active zset "a b"=1000; wait list b; b hash name=mail data=1`,
	"odd ids elsewhere":         `delayed zset "a b"=1000; active zset "a b"=1000; quarantine zset "c d"=900`,
	"paused, empty":             `meta hash version=echomq:2.0.0 paused=1; pc text 7; marker zset ~due=1`,
	"of schedules": `meta hash version=echomq:2.0.0 slot=1000; schedulers zset s=1000 t=1000; scheduler:s hash rev=r name=mail cnt=1; ` +
		`scheduler:t hash rev=r name=mail cnt=1 lim=2`,
	"lost schedules": `schedulers zset s=1000 t=9007199254740991; scheduler:s text strange`,
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
		"add with keys": script.Add{Events: "all", History: 100, Items: []script.AddItem{
			{ID: jobID("d"), Name: "mail", Version: 1, Unique: "k", Until: "started"},
			{ID: jobID("e"), Name: "mail", Version: 1, Unique: "k", Until: "started"},
			{ID: jobID("f"), Name: "mail", Version: 1, Unique: "l", Until: "finished", Term: hour},
		}},
		"add of plain jobs": script.Add{Events: "final", History: 100, Items: []script.AddItem{
			{ID: c, Name: "mail", Version: 1, Opts: []byte("{}")}, {ID: a, Name: "mail", Version: 1}, {ID: c, Name: "mail", Version: 1},
		}},
		"add of coded jobs": script.Add{Events: "final", History: 100, Items: []script.AddItem{
			{ID: c, Name: "mail", Version: 2, Codec: "pb", Opts: []byte("{}")}, {ID: a, Name: "mail", Version: 1}, {ID: c, Name: "mail", Version: 1},
		}},
		"settle as completed": script.Settle{Events: "final", History: 100, Items: []script.SettleItem{
			{ID: a, Token: "w:1", Outcome: "completed", Value: []byte("1"), Attempts: 1, Keep: true, Groupless: true},
			{ID: b, Token: "w:1", Outcome: "completed", Value: []byte("1"), Attempts: 1, Keep: true, Groupless: true},
			{ID: a, Token: "w:1", Outcome: "completed", Value: []byte("1"), Attempts: 1, Keep: true, Groupless: true},
		}},
		"add of nothing": script.Add{Events: "all", History: 100},

		"pick of nothing":      pick(0),
		"pick of one":          pick(1),
		"pick without a guess": pick(3),
		"pick of many":         pick(20),
		"pick with guesses":    pick(3, script.PickItem{ID: a}, script.PickItem{ID: c}),
		"pick of a claim":      pick(0, script.PickItem{ID: a, Reservation: "w:1"}),
		"pick of a false one":  pick(2, script.PickItem{ID: a, Reservation: "w:9"}, script.PickItem{ID: b, Reservation: "w:9"}),
		"pick again":           again(pick(2, script.PickItem{ID: a}, script.PickItem{ID: b})),
		"pick that is crowded": crowded(pick(3, script.PickItem{ID: a}, script.PickItem{ID: c})),
		"pick with a limit":    limited(pick(2, script.PickItem{ID: a})),
		"pick of a duplicate":  pick(1, script.PickItem{ID: a}, script.PickItem{ID: a}),

		"extend": script.Extend{Lease: hour, Items: []script.ExtendItem{{ID: a, Token: "w:1"}, {ID: b, Token: "w:1"}}},
		"leave":  script.Leave{Events: "all", History: 100, Items: []script.LeaveItem{{ID: a, Token: "w:1"}, {ID: b, Token: "w:1"}}},
		"change": script.Change{Events: "all", History: 100, By: "b1", Priority: 3, Delay: -1, Items: []script.ChangeItem{
			{ID: a, Name: "mail"}, {ID: b, Name: "other"}, {ID: c}, {ID: a},
		}},
		"change of the time": script.Change{Events: "all", History: 100, By: "b1", Priority: 0, Delay: hour, Items: []script.ChangeItem{
			{ID: a}, {ID: b}, {ID: c},
		}},
		"change to the front, now": script.Change{Events: "all", History: 100, By: "b1", Priority: 0, Items: []script.ChangeItem{
			{ID: a}, {ID: b},
		}},
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
		"schedule": script.Schedule{Items: []script.ScheduleItem{
			setTo("s", "r", 0), setTo("t", "other", 4000000000001), setTo("u", "r", 4000000000002),
		}},
		"unschedule": script.Unschedule{Items: []script.UnscheduleItem{{Scheduler: schedulerID("s")}, {Scheduler: schedulerID("u")}}},
		"tick": script.Tick{Events: "all", History: 100, Items: []script.TickItem{
			tickItem("s"), tickItem("t"), tickItem("u"),
		}},
		"tick for the last time": script.Tick{Events: "all", History: 100, Items: []script.TickItem{
			last(tickItem("s"), true), last(tickItem("t"), false),
		}},
		"declare": script.Declare{Items: []script.DeclareItem{
			{Name: "mail", Version: 1, Hash: "h1", Program: "p"}, {Name: "mail", Version: 1, Hash: "h2", Program: "q", Replaces: "h1"},
		}},
		"pause":    script.Pause{Events: "all", History: 100},
		"resume":   script.Resume{Events: "all", History: 100},
		"override": script.Override{Limit: "2", Rate: "5/1000", GroupLimit: "2"},
		"add to groups": script.Add{Events: "all", History: 100, Items: []script.AddItem{
			{ID: jobID("n"), Name: "mail", Version: 1, Group: "g"}, {ID: jobID("o"), Name: "mail", Version: 1, Group: "h", Delay: hour},
		}},
		"change of one":   script.Change{Events: "all", History: 100, By: "b1", Priority: -1, Delay: hour, Items: []script.ChangeItem{{ID: a}}},
		"list of groups":  script.List{Set: "grouped", Order: "rising", Limit: 2, Begun: true, Last: "g"},
		"drain of groups": script.Drain{Events: "all", History: 100, Set: "grouped", Take: 3, Items: []script.DrainItem{{ID: a}}},
		"override ends":   script.Override{Limit: "clear", Rate: "clear", GroupLimit: "clear"},
		"due of many":     script.Due{Limit: 10},
		"progress": script.Progress{Events: "all", History: 100, Items: []script.ProgressItem{
			{ID: a, Token: "w:1", Value: []byte(`{"done":1}`), Announce: true}, {ID: b, Token: "w:1", Value: []byte("2")},
		}},
		"log": script.Log{Keep: 2, Items: []script.LogItem{
			{ID: a, Token: "w:1", Number: 1, Line: []byte("one")}, {ID: a, Token: "w:1", Number: 1, Line: []byte("one")},
			{ID: a, Token: "w:1", Number: 2, Line: []byte("two")}, {ID: b, Token: "w:1", Number: 3, Line: []byte("three")},
		}},
		"log of one line": script.Log{Keep: 1, Items: []script.LogItem{{ID: a, Token: "w:1", Number: 1, Line: []byte("one")}}},
		"report":          script.Report{Limit: 10, Items: []script.ReportItem{{ID: a}, {ID: b, After: 1}}},
		"counts":          script.Counts{},
		"list":            script.List{Set: "wait", Order: "rising", Limit: 2},
		"list on":         script.List{Set: "failed", Order: "rising", Limit: 2, Begun: true, Place: 900, Last: "Z"},
		"list on in wait": script.List{Set: "wait", Order: "rising", Limit: 2, Begun: true, Place: 1, Last: "a"},
		"drain the head":  script.Drain{Events: "all", History: 100, Set: "wait", Take: 1, Items: []script.DrainItem{{ID: a}}},
		"sweep on":        script.Sweep{Worker: "w", Set: "failed", Step: "resume", Limit: 10, Hold: 1000},
		"list falling":    script.List{Set: "delayed", Order: "falling", Limit: 2, Begun: true, Place: 4000000000002, Last: "c"},
		"view":            script.View{Limit: 1 << 20, Items: []script.ViewItem{{ID: a}, {ID: b}, {ID: c}}},
		"remove":          script.Remove{Events: "all", History: 100, Items: []script.RemoveItem{{ID: a}, {ID: c}, {ID: a}}},
		"retry":           script.Retry{Events: "all", History: 100, Items: []script.RetryItem{{ID: a}, {ID: b}, {ID: c}}},
		"drain":           script.Drain{Events: "all", History: 100, Set: "wait", Take: 3, Items: []script.DrainItem{{ID: c}}},
		"drain delayed":   script.Drain{Events: "all", History: 100, Set: "delayed", Take: 3, Items: []script.DrainItem{{ID: c}}},
		"expel":           script.Expel{Events: "all", History: 100, To: "quarantine", Items: []script.ExpelItem{{Member: "a b"}, {Member: "a"}}},
		"expel for good":  script.Expel{Events: "all", History: 100, To: "nowhere", Items: []script.ExpelItem{{Member: "c d"}}},
		"erase":           script.Erase{Items: []script.EraseItem{{ID: a}, {ID: b}}},
		"obliterate":      script.Obliterate{},
		"sweep":           script.Sweep{Worker: "w", Set: "completed", Step: "look", Limit: 10, Hold: 1000},
		"sweep's rest":    script.Sweep{Worker: "w", Set: "failed", Step: "rest", Limit: 10, Hold: 1000},
		"inspect":         script.Inspect{Items: []script.InspectItem{{ID: a}, {ID: b}, {ID: c}}},
		"deliver": script.Deliver{Events: "all", History: 100, Items: []script.DeliverItem{
			{ID: a, Edge: "0|fail|mail|b||mail", Outcome: "completed", Value: []byte("1")}}},
		"deliver failure": script.Deliver{Events: "all", History: 100, Items: []script.DeliverItem{
			{ID: a, Edge: "0|fail|mail|b||mail", Outcome: "failed", Value: []byte("no")}}},
		"collect":     script.Collect{Limit: 10, Bytes: 1000, Least: 1, Most: 10, Parents: 10, Check: 10},
		"acknowledge": script.Acknowledge{Items: []script.AcknowledgeItem{{ID: a, Entry: "a"}, {ID: a, Entry: "a:children"}}},
		"verify":      script.Verify{Bytes: 1000, Items: []script.VerifyItem{{ID: a, Parent: "emq:{mail}:p"}, {ID: b, Parent: "emq:{mail}:p"}}},
		"add parent": script.Add{Events: "all", History: 100, Items: []script.AddItem{{
			ID: a, Name: "mail", Version: 1, Parent: "emq:{mail}:p", Edge: "0|fail|mail|a||mail",
			Children: 1, Edges: []byte("0|fail|mail|b||mail"), Delivery: []byte("children []"),
		}}},
		"add parent of many": script.Add{Events: "all", History: 100, Items: []script.AddItem{{
			ID: a, Name: "mail", Version: 1, Children: 500, Edges: edges(500), Delivery: []byte("children []"),
		}}},
		"settle reported": script.Settle{Events: "all", History: 100, Items: []script.SettleItem{
			{ID: a, Token: "w:1", Outcome: "completed", Report: []byte("report emq:{mail}:p completed 0|fail|mail|a||mail")}}},
		"heal":  script.Heal{Items: []script.HealItem{{ID: a, Unique: "k"}, {ID: b, Unique: "l"}}},
		"prune": script.Prune{Limit: 1},
		"replace": script.Replace{Events: "all", History: 100, Items: []script.ReplaceItem{{
			ID: a, By: "d", Data: []byte("2"), Version: 2, Delay: 5, Priority: 1, Unique: "k", Until: "removed", Term: hour, Group: "g",
		}}},
		"replace with defaults": script.Replace{Events: "all", History: 100, Items: []script.ReplaceItem{{
			ID: a, By: "d", Version: 1, Unique: "k", Until: "started",
		}}},
	}
	for _, outcome := range []script.SettleOutcome{"completed", "failed", "retry", "snooze", "release"} {
		for what, item := range map[string]script.SettleItem{
			"":            {Keep: true, Value: []byte("a value"), Trace: []byte(`["one"]`)},
			" in a while": {Delay: hour, Keep: true, Announce: true},
			" not kept":   {Priority: 3},
			" with a key": {Keep: true, Unique: "k"},
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

// limited has a limit and a rate.
func limited(call script.Pick) script.Pick {
	call.Cap, call.Tokens, call.Interval = 1, 2, hour
	return call
}

// linesOf returns a situation with a line for each key.
func linesOf(situation string) string { return strings.ReplaceAll(situation, "; ", "\n") }

// edges returns the edges of as many children.
func edges(children int) []byte {
	var text strings.Builder
	for i := range children {
		fmt.Fprintf(&text, "%d|fail|mail|c%d||mail\n", i, i)
	}
	return []byte(text.String())
}

func schedulerID(id string) wire.SchedulerID {
	scheduler, err := wire.ParseSchedulerID(id)
	if err != nil {
		panic(err)
	}
	return scheduler
}

func setTo(id, revision string, next int64) script.ScheduleItem {
	return script.ScheduleItem{
		Scheduler: schedulerID(id), Revision: revision, Next: next, Name: "mail", Every: 1000, Misfire: "once", Version: 1,
	}
}

// last returns the item with no slot after it.
func last(item script.TickItem, fire bool) script.TickItem {
	item.Next, item.Fire = wire.Never, fire
	return item
}

// tickItem moves a scheduler of revision r on from the slot at 1000, with all
// that a job can have.
func tickItem(id string) script.TickItem {
	scheduler := schedulerID(id)
	return script.TickItem{
		ID: scheduler.Slot(1000), Scheduler: scheduler, Revision: "r", From: 1000, Slot: 1000, Next: 4000000000001, Fire: true,
		Name: "mail", Data: []byte("{}"), Codec: "pb", Version: 2, Opts: []byte("{}"), Delay: 4000000000000, Priority: 3, Group: "g",
	}
}
