// Package monitor reads what an engine did from its MONITOR stream, and tells
// which keys each command has touched.
//
// [Open] asks an engine for its stream, [ParseLine] takes a line apart. A script
// runs atomically, so the lines of its commands follow the line of its call,
// which [ParseCall] reads, with nothing between them. [Keys] knows, from the
// engine itself, which arguments of a command are keys.
package monitor
