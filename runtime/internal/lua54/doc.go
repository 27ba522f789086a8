// Package lua54 runs the protocol's scripts as Dragonfly would, on a machine
// without Dragonfly: in Lua 5.4, in a sandbox with nothing but what it offers,
// with its replies to Lua and its conversions of what a script returns, and with
// its refusal of keys that were not declared. The commands themselves go to an
// engine that the caller has.
//
// What it does not show: Dragonfly's own commands, its threads, and atomicity,
// for the commands of a script are sent one after the other. Only tests import
// it.
package lua54
