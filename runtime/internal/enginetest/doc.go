// Package enginetest is what this project's tests run on: engines, an auditor
// of declared keys, and a proxy that injects faults. Only tests import it.
//
// # Engines
//
// [Each] runs a subtest on every engine: miniredis in this process, and a
// private valkey-server and redis-server. They are started once per test binary
// and shared by its tests, so each test uses queues of its own, named by
// [Engine.QueueName]. [Engine.Store] is what a program would call, a single server
// or all of a cluster. [Start] and [EachPrivate] give a test an engine to itself,
// which it may pause, kill and restart.
//
// The environment variable EMQ_ENGINES chooses the engines: "embedded" for what
// needs nothing installed, or a list such as "valkey,redis". An item such as
// "dragonfly=redis://host:6379" adds a server that is already running, and
// "cluster" a [Cluster], which is not among them by itself. Without
// it an engine that is not installed fails the test: a suite that quietly skips
// its engines proves nothing.
//
// # Clusters
//
// [SharedCluster] is a Valkey Cluster of three primaries and three replicas, and
// [StartCluster] one for a single test. [Cluster.BeginMove] moves a slot step by
// step. [StartReplica] gives an engine a replica, and [StartSentinels] starts a
// primary with a replica that Sentinel watches.
//
// # Auditor
//
// While the tests run, an [Auditor] watches every shared Valkey and Redis with
// MONITOR and proves, for each script call, that the commands of the script
// touch declared keys only. Its verdict is part of the result of the run.
//
// A package that uses the engines needs
//
//	func TestMain(m *testing.M) { enginetest.Main(m) }
//
// # Proxy
//
// [NewProxy] stands between a client and an engine: it delays, cuts
// connections before a request or its reply is delivered, and counts commands.
package enginetest
