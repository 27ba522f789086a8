// Package conformance shows whether a deployment speaks the EchoMQ protocol, by
// what its engine says it did and not by what the code under test says.
//
// [Probe] runs real jobs through package echomq on a queue that is not in use,
// watches the engine with MONITOR, and judges the five points of the protocol's
// "Conformance". [Observe] judges the traffic of a live queue instead, and
// writes nothing. Both return a [Report].
package conformance
