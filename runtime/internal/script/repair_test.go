package script_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/internal/enginetest"
	"github.com/echomq/echomq-go/runtime/internal/model"
	"github.com/echomq/echomq-go/runtime/internal/script"
)

func TestRetry(t *testing.T) {
	try(t, []transition{{
		name: "failed jobs go behind those that wait, with their attempts anew",
		before: `
			wait        list x
			prioritized zset y=4294967297
			pc          text 1
			failed      zset a=1000 b=1001 c=1002 d=1003
			a           hash name=mail atm=3 ats=4 stc=2 defa=why failedReason=no stacktrace=[] finishedOn=1000 lst="w:1 failed"
			b           hash name=mail atm=3 priority=1 failedReason=no finishedOn=1001 lst="w:2 failed"
			d           text strange
			x           hash name=mail
			y           hash name=mail priority=1`,
		call: script.Retry{Events: "all", History: 100, Items: []script.RetryItem{
			{ID: jobID("a")}, {ID: jobID("b")}, {ID: jobID("c")}, {ID: jobID("d")}, {ID: jobID("x")}, {ID: jobID("none")},
		}},
		reply: `{Results:[{Verdict:retried} {Verdict:retried} {Verdict:orphan} {Verdict:quarantined} {Verdict:unfailed} {Verdict:missing}]}`,
		after: `
			wait        list a x
			prioritized zset b=4294967298 y=4294967297
			pc          text 2
			quarantine  zset d=now
			marker      zset x=0
			a           hash atm=0 ats=4 lst="w:1 retry" name=mail stacktrace=[]
			b           hash atm=0 lst="w:2 retry" name=mail priority=1
			d           text strange
			x           hash name=mail
			y           hash name=mail priority=1
			events      stream retried/a retried/b orphan/c quarantined/d`,
	}})
}

func TestRemove(t *testing.T) {
	try(t, []transition{{
		name: "a job goes from wherever it is, with all its keys, but not from under a worker",
		before: `
			meta        hash version=echomq:2.0.0
			wait        list w2 w1
			prioritized zset p=4294967297
			pc          text 1
			delayed     zset d=4000000000000
			active      zset a=4000000000000
			completed   zset c=1000
			quarantine  zset q=1000
			marker      zset w1=0 ~due=1
			w1          hash name=mail
			w2          hash name=mail
			p           hash name=mail priority=1
			d           hash name=mail
			d:logs      list line
			a           hash name=mail
			a:lock      text w:1
			c           hash name=mail lst="w:1 completed"
			q           text strange
			s           stub name=mail lst="w:1 completed"`,
		call: script.Remove{Events: "final", History: 100, Items: []script.RemoveItem{
			{ID: jobID("w1")}, {ID: jobID("p")}, {ID: jobID("d")}, {ID: jobID("a")}, {ID: jobID("c")}, {ID: jobID("q")},
			{ID: jobID("s")}, {ID: jobID("none")}, {ID: jobID("w1")},
		}},
		reply: `{Results:[{Verdict:removed} {Verdict:removed} {Verdict:removed} {Verdict:active} {Verdict:removed} {Verdict:removed}` +
			` {Verdict:removed} {Verdict:missing} {Verdict:missing}]}`,
		after: `
			meta   hash version=echomq:2.0.0
			wait   list w2
			active zset a=4000000000000
			marker zset w2=0 ~due=1
			w2     hash name=mail
			a      hash name=mail
			a:lock text w:1
			events stream removed/w1 removed/p removed/d`,
	}, {
		name: "with the last one the marker tells of work no more",
		before: `
			wait   list w1
			marker zset w1=0 ~due=1
			w1     hash name=mail`,
		call:  script.Remove{Events: "none", History: 100, Items: []script.RemoveItem{{ID: jobID("w1")}}},
		reply: `{Results:[{Verdict:removed}]}`,
		after: `marker zset ~due=1`,
	}})
}

func TestDrain(t *testing.T) {
	try(t, []transition{{
		name: "what is declared goes, what is not goes back to its place, what cannot be a job into quarantine",
		before: `
			wait   list e d c "a b" b a
			marker zset a=0
			a      hash name=mail
			b      hash name=mail
			c      hash name=mail
			d      hash name=mail
			e      hash name=mail`,
		call: script.Drain{Events: "all", History: 100, Set: "wait", Take: 5,
			Items: []script.DrainItem{{ID: jobID("b")}, {ID: jobID("d")}, {ID: jobID("e")}}},
		reply: `{Left:3 Results:[{Verdict:removed} {Verdict:removed} {Verdict:gone}]}`,
		after: `
			wait       list e c a
			quarantine zset "a b"=now
			marker     zset a=0
			a          hash name=mail
			c          hash name=mail
			e          hash name=mail
			events     stream "quarantined/a b" removed/b removed/d`,
	}, {
		name: "delayed jobs keep their due times",
		before: `
			delayed zset a=4000000000000 b=4000000000001
			a       hash name=mail delay=5
			b       hash name=mail delay=5`,
		call:  script.Drain{Events: "none", History: 100, Set: "delayed", Take: 2, Items: []script.DrainItem{{ID: jobID("b")}}},
		reply: `{Left:1 Results:[{Verdict:removed}]}`,
		after: `
			delayed zset a=4000000000000
			a       hash delay=5 name=mail`,
	}})
}

