package script_test

import (
	"testing"

	"github.com/echomq/echomq-go/runtime/internal/script"
)

func TestPause(t *testing.T) {
	try(t, []transition{
		{
			name: "a queue that waits",
			before: `
				wait list b a
				delayed zset d=4000000000000
				marker zset a=0 b=0
				a hash name=mail
				b hash name=mail
				d hash name=mail`,
			call:  script.Pause{Events: "final", History: 100},
			reply: `{Changed:true}`,
			after: `
				meta hash paused=1 version=echomq:2.0.0
				wait list b a
				delayed zset d=4000000000000
				marker zset ~due=1
				a hash name=mail
				b hash name=mail
				d hash name=mail
				events stream paused/`,
		},
		{
			name:   "a queue that is paused",
			before: `meta hash version=echomq:2.0.0 paused=1`,
			call:   script.Pause{Events: "all", History: 100},
			reply:  `{}`,
			after:  `meta hash paused=1 version=echomq:2.0.0`,
		},
		{
			name:   "without events",
			before: ``,
			call:   script.Pause{Events: "none", History: 100},
			reply:  `{Changed:true}`,
			after:  `meta hash paused=1 version=echomq:2.0.0`,
		},
	})
}

func TestResume(t *testing.T) {
	try(t, []transition{
		{
			name: "a queue with work",
			before: `
				meta hash version=echomq:2.0.0 paused=1
				wait list b a
				a hash name=mail
				b hash name=mail`,
			call:  script.Resume{Events: "final", History: 100},
			reply: `{Changed:true}`,
			after: `
				meta hash version=echomq:2.0.0
				wait list b a
				marker zset a=0
				a hash name=mail
				b hash name=mail
				events stream resumed/`,
		},
		{
			name: "a queue with priorities alone",
			before: `
				meta hash version=echomq:2.0.0 paused=1
				prioritized zset p=4294967297
				p hash name=mail priority=1`,
			call:  script.Resume{Events: "none", History: 100},
			reply: `{Changed:true}`,
			after: `
				meta hash version=echomq:2.0.0
				prioritized zset p=4294967297
				marker zset p=0
				p hash name=mail priority=1`,
		},
		{
			name:   "a queue that is not paused",
			before: `meta hash version=echomq:2.0.0`,
			call:   script.Resume{Events: "all", History: 100},
			reply:  `{}`,
			after:  `meta hash version=echomq:2.0.0`,
		},
	})
}

func TestPausedQueue(t *testing.T) {
	try(t, []transition{
		{
			name:   "add wakes nobody",
			before: `meta hash version=echomq:2.0.0 paused=1`,
			call: script.Add{Events: "none", History: 100, Items: []script.AddItem{
				{ID: jobID("a"), Name: "mail", Version: 1}, {ID: jobID("d"), Name: "mail", Version: 1, Delay: 5000, Priority: 1},
			}},
			reply: `{Results:[]}`,
			after: `
				meta hash paused=1 version=echomq:2.0.0
				wait list a
				delayed zset d=now+5000
				marker zset ~due=1
				a hash data="" name=mail timestamp=now
				d hash data="" delay=5000 name=mail priority=1 timestamp=now`,
		},
		{
			name: "pick starts what is reserved and takes nothing",
			before: `
				meta hash version=echomq:2.0.0 paused=1
				wait list a
				prioritized zset p=4294967297
				active zset r=1000
				reserved hash r=w:1
				a hash name=mail
				p hash name=mail priority=1
				r hash name=mail`,
			call: script.Pick{Events: "none", History: 100, Token: "w:2", Worker: "w", Lease: 1000, Want: 2, Window: 5,
				Limit: much, Payload: much, Items: []script.PickItem{{ID: jobID("r"), Reservation: "w:1"}, {ID: jobID("a")}}},
			reply: `{Expiry:now+1000 Started:[{ID:r Starts:1 Job:{name=mail}}] Reserved:[] Window:[]}`,
			after: `
				meta hash paused=1 version=echomq:2.0.0
				wait list a
				prioritized zset p=4294967297
				active zset r=now+1000
				a hash name=mail
				p hash name=mail priority=1
				r hash ats=1 name=mail pb=w processedOn=now
				r:lock text w:2`,
		},
	})
}
