package script_test

import (
	"testing"

	"github.com/echomq/echomq-go/runtime/internal/script"
)

func settled(items ...script.SettleItem) script.Settle {
	return script.Settle{Events: "final", History: 100, Items: items}
}

func TestSettleEnds(t *testing.T) {
	try(t, []transition{{
		name: "a completed job is kept with its result",
		before: `
			active zset a=1000
			a      hash name=mail data=1 ats=1
			a:lock text w:1`,
		call: settled(script.SettleItem{ID: jobID("a"), Token: "w:1", Outcome: "completed", Value: []byte("done"),
			Attempts: 1, Keep: true}),
		reply: `{Results:[{Verdict:settled Outcome:completed}]}`,
		after: `
			completed zset a=now
			a         hash atm=1 ats=1 data=1 finishedOn=now lst="w:1 completed" name=mail returnvalue=done
			events    stream completed/a`,
	}, {
		name: "a failed job is kept with the reason and the errors of its attempts",
		before: `
			active zset a=1000
			a      hash name=mail data=1 ats=3
			a:lock text w:1`,
		call: settled(script.SettleItem{ID: jobID("a"), Token: "w:1", Outcome: "failed", Value: []byte("no"),
			Trace: []byte(`["no"]`), Attempts: 3, Keep: true}),
		reply: `{Results:[{Verdict:settled Outcome:failed}]}`,
		after: `
			failed zset a=now
			a      hash atm=3 ats=3 data=1 failedReason=no finishedOn=now lst="w:1 failed" name=mail stacktrace="[\"no\"]"
			events stream failed/a`,
	}, {
		name: "of a job that is not kept a stub remains for a while, to answer a replay",
		before: `
			active zset a=1000
			a      hash name=mail data=1 ats=1
			a:lock text w:1`,
		call: settled(script.SettleItem{ID: jobID("a"), Token: "w:1", Outcome: "completed"},
			script.SettleItem{ID: jobID("a"), Token: "w:1", Outcome: "completed"}),
		reply: `{Results:[{Verdict:settled Outcome:completed} {Verdict:already Outcome:completed}]}`,
		after: `
			a      stub lst="w:1 completed" name=mail
			events stream completed/a`,
	}, {
		name: "a worker that is late changes nothing, and spoils nothing of others",
		before: `
			active zset a=1000 b=1000
			a      hash name=mail ats=2
			a:lock text w:2
			b      hash name=mail ats=1
			b:lock text w:1`,
		call: settled(script.SettleItem{ID: jobID("a"), Token: "w:1", Outcome: "completed"},
			script.SettleItem{ID: jobID("c"), Token: "w:1", Outcome: "completed"},
			script.SettleItem{ID: jobID("b"), Token: "w:1", Outcome: "failed", Keep: true}),
		reply: `{Results:[{Verdict:lost} {Verdict:gone} {Verdict:settled Outcome:failed}]}`,
		after: `
			active zset a=1000
			failed zset b=now
			a      hash ats=2 name=mail
			a:lock text w:2
			b      hash atm=0 ats=1 failedReason="" finishedOn=now lst="w:1 failed" name=mail
			events stream failed/b`,
	}, {
		name: "a replay is answered with the outcome that stands, not the one it brings",
		before: `
			wait list a
			a    hash name=mail lst="host 1:7 retry"`,
		call:  settled(script.SettleItem{ID: jobID("a"), Token: "host 1:7", Outcome: "completed"}),
		reply: `{Results:[{Verdict:already Outcome:retry}]}`,
		after: `
			wait list a
			a    hash lst="host 1:7 retry" name=mail`,
	}, {
		name: "of a job whose hash was lost nothing remains, one that was replaced is put away",
		before: `
			active zset a=1000 b=1000
			a:lock text w:1
			b      text strange
			b:lock text w:1`,
		call: settled(script.SettleItem{ID: jobID("a"), Token: "w:1", Outcome: "completed", Keep: true},
			script.SettleItem{ID: jobID("b"), Token: "w:1", Outcome: "retry"}),
		reply: `{Results:[{Verdict:gone} {Verdict:gone}]}`,
		after: `
			quarantine zset b=now
			b          text strange
			events     stream quarantined/b`,
	}})
}

func TestSettleBringsBack(t *testing.T) {
	try(t, []transition{{
		name: "a retry waits, and wakes a worker when it is the next to become due",
		before: `
			active  zset a=1000
			delayed zset x=4000000000001
			a       hash name=mail ats=1
			a:lock  text w:1
			x       hash name=mail`,
		call: settled(script.SettleItem{ID: jobID("a"), Token: "w:1", Outcome: "retry", Value: []byte("no"), Delay: 500,
			Attempts: 1, Starts: 1}),
		reply: `{Due:now+500 Results:[{Verdict:settled Outcome:retry}]}`,
		after: `
			delayed zset a=now+500 x=4000000000001
			marker  zset ~due=1
			a       hash atm=1 ats=1 delay=500 failedReason=no lst="w:1 retry" name=mail
			x       hash name=mail`,
	}, {
		name: "what is given back goes to the front, in the order of the items, and its start does not count",
		before: `
			wait   list x
			active zset a=1000 b=1000
			a      hash name=mail ats=1
			a:lock text w:1
			b      hash name=mail ats=1
			b:lock text w:1
			x      hash name=mail
			marker zset x=0`,
		call: settled(script.SettleItem{ID: jobID("a"), Token: "w:1", Outcome: "release", Unknown: 1},
			script.SettleItem{ID: jobID("b"), Token: "w:1", Outcome: "release", Announce: true}),
		reply: `{Results:[{Verdict:settled Outcome:release} {Verdict:settled Outcome:release}]}`,
		after: `
			wait   list x b a
			a      hash atm=0 ats=0 delay=0 lst="w:1 release" name=mail ukn=1
			b      hash atm=0 ats=0 delay=0 lst="w:1 release" name=mail ukn=0
			x      hash name=mail
			marker zset a=0 x=0
			events stream release/b`,
	}, {
		name: "a job with a priority goes to the front of it, and the marker names the head",
		before: `
			prioritized zset x=4294967297 y=8589934593
			active      zset a=1000
			a           hash name=mail ats=1 priority=2
			a:lock      text w:1
			x           hash name=mail priority=1
			y           hash name=mail priority=2`,
		call:  settled(script.SettleItem{ID: jobID("a"), Token: "w:1", Outcome: "snooze", Starts: 1, Priority: 2}),
		reply: `{Results:[{Verdict:settled Outcome:snooze}]}`,
		after: `
			prioritized zset a=8589934592 x=4294967297 y=8589934593
			marker      zset x=0
			a           hash atm=0 ats=1 delay=0 lst="w:1 snooze" name=mail priority=2 ukn=0
			x           hash name=mail priority=1
			y           hash name=mail priority=2`,
	}})
}
