package fleet

import (
	"fmt"
	"slices"
	"time"
)

// check is one thing that a pair of runtimes is put through.
type check struct {
	name  string
	title string
	run   func(*bench)
}

// checks are all checks, in the order in which they run.
var checks = slices.Concat(payloadChecks, []check{
	{"retry", "an attempt fails; the other runtime sees it counted, and completes the job", retry},
	{"failed", "attempts of both runtimes fail; the failure is read back", failed},
	{"delayed", "a delayed job is not taken before its time, and then is", delayed},
	{"priority", "jobs leave by priority, and those of one priority by age", priority},
	{"duplicate", "an id that is taken is not added again", duplicate},
	{"lost add", "the answer to add is lost, and the call sent again", lostAdd},
	{"lost pick", "the answer to pick is lost, and the call sent again", lostPick},
	{"lost settle", "the answer to settle is lost, and the call sent again", lostSettle},
})

func retry(b *bench) {
	b.enqueue(b.from, Request{ID: "retry", Payload: `{"n":1}`, Attempts: 3, Backoff: 40})
	first := b.process(b.to, Request{Behaviour: behaveFail, Reason: "not yet: é"})
	b.equal("an attempt that fails with two left is settled as", "retry", first.Outcome)
	b.equal("attemptsMade before the first attempt", int64(0), first.Job.Number("attemptsMade"))

	second := b.complete(b.from, "retry", Request{Behaviour: behaveReturn, Result: `"done"`, Wait: patience.Milliseconds()})
	b.equal("attemptsMade, counted by "+b.to.name+" and read by "+b.from.name, int64(1), second.Job.Number("attemptsMade"))
	b.equal("attemptsStarted at the second attempt", int64(2), second.Job.Number("attemptsStarted"))
	b.equal("failedReason", "not yet: é", second.Job.Text("failedReason"))
	b.atLeast("milliseconds between the attempts", 40, second.Job.Number("processedOn")-first.Job.Number("processedOn"))

	for _, p := range []*peer{b.from, b.to} {
		end := b.result(p, "retry")
		b.equal(p.name+" reads the state", "completed", end.State)
		b.same(p.name+" reads the result", `"done"`, end.Value)
		b.equal(p.name+" reads the attempts", 2, end.Attempts)
	}
}

func failed(b *bench) {
	b.enqueue(b.from, Request{ID: "doomed", Payload: `null`, Attempts: 2, Backoff: 1})
	first := b.process(b.to, Request{Behaviour: behaveFail, Reason: "first"})
	b.equal("the first of two attempts is settled as", "retry", first.Outcome)
	second := b.process(b.from, Request{Behaviour: behaveFail, Reason: "second", Wait: patience.Milliseconds()})
	b.equal("the second of two attempts is settled as", "failed", second.Outcome)
	for _, p := range []*peer{b.from, b.to} {
		end := b.result(p, "doomed")
		b.equal(p.name+" reads the state", "failed", end.State)
		b.equal(p.name+" reads the reason", "second", end.Reason)
		b.equal(p.name+" reads the attempts", 2, end.Attempts)
	}
}

func delayed(b *bench) {
	const hour, soon = int64(time.Hour / time.Millisecond), 100
	b.enqueue(b.from, Request{ID: "far", Payload: `1`, Delay: hour})
	b.equal(b.to.name+" promotes before the time", "[]", fmt.Sprint(b.promote(b.to).Promoted))
	b.none(b.to, "the delayed one is not due for an hour")
	b.equal(b.from.name+" reads the state", "delayed", b.result(b.from, "far").State)

	b.enqueue(b.from, Request{ID: "near", Payload: `2`, Delay: soon})
	b.equal(b.to.name+" promotes when it is time", "[near]", fmt.Sprint(b.promoteWhenDue(b.to)))
	taken := b.complete(b.to, "near", Request{Behaviour: behaveEcho, Wait: patience.Milliseconds()})
	b.atLeast("milliseconds from its adding to its start",
		soon, taken.Job.Number("processedOn")-taken.Job.Number("timestamp"))
}

// promoteWhenDue promotes until something is, at the times that the answers give.
func (b *bench) promoteWhenDue(p *peer) []string {
	for end := time.Now().Add(patience); b.err == nil; {
		answer := b.promote(p)
		if len(answer.Promoted) > 0 {
			return answer.Promoted
		}
		if answer.Due == 0 || time.Now().After(end) {
			b.fail(p.name+" knows when the next job is due", fmt.Sprintf("due %d, now %d", answer.Due, answer.Now))
			return nil
		}
		timer := time.NewTimer(max(milliseconds(answer.Due-answer.Now), time.Millisecond))
		select {
		case <-timer.C:
		case <-b.ctx.Done():
			timer.Stop()
		}
	}
	return nil
}

func priority(b *bench) {
	for i, rank := range []int{7, 2, 0, 2, 2097151, 0} {
		b.enqueue(b.from, Request{ID: fmt.Sprintf("p%d-%d", rank, i), Payload: `0`, Priority: rank})
	}
	for _, id := range []string{"p0-2", "p0-5", "p2-1", "p2-3", "p7-0", "p2097151-4"} {
		b.complete(b.to, id, Request{Behaviour: behaveEcho})
	}
	b.none(b.to, "all were taken")
}

func duplicate(b *bench) {
	b.enqueue(b.from, Request{ID: "twin", Payload: `"first"`})
	b.equal(b.to.name+" enqueues the same id", "exists", b.offer(b.to, Request{ID: "twin", Payload: `"second"`}).Verdict)
	taken := b.complete(b.to, "twin", Request{Behaviour: behaveEcho})
	b.same("the payload of the job", `"first"`, taken.Job.Text("data"))
	b.equal(b.from.name+" enqueues it again after it ended", "exists", b.offer(b.from, Request{ID: "twin", Payload: `"third"`}).Verdict)
	b.none(b.to, "a duplicate adds nothing")
}

func lostAdd(b *bench) {
	again := b.offer(b.from, Request{ID: "once", Payload: `1`, Lose: loseAdd})
	b.atLeast("answers to add that were lost", 1, int64(again.Lost))
	b.equal("the call that is sent again is answered", "exists", again.Verdict)
	b.complete(b.to, "once", Request{Behaviour: behaveEcho})
	b.none(b.to, "it was added once")
}

func lostPick(b *bench) {
	b.enqueue(b.from, Request{ID: "first", Payload: `1`})
	b.enqueue(b.from, Request{ID: "second", Payload: `2`})
	for _, id := range []string{"first", "second"} {
		taken := b.complete(b.to, id, Request{Behaviour: behaveEcho, Lose: losePick})
		b.atLeast("answers to pick that were lost", 1, int64(taken.Lost))
		b.equal("attemptsStarted of "+id, int64(1), taken.Job.Number("attemptsStarted"))
	}
	b.none(b.to, "both were taken")
	for _, id := range []string{"first", "second"} {
		b.equal(b.from.name+" reads the state of "+id, "completed", b.result(b.from, id).State)
	}
}

func lostSettle(b *bench) {
	b.enqueue(b.from, Request{ID: "once", Payload: `{"a":[]}`})
	taken := b.complete(b.to, "once", Request{Behaviour: behaveEcho, Lose: loseSettle})
	b.atLeast("answers to settle that were lost", 1, int64(taken.Lost))
	b.equal("the call that is sent again is answered", "already", taken.Verdict)
	b.none(b.to, "it was settled")
	end := b.result(b.from, "once")
	b.same(b.from.name+" reads the result", `{"a":[]}`, end.Value)
	b.equal(b.from.name+" reads the attempts", 1, end.Attempts)
}
