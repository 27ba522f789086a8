//go:build !unix

package childserver

import "os/exec"

func detach(*exec.Cmd) {}
