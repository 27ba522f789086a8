package script_test

import (
	"testing"

	"github.com/echomq/echomq-go/runtime/internal/script"
)

func TestTrim(t *testing.T) {
	try(t, []transition{{
		name: "a job goes with all its keys when it is old, or when enough newer ones have ended",
		before: `
			completed      zset a=1000 b=1001 c=1002 d=4000000000001
			a              hash name=mail
			a:logs         list line
			a:dependencies set x
			a:processed    hash x=1
			a:failed       hash x=no
			b              hash name=mail
			c              hash name=mail
			d              hash name=mail`,
		call: script.Trim{Set: "completed", Items: []script.TrimItem{
			{ID: jobID("a"), Age: 5000, Newer: -1}, {ID: jobID("b"), Age: -1, Newer: 2}, {ID: jobID("c"), Age: -1, Newer: 2},
			{ID: jobID("d"), Age: 5000, Newer: 1}, {ID: jobID("e")},
		}},
		reply: `{Results:[{Verdict:trimmed} {Verdict:trimmed} {Verdict:kept} {Verdict:kept} {Verdict:gone}]}`,
		after: `
			completed zset c=1002 d=4000000000001
			c         hash name=mail
			d         hash name=mail`,
	}, {
		name: "a job that ended otherwise is not touched",
		before: `
			failed zset a=1000
			a      hash name=mail`,
		call:  script.Trim{Set: "completed", Items: []script.TrimItem{{ID: jobID("a")}}},
		reply: `{Results:[{Verdict:gone}]}`,
		after: `
			failed zset a=1000
			a      hash name=mail`,
	}})
}

func TestInspect(t *testing.T) {
	const queue = `
		prioritized zset ranked=4294967297
		delayed     zset delayed1=1000
		active      zset active1=1000
		completed   zset completed1=1000
		failed      zset failed1=1000
		quarantine  zset replaced=1000
		waiting     hash name=mail
		ranked      hash name=mail priority=1
		delayed1    hash name=mail failedReason=no stacktrace=[] atm=1
		active1     hash name=mail cdc=pb
		completed1  hash name=mail returnvalue=done atm=1 lst="w:1 completed"
		failed1     hash name=mail failedReason=no stacktrace=[] atm=3 lst="w:1 failed"
		stub1       stub name=mail lst="w:1 failed"
		replaced    text strange`
	var items []script.InspectItem
	for _, id := range []string{"none", "waiting", "ranked", "delayed1", "active1", "completed1", "failed1", "stub1", "replaced"} {
		items = append(items, script.InspectItem{ID: jobID(id)})
	}
	try(t, []transition{{
		name: "a job is found in every place", before: queue, call: script.Inspect{Items: items},
		reply: `{Results:[{State:missing Value:"" Kept:true} {State:waiting Name:mail Value:"" Kept:true}` +
			` {State:prioritized Name:mail Value:"" Kept:true}` +
			` {State:delayed Name:mail Attempts:1 Value:"" Reason:no Trace:[] Kept:true}` +
			` {State:active Name:mail Codec:pb Value:"" Kept:true}` +
			` {State:completed Name:mail Attempts:1 Value:"done" Kept:true}` +
			` {State:failed Name:mail Attempts:3 Value:"" Reason:no Trace:[] Kept:true}` +
			` {State:failed Name:mail Value:""} {State:quarantined Value:"" Kept:true}]}`,
		after: `
			prioritized zset ranked=4294967297
			delayed     zset delayed1=1000
			active      zset active1=1000
			completed   zset completed1=1000
			failed      zset failed1=1000
			quarantine  zset replaced=1000
			waiting     hash name=mail
			ranked      hash name=mail priority=1
			delayed1    hash atm=1 failedReason=no name=mail stacktrace=[]
			active1     hash cdc=pb name=mail
			completed1  hash atm=1 lst="w:1 completed" name=mail returnvalue=done
			failed1     hash atm=3 failedReason=no lst="w:1 failed" name=mail stacktrace=[]
			stub1       stub lst="w:1 failed" name=mail
			replaced    text strange`,
	}})
}
