// Package echomq runs typed jobs on Valkey or Redis.
//
// Programs rarely call most of it directly: they annotate payload structs, run
// emqgen, and use the typed producers, handler interfaces and workers that it
// writes. What they do use from here is [NewClient], the options, the [Job] that
// a handler receives, the [Handle] by which a result is awaited, and the errors.
//
// Every change of a queue happens inside one Lua script whose keys are all
// declared; docs/protocol.md describes the keys, the scripts and what is
// promised about them.
package echomq

// SupportsGen1 is named by code that the first generation of emqgen wrote. It
// stays for ever, so that such code goes on compiling.
const SupportsGen1 = true
