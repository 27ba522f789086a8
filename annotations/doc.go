// Package annotations reads the directives by which a Go package declares its
// queues and jobs:
//
//	//emq:queue name=mail concurrency=32
//	//emq:job timeout=30s
//	//emq:retry attempts=5 backoff=exponential base=2s cap=10m
//
// It is pure: syntax trees go in, [Facts] and [Diagnostic]s come out, and
// nothing is read or written. The generator and every other tool that
// understands directives share it, so that they agree on each word.
//
// # Grammar
//
// A directive is a comment of Go's own directive form, //emq:NAME, followed by
// items that are separated by spaces:
//
//	directive = "//emq:" NAME { item } [ "//" comment ] .
//	item      = [ KEY "=" ] value { "," value } .
//	value     = bare | quoted .
//
// A bare value has no space, comma or quote in it; a quoted one is a Go string
// literal. No space stands around "=" and ",". The order of items and of
// directives has no meaning. "none" is the only way to switch something off,
// and every duration has a unit.
//
// What there is to write stands in one table, [Directives]; what can be wrong
// with it, in one catalogue, [Rules].
package annotations
