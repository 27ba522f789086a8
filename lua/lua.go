// Package lua holds the scripts of the protocol, layer L2: one file each, whose
// header declares the keys, arguments, fields, reply and errors (see package
// header), and the manifest that tells the same to runtimes in other languages.
//
// The scripts are embedded one by one, by generated code, so a script that is
// missing is an error of the compiler and not of a running program.
package lua

import (
	"crypto/sha1"
	_ "embed" // for the scripts and the manifest
	"encoding/hex"
	"slices"
)

// Script is one script as it is sent to the server.
type Script struct {
	// Name is the script's name, "add" for add.lua.
	Name string
	// Of is the name of the script from which it is derived, for calls in which
	// some arguments stand at fixed values; empty for one that is not. Both give the
	// same replies.
	Of string
	// Source is the whole file, header included.
	Source string
	// SHA1 is the hash of Source in lower-case hex, by which EVALSHA calls it.
	SHA1 string
}

// Base returns the name of the script that the call is one of: that from which
// this one is derived, or its own.
func (s Script) Base() string {
	if s.Of != "" {
		return s.Of
	}
	return s.Name
}

//go:embed manifest.json
var manifest []byte

// Manifest returns manifest.json: every script with its hash, keys, arguments,
// reply and errors, and the fields of a job. The caller owns the bytes.
func Manifest() []byte { return slices.Clone(manifest) }

// All returns every script, in the order of the names.
func All() []Script { return slices.Clone(scripts[:]) }

// Lookup returns the script called name and whether there is one.
func Lookup(name string) (Script, bool) {
	for i := range scripts {
		if scripts[i].Name == name {
			return scripts[i], true
		}
	}
	return Script{}, false
}

func newScript(name, of, source string) Script {
	sum := sha1.Sum([]byte(source))
	return Script{Name: name, Of: of, Source: source, SHA1: hex.EncodeToString(sum[:])}
}
