package enginetest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
)

// maxBulk is the longest string that the protocol allows, 512 MiB.
const maxBulk = 512 << 20

// frameReader reads whole commands and whole replies, and keeps their bytes.
type frameReader struct {
	reader *bufio.Reader
	frame  bytes.Buffer
}

func newFrameReader(source io.Reader) *frameReader {
	return &frameReader{reader: bufio.NewReaderSize(source, 64<<10)}
}

// command reads the next command, as an array of bulk strings or as an inline
// line, and returns its arguments and its bytes. An empty line has no arguments.
func (f *frameReader) command() (arguments []string, frame []byte, err error) {
	f.frame.Reset()
	line, err := f.line()
	if err != nil {
		return nil, nil, err
	}
	if len(line) == 0 || line[0] != '*' {
		for _, field := range bytes.Fields(line) {
			arguments = append(arguments, string(field))
		}
		return arguments, bytes.Clone(f.frame.Bytes()), nil
	}
	count, err := length(line)
	if err != nil {
		return nil, nil, err
	}
	for range count {
		line, err := f.line()
		if err != nil {
			return nil, nil, err
		}
		if len(line) == 0 || line[0] != '$' {
			return nil, nil, fmt.Errorf("a command has %q where a bulk string begins", line)
		}
		argument, err := f.bulk(line)
		if err != nil {
			return nil, nil, err
		}
		arguments = append(arguments, string(argument))
	}
	return arguments, bytes.Clone(f.frame.Bytes()), nil
}

// reply reads the next reply of RESP2 or RESP3 and returns its bytes, and
// whether it is a push message, which answers no command.
func (f *frameReader) reply() (frame []byte, push bool, err error) {
	f.frame.Reset()
	kind, err := f.value()
	if err != nil {
		return nil, false, err
	}
	return bytes.Clone(f.frame.Bytes()), kind == '>', nil
}

// value reads one value with everything inside it and returns its type.
func (f *frameReader) value() (kind byte, err error) {
	line, err := f.line()
	if err != nil {
		return 0, err
	}
	if len(line) == 0 {
		return 0, fmt.Errorf("a reply begins with an empty line")
	}
	kind = line[0]
	nested := 0
	switch kind {
	case '+', '-', ':', ',', '#', '_', '(':
		return kind, nil
	case '$', '=', '!':
		_, err = f.bulk(line)
		return kind, err
	case '*', '~', '>':
		nested, err = length(line)
	case '%':
		nested, err = length(line)
		nested *= 2
	case '|': // attributes stand before the value that they belong to
		nested, err = length(line)
		nested = nested*2 + 1
	default:
		return 0, fmt.Errorf("a reply begins with %q", line)
	}
	for i := 0; err == nil && i < nested; i++ {
		_, err = f.value()
	}
	return kind, err
}

// line reads a line into the frame and returns it without its ending. It is
// valid until the next read.
func (f *frameReader) line() ([]byte, error) {
	start := f.frame.Len()
	for {
		part, err := f.reader.ReadSlice('\n')
		f.frame.Write(part)
		if err == bufio.ErrBufferFull {
			continue
		}
		if err != nil {
			return nil, err
		}
		return bytes.TrimRight(f.frame.Bytes()[start:], "\r\n"), nil
	}
}

// bulk reads the body of a bulk string, whose header is line, into the frame
// and returns it. It is valid until the next read.
func (f *frameReader) bulk(line []byte) ([]byte, error) {
	size, err := length(line)
	if err != nil || size < 0 {
		return nil, err
	}
	start := f.frame.Len()
	if _, err := io.CopyN(&f.frame, f.reader, int64(size)+2); err != nil {
		return nil, err
	}
	return f.frame.Bytes()[start : start+size], nil
}

// length reads the number in a header line; -1 stands for null.
func length(line []byte) (int, error) {
	number, err := strconv.Atoi(string(line[1:]))
	if err != nil || number < -1 || number > maxBulk {
		return 0, fmt.Errorf("%q has no valid length", line)
	}
	return number, nil
}
