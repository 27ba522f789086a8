package script

import (
	"errors"
	"fmt"
)

// ErrReply is what every [*DecodeError] is, for errors.Is.
var ErrReply = errors.New("reply of a script is malformed")

// DecodeError tells that a script's reply is not what its header declares, as
// happens when the server runs another version of the script.
type DecodeError struct {
	// Script is the script's name.
	Script string
	// Element is the element of the reply, such as "now" or
	// "results[2].verdict"; empty for the reply itself.
	Element string
	// Reason is what is wrong with it.
	Reason string
}

func (e *DecodeError) Error() string {
	if e.Element == "" {
		return fmt.Sprintf("reply of script %s %s", e.Script, e.Reason)
	}
	return fmt.Sprintf("reply of script %s: %s %s", e.Script, e.Element, e.Reason)
}

// Is reports whether target is [ErrReply].
func (e *DecodeError) Is(target error) bool { return target == ErrReply }
