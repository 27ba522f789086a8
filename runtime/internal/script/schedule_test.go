package script_test

import (
	"testing"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

func setTo(id, revision, cron string, next int64) script.ScheduleItem {
	return script.ScheduleItem{
		Scheduler: schedulerID(id), Revision: revision, Next: next, Name: "mail", Cron: cron, Misfire: "skip",
		Data: []byte("{}"), Version: 1,
	}
}

func TestSchedule(t *testing.T) {
	const (
		rest = ` cdc="" cmp=0 cnt=0 cron=x data={} delay=0 end=0 every=0 frm=0 grp="" lim=0 lsl=0 msf=skip name=mail opts="" priority=0`
		tail = ` tz="" ver=1`
		old  = " cron=x every=0 tz= end=0 cnt=5 frm=900 lsl=900"
	)
	try(t, []transition{{
		name: "new ones are set, those without a next slot are not",
		call: script.Schedule{Items: []script.ScheduleItem{
			setTo("a", "r", "x", 4000000000002), setTo("b", "r", "x", 0), setTo("c", "r", "x", 1000), setTo("d", "r", "x", 4000000000001),
		}},
		reply: `{Results:[{Verdict:set Next:4000000000002} {Verdict:wanted} {Verdict:wanted} {Verdict:set Next:4000000000001}]}`,
		after: `
			meta        hash slot=4000000000001 version=echomq:2.0.0
			schedulers  zset a=4000000000002 d=4000000000001
			scheduler:a hash` + rest + ` rev=r` + tail + `
			scheduler:d hash` + rest + ` rev=r` + tail + `
			marker      zset ~due=1`,
	}, {
		name: "one that is the same stays, one that is changed keeps a slot that waits, unless its times change",
		before: `
			meta        hash version=echomq:2.0.0 slot=1000
			schedulers  zset a=1000 b=1001 c=1002
			scheduler:a hash rev=r` + old + `
			scheduler:b hash rev=r` + old + `
			scheduler:c hash rev=r` + old,
		call: script.Schedule{Items: []script.ScheduleItem{
			setTo("a", "r", "x", 0), setTo("b", "s", "x", 0), setTo("c", "s", "y", 0),
		}},
		reply: `{Results:[{Verdict:same Next:1000} {Verdict:set Next:1001} {Verdict:wanted}]}`,
		after: `
			meta        hash slot=1000 version=echomq:2.0.0
			schedulers  zset a=1000 b=1001 c=1002
			scheduler:a hash cnt=5 cron=x end=0 every=0 frm=900 lsl=900 rev=r tz=""
			scheduler:b hash` + rest + ` rev=s` + tail + `
			scheduler:c hash cnt=5 cron=x end=0 every=0 frm=900 lsl=900 rev=r tz=""`,
	}, {
		name: "one that has ended begins anew if it is changed; one whose hash was replaced is broken",
		before: `
			meta        hash version=echomq:2.0.0
			schedulers  zset a=9007199254740991 b=9007199254740991 c=9007199254740991
			scheduler:a hash rev=r` + old + `
			scheduler:b hash rev=r` + old + `
			scheduler:c text strange`,
		call: script.Schedule{Items: []script.ScheduleItem{
			setTo("a", "r", "x", 4000000000001), setTo("b", "s", "x", 4000000000002), setTo("c", "r", "x", 4000000000003),
		}},
		reply: `{Results:[{Verdict:same Next:9007199254740991} {Verdict:set Next:4000000000002} {Verdict:broken}]}`,
		after: `
			meta        hash slot=4000000000002 version=echomq:2.0.0
			schedulers  zset a=9007199254740991 b=4000000000002 c=9007199254740991
			scheduler:a hash cnt=5 cron=x end=0 every=0 frm=900 lsl=900 rev=r tz=""
			scheduler:b hash` + rest + ` rev=s` + tail + `
			scheduler:c text strange
			marker      zset ~due=1`,
	}})
}

func TestUnschedule(t *testing.T) {
	remove := func(ids ...string) script.Unschedule {
		call := script.Unschedule{}
		for _, id := range ids {
			call.Items = append(call.Items, script.UnscheduleItem{Scheduler: schedulerID(id)})
		}
		return call
	}
	const before = `
		meta        hash version=echomq:2.0.0 slot=1000
		schedulers  zset a=1000 b=4000000000001
		scheduler:a hash rev=r
		scheduler:b hash rev=r
		delayed     zset _a.900=900
		_a.900      hash name=mail rjk=a`
	try(t, []transition{{
		name: "the earliest", before: before, call: remove("a", "x", "a"),
		reply: `{Results:[{Verdict:removed} {Verdict:missing} {Verdict:missing}]}`,
		after: `
			meta        hash slot=4000000000001 version=echomq:2.0.0
			schedulers  zset b=4000000000001
			scheduler:b hash rev=r
			delayed     zset _a.900=900
			_a.900      hash name=mail rjk=a`,
	}, {
		name: "all", before: before, call: remove("b", "a"),
		reply: `{Results:[{Verdict:removed} {Verdict:removed}]}`,
		after: `
			meta    hash version=echomq:2.0.0
			delayed zset _a.900=900
			_a.900  hash name=mail rjk=a`,
	}})
}

func TestTick(t *testing.T) {
	tick := func(items ...script.TickItem) script.Tick {
		return script.Tick{Events: "all", History: 100, Items: items}
	}
	later := tickItem("b", 1000, 4000000000002)
	later.Slot, later.Delay, later.Priority, later.Opts, later.Codec, later.Version = 2000, 500, 3, []byte("{}"), "pb", 2
	later.ID = later.Scheduler.Slot(later.Slot)
	skipped := tickItem("c", 1000, wire.Never)
	skipped.Fire = false
	try(t, []transition{{
		name: "each goes on as it is to",
		before: `
			meta        hash version=echomq:2.0.0 slot=1000
			schedulers  zset a=1000 b=1000 c=1000
			scheduler:a hash rev=r
			scheduler:b hash rev=r cnt=4 lsl=900 frm=900
			scheduler:c hash rev=r cnt=4 lsl=900 frm=900`,
		call:  tick(tickItem("a", 1000, 4000000000001), skipped),
		reply: `{Due:1000 Slot:1000 Results:[{Verdict:added Next:4000000000001} {Verdict:skipped Next:9007199254740991}]}`,
		after: `
			meta        hash slot=1000 version=echomq:2.0.0
			schedulers  zset a=4000000000001 b=1000 c=9007199254740991
			scheduler:a hash cnt=1 frm=1000 lsl=1000 rev=r
			scheduler:b hash cnt=4 frm=900 lsl=900 rev=r
			scheduler:c hash cnt=4 frm=1000 lsl=900 rev=r
			delayed     zset _a.1000=1000
			_a.1000     hash data={} name=mail rjk=a timestamp=now
			marker      zset ~due=1
			events      stream added/_a.1000`,
	}, {
		name: "the last slot of all; what stands elsewhere, was changed or is gone",
		before: `
			meta        hash version=echomq:2.0.0 slot=1000
			schedulers  zset a=1000 b=2000 c=1000 d=1000 e=4000000000001
			scheduler:a hash rev=r cnt=2 lim=3
			scheduler:b hash rev=r frm=1000
			scheduler:c hash rev=other
			scheduler:d text strange
			scheduler:e hash rev=r frm=1000`,
		call: tick(tickItem("a", 1000, 4000000000001), tickItem("a", 1000, 4000000000001), tickItem("b", 1000, 4000000000001),
			tickItem("b", 900, 4000000000001), tickItem("c", 1000, 4000000000001), tickItem("d", 1000, 4000000000001),
			tickItem("x", 1000, 4000000000001), tickItem("e", 4000000000001, 4000000000002)),
		reply: `{Due:1000 Slot:1000 Results:[{Verdict:added Next:9007199254740991} {Verdict:already Next:9007199254740991} {Verdict:already Next:2000} ` +
			`{Verdict:moved Next:2000} {Verdict:moved Next:1000} {Verdict:gone} {Verdict:gone} {Verdict:early Next:4000000000001}]}`,
		after: `
			meta        hash slot=1000 version=echomq:2.0.0
			schedulers  zset a=9007199254740991 b=2000 c=1000 d=1000 e=4000000000001
			scheduler:a hash cnt=3 frm=1000 lim=3 lsl=1000 rev=r
			scheduler:b hash frm=1000 rev=r
			scheduler:c hash rev=other
			scheduler:d text strange
			scheduler:e hash frm=1000 rev=r
			delayed     zset _a.1000=1000
			_a.1000     hash data={} name=mail rjk=a timestamp=now
			marker      zset ~due=1
			events      stream added/_a.1000`,
	}, {
		name: "all that a job can have; one that exists is left alone",
		before: `
			meta        hash version=echomq:2.0.0 slot=1000
			schedulers  zset a=1000 b=1000
			scheduler:a hash rev=r
			scheduler:b hash rev=r
			wait        list _a.1000
			_a.1000     hash name=mail data=old
			delayed     zset x=900
			x           hash name=mail
			marker      zset _a.1000=0`,
		call:  tick(tickItem("a", 1000, 4000000000001), later),
		reply: `{Due:900 Slot:4000000000001 Results:[{Verdict:exists Next:4000000000001} {Verdict:added Next:4000000000002}]}`,
		after: `
			meta        hash slot=4000000000001 version=echomq:2.0.0
			schedulers  zset a=4000000000001 b=4000000000002
			scheduler:a hash frm=1000 rev=r
			scheduler:b hash cnt=1 frm=1000 lsl=2000 rev=r
			wait        list _a.1000
			_a.1000     hash data=old name=mail
			delayed     zset _b.2000=2500 x=900
			_b.2000     hash cdc=pb data={} name=mail opts={} priority=3 rjk=b timestamp=now ver=2
			x           hash name=mail
			marker      zset _a.1000=0
			events      stream added/_b.2000`,
	}})
}
