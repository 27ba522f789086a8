package script_test

import (
	"testing"

	"github.com/echomq/echomq-go/runtime/internal/script"
)

func promoted(ids ...string) script.Promote {
	call := script.Promote{Events: "all", History: 100}
	for _, id := range ids {
		call.Items = append(call.Items, script.PromoteItem{ID: jobID(id)})
	}
	return call
}

func TestPromote(t *testing.T) {
	try(t, []transition{{
		name: "a new job goes behind those that wait, one that has run goes before them, each by its priority",
		before: `
			wait        list x
			prioritized zset y=8589934593
			pc          text 1
			delayed     zset a=1000 b=1001 c=1002 d=1003 e=4000000000001
			a           hash name=mail delay=5
			b           hash name=mail delay=5 ats=1
			c           hash name=mail delay=5 priority=2
			d           hash name=mail delay=5 priority=2 ats=1
			e           hash name=mail delay=5
			x           hash name=mail
			y           hash name=mail priority=2`,
		call:  promoted("a", "b", "c", "d", "e", "f"),
		reply: `{Due:4000000000001 Results:[{Verdict:promoted} {Verdict:promoted} {Verdict:promoted} {Verdict:promoted} {Verdict:early} {Verdict:gone}]}`,
		after: `
			wait        list a x b
			prioritized zset c=8589934594 d=8589934592 y=8589934593
			pc          text 2
			delayed     zset e=4000000000001
			marker      zset b=0
			a           hash name=mail
			b           hash ats=1 name=mail
			c           hash name=mail priority=2
			d           hash ats=1 name=mail priority=2
			e           hash delay=5 name=mail
			x           hash name=mail
			y           hash name=mail priority=2
			events      stream waiting/a waiting/b waiting/c waiting/d`,
	}, {
		name: "jobs that ran before come back in the order of the items",
		before: `
			delayed zset a=1000 b=1001
			a       hash name=mail ats=1
			b       hash name=mail ats=2`,
		call:  promoted("a", "b"),
		reply: `{Results:[{Verdict:promoted} {Verdict:promoted}]}`,
		after: `
			wait   list b a
			marker zset a=0
			a      hash ats=1 name=mail
			b      hash ats=2 name=mail
			events stream waiting/a waiting/b`,
	}, {
		name: "a job whose hash was lost is dropped, one whose hash is of no use is put away",
		before: `
			delayed zset a=1000 b=1000 c=1000
			b       text strange
			c       hash data=1`,
		call:  promoted("a", "b", "c"),
		reply: `{Results:[{Verdict:orphan} {Verdict:quarantined} {Verdict:quarantined}]}`,
		after: `
			quarantine zset b=now c=now
			b          text strange
			c          hash data=1
			events     stream orphan/a quarantined/b quarantined/c`,
	}})
}

func TestDue(t *testing.T) {
	const queue = `
		delayed zset a=1000 b=1001 c=1002 d=4000000000001
		active  zset x=1000 y=1001 z=4000000000001`
	try(t, []transition{{
		name: "the earliest come first, and what comes after them is told", before: queue, call: script.Due{Limit: 10},
		reply: `{Due:[a b c] Expired:[{ID:x Deadline:1000} {ID:y Deadline:1001}] NextDue:4000000000001 NextExpiry:4000000000001}`,
		after: queue,
	}, {
		name: "of more than asked for the next one is told", before: queue, call: script.Due{Limit: 1},
		reply: `{Due:[a] Expired:[{ID:x Deadline:1000}] NextDue:1001 NextExpiry:1001}`,
		after: queue,
	}, {
		name: "a queue that does not exist has nothing", call: script.Due{Limit: 1},
		reply: `{Due:[] Expired:[]}`,
	}})
}
