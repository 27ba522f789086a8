package script_test

import (
	"testing"

	"github.com/echomq/echomq-go/runtime/internal/script"
)

func added(items ...script.AddItem) script.Add {
	for i := range items {
		items[i].Name, items[i].Data, items[i].Version = "mail", []byte("1"), max(items[i].Version, 1)
	}
	return script.Add{Events: "all", History: 100, Items: items}
}

func TestAdd(t *testing.T) {
	try(t, []transition{{
		name:  "the first jobs of a queue make the queue, in order, and wake a worker for the first",
		call:  added(script.AddItem{ID: jobID("a")}, script.AddItem{ID: jobID("b")}),
		reply: `{Results:[]}`,
		after: `
			meta   hash version=echomq:2.0.0
			wait   list b a
			marker zset a=0
			a      hash data=1 name=mail timestamp=now
			b      hash data=1 name=mail timestamp=now
			events stream added/a added/b`,
	}, {
		name: "priorities are counted, so that those of one priority keep their order",
		before: `
			prioritized zset x=8589934599
			pc          text 7
			x           hash name=mail priority=2
			marker      zset x=0`,
		call:  added(script.AddItem{ID: jobID("a"), Priority: 2}, script.AddItem{ID: jobID("b"), Priority: 1}),
		reply: `{Results:[]}`,
		after: `
			meta        hash version=echomq:2.0.0
			prioritized zset a=8589934600 b=4294967305 x=8589934599
			pc          text 9
			marker      zset x=0
			a           hash data=1 name=mail priority=2 timestamp=now
			b           hash data=1 name=mail priority=1 timestamp=now
			x           hash name=mail priority=2
			events      stream added/a added/b`,
	}, {
		name:  "a delayed job that is due first wakes a worker, who looks at the time",
		call:  added(script.AddItem{ID: jobID("a"), Delay: 5000}, script.AddItem{ID: jobID("b"), Delay: 9000, Version: 3}),
		reply: `{Results:[]}`,
		after: `
			meta    hash version=echomq:2.0.0
			delayed zset a=now+5000 b=now+9000
			marker  zset ~due=1
			a       hash data=1 delay=5000 name=mail timestamp=now
			b       hash data=1 delay=9000 name=mail timestamp=now ver=3
			events  stream added/a added/b`,
	}, {
		name:  "a due time that is past is now",
		call:  added(script.AddItem{ID: jobID("a"), Due: 1000, Priority: 1}),
		reply: `{Results:[]}`,
		after: `
			meta        hash version=echomq:2.0.0
			prioritized zset a=4294967297
			pc          text 1
			marker      zset a=0
			a           hash data=1 name=mail priority=1 timestamp=now
			events      stream added/a`,
	}, {
		name: "a job that exists is left as it is, wherever it stands, and so is the second of two",
		before: `
			meta hash version=echomq:2.0.0
			a    stub name=report lst="w:1 completed"`,
		call:  added(script.AddItem{ID: jobID("a")}, script.AddItem{ID: jobID("b")}, script.AddItem{ID: jobID("b"), Priority: 4}),
		reply: `{Results:[{Verdict:exists Name:report} {Verdict:added} {Verdict:exists Name:mail}]}`,
		after: `
			meta   hash version=echomq:2.0.0
			wait   list b
			marker zset b=0
			a      stub lst="w:1 completed" name=report
			b      hash data=1 name=mail timestamp=now
			events stream added/b`,
	}, {
		name: "a job behind others needs no second wake-up, but makes up for one that was lost",
		before: `
			meta hash version=echomq:2.0.0
			wait list x
			x    hash name=mail`,
		call:  added(script.AddItem{ID: jobID("a")}),
		reply: `{Results:[]}`,
		after: `
			meta   hash version=echomq:2.0.0
			wait   list a x
			marker zset x=0
			a      hash data=1 name=mail timestamp=now
			x      hash name=mail
			events stream added/a`,
	}})
}
