// Package script holds a typed call for every script of the protocol. The calls
// are generated from the headers of the scripts in lua/, KEYS included: this is
// the one place where a call's keys are built, so a caller can neither forget a
// key nor add one.
//
// For the script add.lua there is a struct Add with the arguments, whose method
// Call builds the call, and a function DecodeAdd which reads what the server
// answered into an AddReply.
package script

import "github.com/echomq/echomq-go/lua"

// Call is a script with all that it is called with.
type Call struct {
	Script lua.Script
	// Keys are KEYS, all in one slot.
	Keys []string
	// Args are ARGV. Each is a string, a []byte or an int64, which is sent as a
	// plain decimal number.
	Args []any
}

// flag is the argument that stands for b.
func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
