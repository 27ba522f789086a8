package script_test

import (
	"testing"

	"github.com/echomq/echomq-go/runtime/internal/script"
)

func TestExtend(t *testing.T) {
	try(t, []transition{{
		name: "the holder's lease is renewed; who is not the holder any more is told so",
		before: `
			active zset a=1000 b=1000
			a:lock text w:1
			b:lock text w:2
			a      hash name=mail
			b      hash name=mail`,
		call: script.Extend{Lease: 30000, Items: []script.ExtendItem{
			{ID: jobID("a"), Token: "w:1"}, {ID: jobID("b"), Token: "w:1"}, {ID: jobID("c"), Token: "w:1"}, {ID: jobID("c")},
		}},
		reply: `{Results:[{Verdict:extended} {Verdict:lost} {Verdict:lost} {Verdict:lost}]}`,
		after: `
			active zset a=now+30000 b=1000
			a:lock text w:1
			b:lock text w:2
			a      hash name=mail
			b      hash name=mail`,
	}, {
		name: "a job that was cancelled is told of",
		before: `
			meta   hash version=echomq:2.0.0 cancels=1
			active zset c=1000 d=1000 e=1000
			c:lock text w:1
			d:lock text w:1
			e:lock text w:1
			c      hash name=mail defa="cancelled: why"
			d      hash name=mail defa="cancelledly"
			e      text strange`,
		call: script.Extend{Lease: 30000, Items: []script.ExtendItem{
			{ID: jobID("c"), Token: "w:1"}, {ID: jobID("d"), Token: "w:1"}, {ID: jobID("e"), Token: "w:1"},
		}},
		reply: `{Results:[{Verdict:cancelled Reason:cancelled: why} {Verdict:extended} {Verdict:extended}]}`,
		after: `
			meta   hash cancels=1 version=echomq:2.0.0
			active zset c=now+30000 d=now+30000 e=now+30000
			c:lock text w:1
			d:lock text w:1
			e:lock text w:1
			c      hash defa="cancelled: why" name=mail
			d      hash defa=cancelledly name=mail
			e      text strange`,
	}})
}

func TestLeave(t *testing.T) {
	try(t, []transition{{
		name: "the lease of a job whose handler is stuck ends, once, and only for its holder",
		before: `
			active zset a=4000000000001 b=1000 c=4000000000001
			a:lock text w:1
			b:lock text w:1
			c:lock text w:2`,
		call: script.Leave{Events: "final", History: 100, Items: []script.LeaveItem{
			{ID: jobID("a"), Token: "w:1"}, {ID: jobID("a"), Token: "w:1"}, {ID: jobID("b"), Token: "w:1"}, {ID: jobID("c"), Token: "w:1"}, {ID: jobID("d")},
		}},
		reply: `{Results:[{Verdict:left} {Verdict:left} {Verdict:left} {Verdict:lost} {Verdict:lost}]}`,
		after: `
			active zset a=now b=1000 c=4000000000001
			a:lock text w:1
			b:lock text w:1
			c:lock text w:2
			events stream stuck/a`,
	}})
}

func recovered(items ...script.RecoverItem) script.Recover {
	return script.Recover{Events: "final", History: 100, Items: items}
}

func TestRecover(t *testing.T) {
	try(t, []transition{{
		name: "jobs of a worker that is lost go to the front, in the order of the items, and their stall is counted",
		before: `
			wait   list x
			active zset a=1000 b=1001
			a      hash name=mail ats=1
			a:lock text w:1
			b      hash name=mail ats=1 stc=1
			b:lock text w:1
			x      hash name=mail`,
		call:  recovered(script.RecoverItem{ID: jobID("a"), Deadline: 1000, Stalls: 1}, script.RecoverItem{ID: jobID("b"), Deadline: 1001, Stalls: 1}),
		reply: `{Results:[{Verdict:stalled} {Verdict:stalled}]}`,
		after: `
			wait   list x b a
			a      hash ats=1 name=mail stc=1
			b      hash ats=1 defa="the job stalled 2 times; 1 allowed" name=mail stc=2
			x      hash name=mail
			marker zset a=0
			events stream stalled/a stalled/b`,
	}, {
		name: "a job that was reserved and never started has not stalled",
		before: `
			prioritized zset x=4294967297
			active      zset a=1000
			reserved    hash a=w:1
			a           hash name=mail priority=3
			x           hash name=mail priority=1`,
		call:  recovered(script.RecoverItem{ID: jobID("a"), Deadline: 1000}),
		reply: `{Results:[{Verdict:returned}]}`,
		after: `
			prioritized zset a=12884901888 x=4294967297
			marker      zset x=0
			a           hash name=mail priority=3
			x           hash name=mail priority=1`,
	}, {
		name: "a lease that was renewed since, or still runs, is left alone",
		before: `
			active zset a=1001 b=4000000000001
			a      hash name=mail
			a:lock text w:1
			b      hash name=mail
			b:lock text w:1`,
		call: recovered(script.RecoverItem{ID: jobID("a"), Deadline: 1000},
			script.RecoverItem{ID: jobID("b"), Deadline: 4000000000001}, script.RecoverItem{ID: jobID("c"), Deadline: 1000}),
		reply: `{Results:[{Verdict:renewed} {Verdict:renewed} {Verdict:gone}]}`,
		after: `
			active zset a=1001 b=4000000000001
			a      hash name=mail
			a:lock text w:1
			b      hash name=mail
			b:lock text w:1`,
	}, {
		name: "a job whose hash was lost is dropped, one whose hash is of no use is put away",
		before: `
			active   zset a=1000 b=1000 c=1000
			reserved hash a=w:1
			b        text strange
			b:lock   text w:1
			c        hash data=1
			c:lock   text w:1`,
		call: recovered(script.RecoverItem{ID: jobID("a"), Deadline: 1000}, script.RecoverItem{ID: jobID("b"), Deadline: 1000},
			script.RecoverItem{ID: jobID("c"), Deadline: 1000}),
		reply: `{Results:[{Verdict:orphan} {Verdict:quarantined} {Verdict:quarantined}]}`,
		after: `
			quarantine zset b=now c=now
			b          text strange
			c          hash data=1
			events     stream orphan/a quarantined/b quarantined/c`,
	}})
}
