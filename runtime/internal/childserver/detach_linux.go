package childserver

import (
	"os/exec"
	"syscall"
)

// detach puts the server into a process group of its own, so that Ctrl-C in a
// terminal reaches this program and not the server that it still needs to stop
// in order, and lets the kernel kill the server when this program dies.
func detach(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
