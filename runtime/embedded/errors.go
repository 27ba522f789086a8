package embedded

import (
	"errors"

	"github.com/echomq/echomq-go/runtime/internal/childserver"
)

var (
	// ErrOptions is the error of [Start] for [Process] and [InMemory] together.
	ErrOptions = errors.New("start an embedded server: the options Process and InMemory exclude each other; give one or neither")

	// ErrClock is the error of [Server.Advance] for a server whose clock goes.
	ErrClock = errors.New("advance an embedded server: its clock goes by itself; start it with StandingClock")

	// ErrNotInstalled is the error of [Start] with [Process] where no server is
	// installed.
	ErrNotInstalled = errors.New("start an embedded server: neither valkey-server nor redis-server is on PATH; " +
		"install one (Debian, Ubuntu: apt-get install valkey-server, or redis-server; macOS: brew install valkey), " +
		"or use embedded.InMemory, which needs none")
)

// StartError tells why an installed server did not start. Where both
// valkey-server and redis-server were tried, the error of [Start] joins two.
type StartError struct {
	// Binary is the path of the program.
	Binary string
	// Output is the end of what it wrote to its log, up to 4 KiB.
	Output string
	// Err is the cause.
	Err error
}

func (e *StartError) Error() string { return (*childserver.Error)(e).Error() }

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }
