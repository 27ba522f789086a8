package enginetest

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// encodeCommand returns a command as a client sends it.
func encodeCommand(arguments []string) []byte {
	var frame bytes.Buffer
	fmt.Fprintf(&frame, "*%d\r\n", len(arguments))
	for _, argument := range arguments {
		fmt.Fprintf(&frame, "$%d\r\n%s\r\n", len(argument), argument)
	}
	return frame.Bytes()
}

func TestFrameReaderReadsCommands(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 300<<10)
	stream := "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n" +
		"*3\r\n$3\r\nSET\r\n$4\r\n\r\n*1\r\n$0\r\n\r\n" +
		"\r\n" +
		"PING  hello\r\n" +
		string(encodeCommand([]string{"ECHO", large}))
	for _, source := range []io.Reader{strings.NewReader(stream), iotest.OneByteReader(strings.NewReader(stream))} {
		reader := newFrameReader(source)
		var read strings.Builder
		var commands [][]string
		for {
			command, frame, err := reader.command()
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			read.Write(frame)
			commands = append(commands, command)
		}
		assert.Equal(t, stream, read.String())
		assert.Equal(t, [][]string{{"GET", "k"}, {"SET", "\r\n*1", ""}, nil, {"PING", "hello"}, {"ECHO", large}}, commands)
	}
}

func TestFrameReaderReadsReplies(t *testing.T) {
	t.Parallel()
	replies := []string{
		"+OK\r\n", "-ERR no\r\n", ":12\r\n", "$-1\r\n", "*-1\r\n", "_\r\n", "#t\r\n", ",1.5\r\n", "(123\r\n",
		"$5\r\n\r\n+OK\r\n", "$0\r\n\r\n", "=7\r\ntxt:abc\r\n", "!5\r\nERR x\r\n",
		"*0\r\n", "*2\r\n$1\r\na\r\n*2\r\n:1\r\n*1\r\n+x\r\n",
		"%2\r\n+a\r\n:1\r\n+b\r\n%1\r\n+c\r\n:2\r\n", "~1\r\n+a\r\n",
		"|1\r\n+ttl\r\n:1\r\n$1\r\nv\r\n",
		">3\r\n+message\r\n+channel\r\n$2\r\nhi\r\n",
	}
	stream := strings.Join(replies, "")
	for _, source := range []io.Reader{strings.NewReader(stream), iotest.OneByteReader(strings.NewReader(stream))} {
		reader := newFrameReader(source)
		for _, want := range replies {
			frame, push, err := reader.reply()
			require.NoError(t, err)
			assert.Equal(t, want, string(frame))
			assert.Equal(t, want[0] == '>', push)
		}
		_, _, err := reader.reply()
		assert.Equal(t, io.EOF, err)
	}
}

func TestFrameReaderRefusesNonsense(t *testing.T) {
	t.Parallel()
	for _, stream := range []string{"*x\r\n", "*-2\r\n", "*1\r\n+OK\r\n", "*1\r\n$99999999999\r\n", "*1\r\n\r\n"} {
		_, _, err := newFrameReader(strings.NewReader(stream)).command()
		assert.Error(t, err, stream)
	}
	for _, stream := range []string{"\r\n", "?\r\n", "$x\r\n", "*2\r\n+a\r\n", "$5\r\nab"} {
		_, _, err := newFrameReader(strings.NewReader(stream)).reply()
		assert.Error(t, err, stream)
	}
}

func FuzzFrameReader(f *testing.F) {
	f.Add([]byte("*2\r\n$3\r\nGET\r\n$1\r\nk\r\n"))
	f.Add([]byte("%1\r\n+a\r\n*1\r\n$-1\r\n"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		if _, frame, err := newFrameReader(strings.NewReader(string(stream))).command(); err == nil {
			assert.Equal(t, string(stream[:len(frame)]), string(frame))
		}
		if frame, _, err := newFrameReader(strings.NewReader(string(stream))).reply(); err == nil {
			assert.Equal(t, string(stream[:len(frame)]), string(frame))
		}
	})
}
