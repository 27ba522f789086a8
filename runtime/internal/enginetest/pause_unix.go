//go:build unix

package enginetest

import (
	"os"
	"syscall"
)

// Stop pauses the engine (SIGSTOP): its connections stay open and it answers
// nothing until [Engine.Cont].
func (e *Engine) Stop() { e.signal(syscall.SIGSTOP) }

// Cont lets the engine go on after [Engine.Stop].
func (e *Engine) Cont() { e.signal(syscall.SIGCONT) }

func (e *Engine) signal(signal os.Signal) {
	p := e.own()
	p.t.Helper()
	if err := p.child.Signal(signal); err != nil {
		p.t.Fatalf("send %s to %s: %v", signal, e, err)
	}
}
