//go:build unix && !linux

package childserver

import (
	"os/exec"
	"syscall"
)

// detach puts the server into a process group of its own, so that Ctrl-C in a
// terminal reaches this program and not the server that it still needs to stop
// in order. A program that is killed leaves its server behind: only Linux can
// tie the two together.
func detach(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}
