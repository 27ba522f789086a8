package model

import (
	"fmt"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// Caller is a typed call of one of the scripts.
type Caller interface {
	Call(queue wire.Queue) script.Call
}

// Refusal returns the code of the error by which a call is refused whole, or "".
func (s *State) Refusal(call Caller) string {
	if s.Version != "" && s.Version != Version {
		return "EMQVERSION"
	}
	var declared []wire.JobID
	switch call := call.(type) {
	case script.Pick:
		for _, item := range call.Items {
			declared = append(declared, item.ID)
		}
	case script.Replace:
		for _, item := range call.Items {
			declared = append(declared, item.ID)
		}
	}
	seen := map[wire.JobID]bool{}
	for _, id := range declared {
		if seen[id] {
			return "EMQARGS"
		}
		seen[id] = true
	}
	if schedule, ok := call.(script.Schedule); ok {
		seen := map[wire.SchedulerID]bool{}
		for _, item := range schedule.Items {
			if seen[item.Scheduler] {
				return "EMQARGS"
			}
			seen[item.Scheduler] = true
		}
	}
	return ""
}

// Apply carries out a call which the server executed at now, and returns the
// reply that it must have given.
func (s *State) Apply(call Caller, now int64) any {
	s.Events = nil
	defer s.forget()
	switch call := call.(type) {
	case script.Add:
		return s.add(call, now)
	case script.Pick:
		return s.pick(call, now)
	case script.Settle:
		return s.settle(call, now)
	case script.Extend:
		return s.extend(call, now)
	case script.Promote:
		return s.promote(call, now)
	case script.Recover:
		return s.recover(call, now)
	case script.Trim:
		return s.trim(call, now)
	case script.Deliver:
		return s.deliver(call, now)
	case script.Collect:
		return s.collect(call, now)
	case script.Acknowledge:
		return s.acknowledge(call, now)
	case script.Verify:
		return s.verify(call, now)
	case script.Heal:
		return s.heal(call, now)
	case script.Prune:
		return s.prune(call, now)
	case script.Replace:
		return s.replace(call, now)
	case script.Due:
		return s.due(call, now)
	case script.Inspect:
		return s.inspect(call, now)
	case script.Schedule:
		return s.schedule(call, now)
	case script.Unschedule:
		return s.unschedule(call, now)
	case script.Tick:
		return s.tick(call, now)
	case script.Declare:
		return s.declare(call, now)
	case script.Pause:
		return s.pause(call, now)
	case script.Override:
		return s.override(call, now)
	case script.Leave:
		return s.leave(call, now)
	case script.Cancel:
		return s.cancel(call, now)
	case script.Change:
		return s.change(call, now)
	case script.Resume:
		return s.resume(call, now)
	case script.Progress:
		return s.progress(call, now)
	case script.Log:
		return s.log(call, now)
	case script.Report:
		return s.report(call, now)
	case script.Counts:
		return s.counts(call, now)
	case script.List:
		return s.list(call, now)
	case script.View:
		return s.view(call, now)
	case script.Remove:
		return s.remove(call, now)
	case script.Retry:
		return s.retry(call, now)
	case script.Drain:
		return s.drain(call, now)
	case script.Expel:
		return s.expel(call, now)
	case script.Erase:
		return s.erase(call, now)
	case script.Obliterate:
		return s.obliterate(call, now)
	case script.Sweep:
		return s.sweep(call, now)
	}
	panic(fmt.Sprintf("model: unknown call %T", call))
}

// Decode reads the reply to a call, and the server's clock from it.
func Decode(call Caller, reply any) (decoded any, now int64, err error) {
	switch call.(type) {
	case script.Add:
		r, err := script.DecodeAdd(reply)
		return r, r.Now, err
	case script.Pick:
		r, err := script.DecodePick(reply)
		return r, r.Now, err
	case script.Settle:
		r, err := script.DecodeSettle(reply)
		return r, r.Now, err
	case script.Extend:
		r, err := script.DecodeExtend(reply)
		return r, r.Now, err
	case script.Promote:
		r, err := script.DecodePromote(reply)
		return r, r.Now, err
	case script.Recover:
		r, err := script.DecodeRecover(reply)
		return r, r.Now, err
	case script.Trim:
		r, err := script.DecodeTrim(reply)
		return r, r.Now, err
	case script.Deliver:
		r, err := script.DecodeDeliver(reply)
		return r, r.Now, err
	case script.Collect:
		r, err := script.DecodeCollect(reply)
		return r, r.Now, err
	case script.Acknowledge:
		r, err := script.DecodeAcknowledge(reply)
		return r, r.Now, err
	case script.Verify:
		r, err := script.DecodeVerify(reply)
		return r, r.Now, err
	case script.Heal:
		r, err := script.DecodeHeal(reply)
		return r, r.Now, err
	case script.Prune:
		r, err := script.DecodePrune(reply)
		return r, r.Now, err
	case script.Replace:
		r, err := script.DecodeReplace(reply)
		return r, r.Now, err
	case script.Due:
		r, err := script.DecodeDue(reply)
		return r, r.Now, err
	case script.Inspect:
		r, err := script.DecodeInspect(reply)
		return r, r.Now, err
	case script.Schedule:
		r, err := script.DecodeSchedule(reply)
		return r, r.Now, err
	case script.Unschedule:
		r, err := script.DecodeUnschedule(reply)
		return r, r.Now, err
	case script.Tick:
		r, err := script.DecodeTick(reply)
		return r, r.Now, err
	case script.Override:
		r, err := script.DecodeOverride(reply)
		return r, r.Now, err
	case script.Leave:
		r, err := script.DecodeLeave(reply)
		return r, r.Now, err
	case script.Declare:
		r, err := script.DecodeDeclare(reply)
		return r, r.Now, err
	case script.Pause:
		r, err := script.DecodePause(reply)
		return r, r.Now, err
	case script.Cancel:
		r, err := script.DecodeCancel(reply)
		return r, r.Now, err
	case script.Change:
		r, err := script.DecodeChange(reply)
		return r, r.Now, err
	case script.Resume:
		r, err := script.DecodeResume(reply)
		return r, r.Now, err
	case script.Progress:
		r, err := script.DecodeProgress(reply)
		return r, r.Now, err
	case script.Log:
		r, err := script.DecodeLog(reply)
		return r, r.Now, err
	case script.Report:
		r, err := script.DecodeReport(reply)
		return r, r.Now, err
	case script.Counts:
		r, err := script.DecodeCounts(reply)
		return r, r.Now, err
	case script.List:
		r, err := script.DecodeList(reply)
		return r, r.Now, err
	case script.View:
		r, err := script.DecodeView(reply)
		return r, r.Now, err
	case script.Remove:
		r, err := script.DecodeRemove(reply)
		return r, r.Now, err
	case script.Retry:
		r, err := script.DecodeRetry(reply)
		return r, r.Now, err
	case script.Drain:
		r, err := script.DecodeDrain(reply)
		return r, r.Now, err
	case script.Expel:
		r, err := script.DecodeExpel(reply)
		return r, r.Now, err
	case script.Erase:
		r, err := script.DecodeErase(reply)
		return r, r.Now, err
	case script.Obliterate:
		r, err := script.DecodeObliterate(reply)
		return r, r.Now, err
	case script.Sweep:
		r, err := script.DecodeSweep(reply)
		return r, r.Now, err
	}
	panic(fmt.Sprintf("model: unknown call %T", call))
}
