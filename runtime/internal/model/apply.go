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
	if pick, ok := call.(script.Pick); ok {
		seen := map[wire.JobID]bool{}
		for _, item := range pick.Items {
			if seen[item.ID] {
				return "EMQARGS"
			}
			seen[item.ID] = true
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
	case script.Due:
		return s.due(call, now)
	case script.Inspect:
		return s.inspect(call, now)
	case script.Leave:
		return s.leave(call, now)
	case script.Pause:
		return s.pause(call, now)
	case script.Cancel:
		return s.cancel(call, now)
	case script.Resume:
		return s.resume(call, now)
	case script.Progress:
		return s.progress(call, now)
	case script.Log:
		return s.log(call, now)
	case script.Report:
		return s.report(call, now)
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
	case script.Due:
		r, err := script.DecodeDue(reply)
		return r, r.Now, err
	case script.Inspect:
		r, err := script.DecodeInspect(reply)
		return r, r.Now, err
	case script.Leave:
		r, err := script.DecodeLeave(reply)
		return r, r.Now, err
	case script.Pause:
		r, err := script.DecodePause(reply)
		return r, r.Now, err
	case script.Cancel:
		r, err := script.DecodeCancel(reply)
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
	}
	panic(fmt.Sprintf("model: unknown call %T", call))
}
