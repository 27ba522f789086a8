// Package childserver runs a valkey-server or redis-server as a child process
// that belongs to this program alone: [Start] starts one and waits until it
// answers, [Process.Kill] ends it. [TempDir] makes the private directory that
// holds its socket.
//
// It is what runtime/embedded and the tests' engines have in common. The package
// echomq does not import it, so only programs that ask for a child process link
// os/exec.
package childserver
