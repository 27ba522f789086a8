package monitor

import (
	"bytes"
	"fmt"
)

// Line is a line of MONITOR: a command that the server ran.
//
//	1764432000.123456 [0 127.0.0.1:6379] "evalsha" "3b1a" "1" "emq:{mail}:wait"
//	1764432000.123457 [0 lua] "RPOP" "emq:{mail}:wait"
type Line struct {
	// Lua says that a script ran the command.
	Lua bool
	// Client is the address of the client that sent the command, as the server
	// knows it; "" for one that a script ran. Clients on a unix socket all have
	// the same.
	Client string

	// args is the quoted rest of the line; it is unquoted argument by argument,
	// because payloads are long and seldom needed.
	args []byte
}

// ParseLine takes a line apart, which has no line ending any more. The result
// refers to the text.
func ParseLine(text []byte) (Line, error) {
	head, args, found := bytes.Cut(text, []byte(`] "`))
	open := bytes.IndexByte(head, '[')
	if !found || open < 0 {
		return Line{}, fmt.Errorf("MONITOR sent a line of an unknown form: %s", Shorten(text))
	}
	_, client, _ := bytes.Cut(head[open:], []byte(" "))
	line := Line{Client: string(client), args: text[len(text)-len(args)-1:]}
	if line.Client == "lua" {
		line.Lua, line.Client = true, ""
	}
	return line, nil
}

// Clone returns a line that does not refer to the text that was parsed.
func (l Line) Clone() Line {
	l.args = bytes.Clone(l.args)
	return l
}

// String returns the command as MONITOR quotes it, shortened.
func (l Line) String() string { return Shorten(l.args) }

// Mentions reports whether text, which must be free of characters that MONITOR
// escapes, stands somewhere in the command.
func (l Line) Mentions(text string) bool { return bytes.Contains(l.args, []byte(text)) }

// Arguments returns the first arguments of the command, at most limit of them,
// the command's name among them. A negative limit returns all.
func (l Line) Arguments(limit int) ([]string, error) {
	var arguments []string
	rest := l.args
	for len(rest) > 0 && len(arguments) != limit {
		argument, remaining, err := unquote(rest)
		if err != nil {
			return nil, err
		}
		arguments = append(arguments, argument)
		rest = remaining
	}
	return arguments, nil
}

// unquote reads one argument, quoted as the server quotes it: \" \\ \n \r \t \a
// \b and \xNN for what is not printable. It returns what follows the argument
// and the space after it.
func unquote(quoted []byte) (argument string, rest []byte, err error) {
	malformed := func() error {
		return fmt.Errorf("MONITOR sent an argument of an unknown form: %s", Shorten(quoted))
	}
	if len(quoted) == 0 || quoted[0] != '"' {
		return "", nil, malformed()
	}
	var text []byte
	for i := 1; i < len(quoted); {
		stop := bytes.IndexAny(quoted[i:], `"\`)
		if stop < 0 {
			break
		}
		text = append(text, quoted[i:i+stop]...)
		i += stop
		if quoted[i] == '"' {
			rest = quoted[i+1:]
			if len(rest) > 0 && rest[0] != ' ' {
				return "", nil, malformed()
			}
			return string(text), bytes.TrimPrefix(rest, []byte(" ")), nil
		}
		char, length, ok := unescape(quoted[i:])
		if !ok {
			return "", nil, malformed()
		}
		text = append(text, char)
		i += length
	}
	return "", nil, malformed()
}

// unescape reads an escape sequence and returns its length.
func unescape(sequence []byte) (char byte, length int, ok bool) {
	if len(sequence) < 2 {
		return 0, 0, false
	}
	switch sequence[1] {
	case '"', '\\':
		return sequence[1], 2, true
	case 'n':
		return '\n', 2, true
	case 'r':
		return '\r', 2, true
	case 't':
		return '\t', 2, true
	case 'a':
		return '\a', 2, true
	case 'b':
		return '\b', 2, true
	case 'x':
		if len(sequence) < 4 {
			return 0, 0, false
		}
		high, okHigh := hexDigit(sequence[2])
		low, okLow := hexDigit(sequence[3])
		return high<<4 | low, 4, okHigh && okLow
	default:
		return 0, 0, false
	}
}

func hexDigit(c byte) (byte, bool) {
	digit := bytes.IndexByte([]byte("0123456789abcdef"), c|0x20)
	return byte(digit), digit >= 0
}

// Shorten keeps a long command readable in a message.
func Shorten(text []byte) string {
	const limit = 300
	if len(text) <= limit {
		return string(text)
	}
	return string(text[:limit]) + "…"
}
