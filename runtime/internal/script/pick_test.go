package script_test

import (
	"testing"

	"github.com/echomq/echomq-go/runtime/internal/script"
)

// picked is a pick of want heads under the token w:2, for which items are
// declared.
func picked(want int64, items ...script.PickItem) script.Pick {
	return script.Pick{Events: "all", History: 100, Token: "w:2", Worker: "host", Lease: 30000, Want: want, Window: 3,
		Limit: much, Payload: much, Items: items}
}

func TestPick(t *testing.T) {
	again := picked(2, script.PickItem{ID: jobID("a")})
	again.Again = true
	crowded := picked(2, script.PickItem{ID: jobID("a")}, script.PickItem{ID: jobID("b")})
	crowded.Limit = 6
	narrow := picked(1, script.PickItem{ID: jobID("a")})
	narrow.Payload = 2

	try(t, []transition{{
		name: "a head that was declared is started, another is reserved, and the next one is shown",
		before: `
			wait   list c b a
			a      hash name=mail data=1
			b      hash name=mail data=2
			c      hash name=mail data=3
			marker zset a=0`,
		call:  picked(2, script.PickItem{ID: jobID("a")}, script.PickItem{ID: jobID("c")}),
		reply: `{Expiry:now+30000 Started:[{ID:a Starts:1 Job:{data=1 name=mail}}] Reserved:[b] Window:[c]}`,
		after: `
			wait     list c
			active   zset a=now+30000 b=now+30000
			reserved hash b=w:2
			a        hash ats=1 data=1 name=mail pb=host processedOn=now
			a:lock   text w:2
			b        hash data=2 name=mail
			c        hash data=3 name=mail
			marker   zset c=0
			events   stream active/a`,
	}, {
		name: "what is reserved for the caller is started when it is declared; what is not is left",
		before: `
			active   zset a=1000 b=1000
			reserved hash a=w:1 b=v:1
			a        hash name=mail data=1 ats=1
			b        hash name=mail data=2`,
		call:  picked(0, script.PickItem{ID: jobID("a"), Reservation: "w:1"}, script.PickItem{ID: jobID("b"), Reservation: "w:1"}),
		reply: `{Expiry:1000 Started:[{ID:a Starts:2 Job:{ats=1 data=1 name=mail}}] Reserved:[] Window:[]}`,
		after: `
			active   zset a=now+30000 b=1000
			reserved hash b=v:1
			a        hash ats=2 data=1 name=mail pb=host processedOn=now
			a:lock   text w:2
			b        hash data=2 name=mail
			events   stream active/a`,
	}, {
		name: "a pick that is sent again returns what its token holds and takes nothing",
		before: `
			wait     list c
			active   zset a=1000 b=1000
			reserved hash b=w:2
			a        hash name=mail ats=1
			a:lock   text w:2
			b        hash name=mail
			c        hash name=mail`,
		call:  again,
		reply: `{Expiry:1000 Started:[{ID:a Starts:1 Job:{ats=1 name=mail}}] Reserved:[b] Window:[c]}`,
		after: `
			wait     list c
			active   zset a=1000 b=1000
			reserved hash b=w:2
			a        hash ats=1 name=mail
			a:lock   text w:2
			b        hash name=mail
			c        hash name=mail
			marker   zset c=0`,
	}, {
		name: "a pick that is sent again and was not executed takes jobs",
		before: `
			wait list a
			a    hash name=mail`,
		call:  again,
		reply: `{Expiry:now+30000 Started:[{ID:a Starts:1 Job:{name=mail}}] Reserved:[] Window:[]}`,
		after: `
			active zset a=now+30000
			a      hash ats=1 name=mail pb=host processedOn=now
			a:lock text w:2
			events stream active/a`,
	}, {
		name: "jobs without priority come first, then the lowest number; the counter ends with the last",
		before: `
			wait        list a
			prioritized zset b=4294967297 c=8589934592
			pc          text 5
			a           hash name=mail
			b           hash name=mail
			c           hash name=mail`,
		call:  picked(3),
		reply: `{Expiry:now+30000 Started:[] Reserved:[a b c] Window:[]}`,
		after: `
			active   zset a=now+30000 b=now+30000 c=now+30000
			reserved hash a=w:2 b=w:2 c=w:2
			a        hash name=mail
			b        hash name=mail
			c        hash name=mail`,
	}, {
		name: "a job that does not fit into the answer is reserved, but the first always fits",
		before: `
			wait list b a
			a    hash name=mail data=1234
			b    hash name=mail data=1234`,
		call:  crowded,
		reply: `{Expiry:now+30000 Started:[{ID:a Starts:1 Job:{data=1234 name=mail}}] Reserved:[b] Window:[]}`,
		after: `
			active   zset a=now+30000 b=now+30000
			reserved hash b=w:2
			a        hash ats=1 data=1234 name=mail pb=host processedOn=now
			a:lock   text w:2
			b        hash data=1234 name=mail
			events   stream active/a`,
	}, {
		name: "a payload that is too large is not sent, and the reason is",
		before: `
			wait list a
			a    hash name=mail data=123`,
		call:  narrow,
		reply: `{Expiry:now+30000 Started:[{ID:a Starts:1 Job:{data= defa=the payload has 3 bytes; the worker takes 2 name=mail}}] Reserved:[] Window:[]}`,
		after: `
			active zset a=now+30000
			a      hash ats=1 data=123 name=mail pb=host processedOn=now
			a:lock text w:2
			events stream active/a`,
	}, {
		name: "a head without a hash is dropped, one with another type or no name is put away, and the pick goes on",
		before: `
			wait list ok bare text gone
			ok   hash name=mail
			text text strange
			bare hash data=1`,
		call: picked(4, script.PickItem{ID: jobID("gone")}, script.PickItem{ID: jobID("text")},
			script.PickItem{ID: jobID("bare")}, script.PickItem{ID: jobID("ok")}),
		reply: `{Expiry:now+30000 Started:[{ID:ok Starts:1 Job:{name=mail}}] Reserved:[] Window:[]}`,
		after: `
			active     zset ok=now+30000
			quarantine zset bare=now text=now
			ok         hash ats=1 name=mail pb=host processedOn=now
			ok:lock    text w:2
			text       text strange
			bare       hash data=1
			events     stream orphan/gone quarantined/text quarantined/bare active/ok`,
	}, {
		name: "of a job that was lost while it ran nothing is left when the pick is sent again",
		before: `
			active zset a=1000
			a:lock text w:2`,
		call:  again,
		reply: `{Started:[] Reserved:[] Window:[]}`,
		after: `events stream orphan/a`,
	}, {
		name:   "an id that nobody could declare is put away",
		before: `wait list "a b"`,
		call:   picked(1),
		reply:  `{Started:[] Reserved:[] Window:[]}`,
		after: `
			quarantine zset "a b"=now
			events     stream "quarantined/a b"`,
	}, {
		name: "a pick of nothing shows what comes, and sets the marker that was taken",
		before: `
			wait    list a
			delayed zset d=4000000000001
			a       hash name=mail
			d       hash name=mail
			marker  zset x=0 ~due=1`,
		call:  picked(0),
		reply: `{Due:4000000000001 Started:[] Reserved:[] Window:[a]}`,
		after: `
			wait    list a
			delayed zset d=4000000000001
			a       hash name=mail
			d       hash name=mail
			marker  zset a=0`,
	}})
}
