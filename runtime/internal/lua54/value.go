package lua54

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// The values that go to and fro, beside string, int64, float64, bool, nil and
// []any.
type (
	// Failure is a table with the field err.
	Failure string
	// Status is a table with the field ok.
	Status string
)

// appendValue appends the encoding of a value for Lua. nil is false there, as in
// every reply of a command.
func appendValue(frame []byte, value any) []byte {
	switch value := value.(type) {
	case string:
		return appendText(frame, 's', value)
	case Failure:
		return appendText(frame, 'e', string(value))
	case Status:
		return appendText(frame, 'o', string(value))
	case int64:
		return fmt.Appendf(frame, "i%d\n", value)
	case float64:
		return fmt.Appendf(frame, "f%s\n", strconv.FormatFloat(value, 'g', 17, 64))
	case nil:
		return append(frame, "b\n"...)
	case []any:
		frame = fmt.Appendf(frame, "a%d\n", len(value))
		for _, element := range value {
			frame = appendValue(frame, element)
		}
		return frame
	}
	return appendText(frame, 'e', fmt.Sprintf("ERR the bridge cannot send a %T", value))
}

func appendText(frame []byte, kind byte, text string) []byte {
	return append(fmt.Appendf(frame, "%c%d\n", kind, len(text)), text...)
}

// readValue reads what the sandbox has encoded.
func readValue(in *bufio.Reader) (any, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	kind, rest := line[0], strings.TrimSuffix(line[1:], "\n")
	switch kind {
	case 's', 'e', 'o':
		size, err := strconv.Atoi(rest)
		if err != nil {
			return nil, err
		}
		text := make([]byte, size)
		if _, err := io.ReadFull(in, text); err != nil {
			return nil, err
		}
		return map[byte]any{'s': string(text), 'e': Failure(text), 'o': Status(text)}[kind], nil
	case 'i':
		return strconv.ParseInt(rest, 10, 64)
	case 'f':
		return strconv.ParseFloat(rest, 64)
	case 't', 'b':
		return kind == 't', nil
	case 'n':
		return nil, nil
	case 'a':
		size, err := strconv.Atoi(rest)
		if err != nil {
			return nil, err
		}
		list := make([]any, size)
		for i := range list {
			if list[i], err = readValue(in); err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	return nil, fmt.Errorf("the sandbox sent %q", line)
}

// number is a number as Dragonfly gives it to Lua: an integer if it is whole.
func number(text string) any {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	if value == math.Trunc(value) && math.Abs(value) < 1<<53 {
		return int64(value)
	}
	return value
}

// reply is what a client gets for a value that a script returned: a float as a
// string with all its digits, and nil for false.
func reply(value any) (any, error) {
	switch value := value.(type) {
	case Failure:
		return nil, value
	case Status:
		return string(value), nil
	case float64:
		return strconv.FormatFloat(value, 'g', 17, 64), nil
	case bool:
		if value {
			return int64(1), nil
		}
		return nil, nil
	case []any:
		list := make([]any, len(value))
		for i, element := range value {
			element, err := reply(element)
			if err != nil {
				element = err
			}
			list[i] = element
		}
		return list, nil
	}
	return value, nil
}

// Error is the text of an error reply.
func (f Failure) Error() string { return string(f) }
