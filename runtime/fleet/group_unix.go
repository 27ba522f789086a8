//go:build unix

package fleet

import (
	"os/exec"
	"syscall"
)

// ownGroup puts a peer into a process group of its own, so that whatever it
// starts ends with it.
func ownGroup(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

func killGroup(command *exec.Cmd) {
	// The only failure is that the group has ended already.
	_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
}
