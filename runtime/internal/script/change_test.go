package script_test

import (
	"testing"

	"github.com/echomq/echomq-go/runtime/internal/script"
)

// changed is a call of change for the given jobs.
func changed(priority, delay int64, ids ...string) script.Change {
	call := script.Change{Events: "final", History: 100, By: "b1", Priority: priority, Delay: delay}
	for _, id := range ids {
		call.Items = append(call.Items, script.ChangeItem{ID: jobID(id)})
	}
	return call
}

func TestChange(t *testing.T) {
	try(t, []transition{
		{
			name: "another priority, wherever jobs are",
			before: `
				wait             list v w
				prioritized      zset p=4294967297 q=12884901890 r=12884901891
				pc               text 3
				delayed          zset d=4000000000001
				waiting-children zset c=4000000000001
				v                hash name=mail chp=3 chd=4000000000001
				w                hash name=mail
				p                hash name=mail priority=1
				q                hash name=mail priority=3
				r                hash name=mail priority=3
				d                hash name=mail delay=5
				c                hash name=mail chn=1
				marker           zset w=0`,
			call: changed(3, -1, "v", "w", "p", "q", "d", "c", "p"),
			reply: `{Results:[{Verdict:changed Name:mail} {Verdict:changed Name:mail} {Verdict:changed Name:mail} {Verdict:changed Name:mail}` +
				` {Verdict:changed Name:mail} {Verdict:changed Name:mail} {Verdict:changed Name:mail}]}`,
			after: `
				wait             list v w
				prioritized      zset p=12884901892 q=12884901890 r=12884901891
				pc               text 4
				delayed          zset d=4000000000001
				waiting-children zset c=4000000000001
				v                hash chc=b1 chd=4000000000001 chp=3 name=mail
				w                hash chc=b1 chp=3 name=mail
				p                hash chc=b1 name=mail priority=3
				q                hash chc=b1 name=mail priority=3
				r                hash name=mail priority=3
				d                hash chc=b1 delay=5 name=mail priority=3
				c                hash chc=b1 chn=1 name=mail priority=3
				marker           zset w=0
				events           stream changed/v changed/w changed/p changed/q changed/d changed/c`,
		},
		{
			name: "no priority",
			before: `
				wait        list v
				prioritized zset p=4294967297 q=4294967298
				pc          text 2
				delayed     zset d=4000000000001
				v           hash name=mail chp=3
				p           hash name=mail priority=1
				q           hash name=mail priority=1
				d           hash name=mail priority=4
				marker      zset v=0`,
			call:  changed(0, -1, "v", "q", "d", "p"),
			reply: `{Results:[{Verdict:changed Name:mail} {Verdict:changed Name:mail} {Verdict:changed Name:mail} {Verdict:changed Name:mail}]}`,
			after: `
				wait    list p q v
				pc      text 2
				delayed zset d=4000000000001
				v       hash chc=b1 name=mail
				p       hash chc=b1 name=mail
				q       hash chc=b1 name=mail
				d       hash chc=b1 name=mail
				marker  zset v=0
				events  stream changed/v changed/q changed/d changed/p`,
		},
		{
			name: "another time, wherever jobs are, and a priority with it",
			before: `
				wait             list w
				prioritized      zset p=4294967297
				pc               text 1
				delayed          zset d=4000000000001
				waiting-children zset c=4000000000001
				w                hash name=mail
				p                hash name=mail priority=1
				d                hash name=mail delay=5
				c                hash name=mail chn=1
				marker           zset p=0`,
			call:  changed(2, 60000, "w", "p", "d", "c"),
			reply: `{Results:[{Verdict:changed Name:mail} {Verdict:changed Name:mail} {Verdict:changed Name:mail} {Verdict:parent Name:mail}]}`,
			after: `
				wait             list w
				pc               text 1
				delayed          zset d=now+60000 p=now+60000
				waiting-children zset c=4000000000001
				w                hash chc=b1 chd=now+60000 chp=2 delay=60000 name=mail
				p                hash chc=b1 delay=60000 name=mail priority=2
				d                hash chc=b1 delay=60000 name=mail priority=2
				c                hash chn=1 name=mail
				marker           zset w=0 ~due=1
				events           stream changed/w changed/p changed/d`,
		},
		{
			name: "nothing is left to be taken",
			before: `
				prioritized zset p=4294967297
				pc          text 1
				delayed     zset d=1000
				p           hash name=mail priority=1
				d           hash name=mail
				marker      zset p=0 old=0`,
			call:  changed(-1, 60000, "p"),
			reply: `{Results:[{Verdict:changed Name:mail}]}`,
			after: `
				pc      text 1
				delayed zset d=1000 p=now+60000
				p       hash chc=b1 delay=60000 name=mail priority=1
				d       hash name=mail
				events  stream changed/p`,
		},
		{
			name: "now",
			before: `
				wait        list w
				prioritized zset p=4294967297
				delayed     zset d=4000000000001 due=1000
				w           hash name=mail chp=2 chd=4000000000001
				p           hash name=mail priority=1
				d           hash name=mail delay=5
				due         hash name=mail`,
			call:  changed(-1, 0, "w", "p", "d"),
			reply: `{Results:[{Verdict:changed Name:mail} {Verdict:changed Name:mail} {Verdict:changed Name:mail}]}`,
			after: `
				wait        list w
				prioritized zset p=4294967297
				delayed     zset d=now due=1000
				marker      zset ~due=1
				w           hash chc=b1 chp=2 name=mail
				p           hash chc=b1 name=mail priority=1
				d           hash chc=b1 delay=0 name=mail
				due         hash name=mail
				events      stream changed/w changed/p changed/d`,
		},
		{
			name: "what cannot be changed",
			before: `
				wait       list w
				active     zset a=1000 r=1000
				reserved   hash r=w:1
				completed  zset c=900
				quarantine zset q=900
				w          hash name=mail defa="cancelled: why"
				a          hash name=mail ats=1
				a:lock     text w:1
				r          hash name=mail
				c          hash name=mail lst="w:1 completed"
				q          text strange
				s          stub name=mail lst="w:1 failed"`,
			call: changed(1, -1, "w", "a", "r", "c", "q", "s", "none"),
			reply: `{Results:[{Verdict:doomed Name:mail Reason:cancelled: why} {Verdict:active Name:mail} {Verdict:active Name:mail}` +
				` {Verdict:ended Name:mail} {Verdict:quarantined} {Verdict:ended Name:mail} {Verdict:missing}]}`,
			after: `
				wait       list w
				active     zset a=1000 r=1000
				reserved   hash r=w:1
				completed  zset c=900
				quarantine zset q=900
				w          hash defa="cancelled: why" name=mail
				a          hash ats=1 name=mail
				a:lock     text w:1
				r          hash name=mail
				c          hash lst="w:1 completed" name=mail
				q          text strange
				s          stub lst="w:1 failed" name=mail`,
		},
		{
			name: "the same call again, after a worker has begun",
			before: `
				active zset a=1000
				a      hash name=mail ats=1 chc=b1
				a:lock text w:1`,
			call:  changed(1, -1, "a"),
			reply: `{Results:[{Verdict:changed Name:mail}]}`,
			after: `
				active zset a=1000
				a      hash ats=1 chc=b1 name=mail
				a:lock text w:1`,
		},
		{
			name: "a pick comes to jobs that were changed",
			before: `
				wait        list e d c b a
				prioritized zset p=12884901889
				pc          text 1
				a           hash name=mail chp=3
				b           hash name=mail chp=2
				c           hash name=mail chd=1000 delay=5
				d           hash name=mail chp=1 defa=cancelled
				e           hash name=mail chp=oops chd=-1
				p           hash name=mail priority=3`,
			call: picked(5, script.PickItem{ID: jobID("a")}, script.PickItem{ID: jobID("b")}, script.PickItem{ID: jobID("c")},
				script.PickItem{ID: jobID("d")}, script.PickItem{ID: jobID("e")}),
			reply: `{Expiry:now+30000 Started:[{ID:c Starts:1 Job:{chd=1000 delay=5 name=mail}}` +
				` {ID:d Starts:1 Job:{chp=1 defa=cancelled name=mail}} {ID:e Starts:1 Job:{chd=-1 chp=oops name=mail}}] Reserved:[] Window:[b p a]}`,
			after: `
				prioritized zset a=12884901890 b=8589934595 p=12884901889
				pc          text 3
				active      zset c=now+30000 d=now+30000 e=now+30000
				marker      zset b=0
				a           hash name=mail priority=3
				b           hash name=mail priority=2
				c           hash ats=1 name=mail pb=host processedOn=now
				d           hash ats=1 defa=cancelled name=mail pb=host processedOn=now
				e           hash ats=1 name=mail pb=host processedOn=now
				p           hash name=mail priority=3
				c:lock      text w:2
				d:lock      text w:2
				e:lock      text w:2
				events      stream active/c active/d active/e`,
		},
		{
			name: "a pick comes to a job that was put off",
			before: `
				wait list b a
				a    hash name=mail chd=4000000000001 chp=2 delay=5
				b    hash name=mail`,
			call:  picked(1, script.PickItem{ID: jobID("a")}),
			reply: `{Due:4000000000001 Started:[] Reserved:[] Window:[b]}`,
			after: `
				wait    list b
				delayed zset a=4000000000001
				marker  zset b=0
				a       hash delay=5 name=mail priority=2
				b       hash name=mail`,
		},
		{
			name: "a changed job that was reserved gives its token back",
			before: `
				meta     hash version=echomq:2.0.0 rate=2/3600000
				limiter  hash level=3600000 interval=3600000 at=4000000000000
				active   zset a=1000
				reserved hash a=w:1
				a        hash name=mail chp=3`,
			call:  picked(0, script.PickItem{ID: jobID("a"), Reservation: "w:1"}),
			reply: `{Started:[] Reserved:[] Window:[a] Bounded:true}`,
			after: `
				meta        hash rate=2/3600000 version=echomq:2.0.0
				limiter     hash at=now interval=3600000 level=7200000
				prioritized zset a=12884901889
				pc          text 1
				marker      zset a=0
				a           hash name=mail priority=3`,
		},
	})
}
