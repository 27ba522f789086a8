package script_test

import (
	"testing"

	"github.com/echomq/echomq-go/runtime/internal/script"
)

func TestCancel(t *testing.T) {
	try(t, []transition{
		{
			name: "wherever jobs are",
			before: `
				wait        list w
				prioritized zset p=4294967297
				delayed     zset d=4000000000001 due=1000
				active      zset a=1000
				completed   zset c=900
				quarantine  zset q=900
				w           hash name=mail
				p           hash name=mail priority=1
				d           hash name=mail delay=5 defa="the job stalled 4 times; 3 allowed"
				due         hash name=mail delay=5
				a           hash name=mail ats=1
				a:lock      text w:1
				c           hash name=mail lst="w:1 completed"
				q           text strange
				s           stub name=mail lst="w:1 failed"`,
			call: script.Cancel{Events: "final", History: 100, Mark: "cancelled: why", Items: []script.CancelItem{
				{ID: jobID("w"), Name: "mail"}, {ID: jobID("p")}, {ID: jobID("d")}, {ID: jobID("due")}, {ID: jobID("a")},
				{ID: jobID("c")}, {ID: jobID("q")}, {ID: jobID("s")}, {ID: jobID("none")}, {ID: jobID("w"), Name: "other"}, {ID: jobID("a")},
			}},
			reply: `{Results:[{Verdict:marked Name:mail} {Verdict:marked Name:mail} {Verdict:marked Name:mail} {Verdict:marked Name:mail}` +
				` {Verdict:active Name:mail} {Verdict:ended Name:mail} {Verdict:quarantined} {Verdict:ended Name:mail} {Verdict:missing}` +
				` {Verdict:mismatch Name:mail} {Verdict:active Name:mail}]}`,
			after: `
				meta        hash cancels=1
				wait        list w
				prioritized zset p=4294967297
				delayed     zset d=now due=1000
				active      zset a=1000
				completed   zset c=900
				quarantine  zset q=900
				marker      zset ~due=1
				w           hash defa="cancelled: why" name=mail
				p           hash defa="cancelled: why" name=mail priority=1
				d           hash defa="cancelled: why" delay=5 name=mail
				due         hash defa="cancelled: why" delay=5 name=mail
				a           hash ats=1 defa="cancelled: why" name=mail
				a:lock      text w:1
				c           hash lst="w:1 completed" name=mail
				q           text strange
				s           stub lst="w:1 failed" name=mail
				events      stream cancelled/w cancelled/p cancelled/d cancelled/due cancelled/a`,
		},
		{
			name: "the first reason stands",
			before: `
				wait list w
				w    hash name=mail defa=cancelled`,
			call:  script.Cancel{Events: "all", History: 100, Mark: "cancelled: why", Items: []script.CancelItem{{ID: jobID("w")}}},
			reply: `{Results:[{Verdict:marked Name:mail}]}`,
			after: `
				wait list w
				w    hash defa=cancelled name=mail`,
		},
		{
			name: "a worker that does not know brings it back",
			before: `
				meta   hash version=echomq:2.0.0 cancels=1
				wait   list x
				active zset a=1000 b=1000
				a      hash name=mail ats=1 defa=cancelled
				b      hash name=mail ats=1
				x      hash name=mail
				a:lock text w:1
				b:lock text w:1`,
			call: script.Settle{Events: "none", History: 100, Items: []script.SettleItem{
				{ID: jobID("a"), Token: "w:1", Outcome: "retry", Value: []byte("no"), Delay: 60000, Attempts: 1, Starts: 1},
				{ID: jobID("b"), Token: "w:1", Outcome: "retry", Value: []byte("no"), Delay: 60000, Attempts: 1, Starts: 1},
			}},
			reply: `{Due:now+60000 Results:[{Verdict:settled Outcome:retry} {Verdict:settled Outcome:retry}]}`,
			after: `
				meta    hash cancels=1 version=echomq:2.0.0
				wait    list x a
				delayed zset b=now+60000
				marker  zset a=0 ~due=1
				a       hash atm=1 ats=1 defa=cancelled delay=0 failedReason=no lst="w:1 retry" name=mail
				b       hash atm=1 ats=1 delay=60000 failedReason=no lst="w:1 retry" name=mail
				x       hash name=mail`,
		},
	})
}
