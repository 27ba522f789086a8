// Package embedded gives a program a server of its own, so that the quick start,
// examples and unit tests of EchoMQ run with nothing installed:
//
//	server, err := embedded.Start(ctx)
//	if err != nil {
//		return err
//	}
//	defer server.Close()
//	client := echomq.NewClient(server.Redis())
//
// If valkey-server or redis-server (7.0 or later) is on PATH, [Start] runs it as
// a child process on a unix socket in a private directory: a real engine, ready
// in about 15 ms. Otherwise it runs miniredis in this process: enough for
// hundreds of waiting jobs and about 2,000 script calls a second. [Process] and
// [InMemory] ask for one or the other.
//
// It is for development and tests. Either way everything is in memory and gone
// when the server is closed: there is no persistence, no replica and no
// password. In production connect to a Valkey or Redis server that you run.
//
// Only programs that import this package link miniredis and os/exec.
package embedded