func TestExpel(t *testing.T) {
	try(t, []transition{{
		name: "what cannot be a job goes into quarantine, and leaves room under the limit if it was active",
		before: `
			meta     hash version=echomq:2.0.0 blocked=limit
			wait     list w
			active   zset "a b"=1000
			delayed  zset "c d"=1000
			reserved hash "a b"=w:1
			w        hash name=mail`,
		call: script.Expel{Events: "final", History: 100, To: "quarantine",
			Items: []script.ExpelItem{{Member: "a b"}, {Member: "c d"}, {Member: "e f"}, {Member: "w"}}},
		reply: `{Results:[{Verdict:expelled} {Verdict:expelled} {Verdict:missing} {Verdict:kept}]}`,
		after: `
			meta       hash version=echomq:2.0.0
			wait       list w
			quarantine zset "a b"=now "c d"=now
			marker     zset ~due=1
			w          hash name=mail
			events     stream "quarantined/a b" "quarantined/c d"`,
	}, {
		name: "one that was not active leaves the queue blocked",
		before: `
			meta    hash version=echomq:2.0.0 blocked=limit
			active  zset a=1000
			delayed zset "c d"=1000
			a       hash name=mail`,
		call:  script.Expel{Events: "none", History: 100, To: "quarantine", Items: []script.ExpelItem{{Member: "c d"}}},
		reply: `{Results:[{Verdict:expelled}]}`,
		after: `
			meta       hash blocked=limit version=echomq:2.0.0
			active     zset a=1000
			quarantine zset "c d"=now
			a          hash name=mail`,
	}})
}

// TestListFindsItsPlaceAmongEqualScores lists many ids of one score, of which
// the last of each page is taken away before the next.
func TestListFindsItsPlaceAmongEqualScores(t *testing.T) {
	t.Parallel()
	enginetest.Each(t, func(t *testing.T, e *enginetest.Engine) {
		for _, order := range []script.ListOrder{script.ListOrderRising, script.ListOrderFalling} {
			b := newBench(t, e)
			set := model.ZSet{"first": 4, "last": 6}
			for i := range 40 {
				set[fmt.Sprintf("id%02d", i)] = 5
			}
			require.NoError(t, b.plant(t.Context(), model.Store{"failed": set}))
			seen := map[string]int{}
			call := script.List{Set: script.ListSetFailed, Order: order, Limit: 3}
			for {
				raw, _ := b.do(t, call)
				reply := raw.(script.ListReply)
				if len(reply.IDs) == 0 {
					break
				}
				for _, listed := range reply.IDs {
					seen[listed.ID]++
				}
				last := reply.IDs[len(reply.IDs)-1]
				call.Begun, call.Place, call.Last = true, reply.Place, last.ID
				require.NoError(t, b.client.ZRem(t.Context(), b.queue.Key("failed"), last.ID).Err())
			}
			require.Len(t, seen, 42, "none is missed, %s", order)
			for id, times := range seen {
				require.Equal(t, 1, times, "%s comes once, %s", id, order)
			}
		}
	})
}

// TestRemoveLooksThroughALongListOnce shows what bounds a call that removes many
// jobs which wait.
func TestRemoveLooksThroughALongListOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, enginetest.Start(t, enginetest.Valkey))
	var wait model.List
	for i := range 60_000 {
		wait = append(wait, fmt.Sprintf("id%d", i))
	}
	require.NoError(t, b.plant(t.Context(), model.Store{
		"wait": wait, "id1": model.Hash{"name": "mail"}, "id2": model.Hash{"name": "mail"}, "marker": model.ZSet{"id59999": 0},
	}))
	raw, _ := b.do(t, script.Remove{Events: "none", History: 1, Items: []script.RemoveItem{{ID: jobID("id1")}, {ID: jobID("id2")}}})
	require.Equal(t, []script.RemoveResult{{Verdict: "removed"}, {Verdict: "again"}}, raw.(script.RemoveReply).Results)
	raw, _ = b.do(t, script.Remove{Events: "none", History: 1, Items: []script.RemoveItem{{ID: jobID("id2")}}})
	require.Equal(t, []script.RemoveResult{{Verdict: "removed"}}, raw.(script.RemoveReply).Results)
	require.EqualValues(t, 59_998, b.client.LLen(t.Context(), b.queue.Key("wait")).Val())
}
