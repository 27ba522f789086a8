// Package fleet shows whether runtimes of EchoMQ 2.0 understand each other: a
// job enqueued by one is fetched and completed by another, and the result is
// read back by the first.
//
// A runtime takes part as a peer: a program that speaks a protocol of JSON lines
// on its standard input and output, which docs/peers.md of the repository
// describes. [Run] starts the peers and puts each ordered pair through the same
// checks. The Go runtime takes part in the same way, through [Serve], in process.
//
// The [Report] says of every runtime what it is, and of every check whether it
// passed, failed or did not run; what did not run is never counted as passed.
package fleet
