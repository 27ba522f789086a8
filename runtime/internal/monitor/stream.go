package monitor

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"
)

// ErrRefused is an error of [Open]: the server answered, and does not let this
// user monitor it, or cannot.
var ErrRefused = errors.New("the server refused")

// Stream is a connection that MONITOR writes to. It is not one of the client
// library, which does not read such a stream well.
type Stream struct {
	conn   net.Conn
	reader *bufio.Reader
}

// Open connects to the server and asks for everything that it runs from now on.
// The context bounds the opening only; close the stream to end it.
func Open(ctx context.Context, options *redis.Options) (_ *Stream, err error) {
	conn, err := dial(ctx, options)
	if err != nil {
		return nil, err
	}
	unhook := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer func() {
		if !unhook() { // conn is closed, whatever that led to
			err = context.Cause(ctx)
		}
		if err != nil {
			_ = conn.Close()
		}
	}()
	s := &Stream{conn: conn, reader: bufio.NewReaderSize(conn, 1<<20)}
	if options.Password != "" {
		auth := []string{"AUTH", options.Password}
		if options.Username != "" {
			auth = []string{"AUTH", options.Username, options.Password}
		}
		if err := s.ask(auth); err != nil {
			return nil, err
		}
	}
	return s, s.ask([]string{"MONITOR"})
}

func dial(ctx context.Context, options *redis.Options) (net.Conn, error) {
	network := options.Network
	if network == "" {
		network = "tcp"
	}
	dialer := options.Dialer
	if dialer == nil {
		dialer = redis.NewDialer(options)
	}
	return dialer(ctx, network, options.Addr)
}

// ask sends a command that the server answers with OK.
func (s *Stream) ask(command []string) error {
	var frame bytes.Buffer
	fmt.Fprintf(&frame, "*%d\r\n", len(command))
	for _, argument := range command {
		fmt.Fprintf(&frame, "$%d\r\n%s\r\n", len(argument), argument)
	}
	if _, err := s.conn.Write(frame.Bytes()); err != nil {
		return fmt.Errorf("%s: %w", command[0], err)
	}
	reply, err := s.reader.ReadString('\n')
	reply = strings.TrimRight(reply, "\r\n")
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", command[0], err)
	case strings.HasPrefix(reply, "-"):
		return fmt.Errorf("%s: %w: %s", command[0], ErrRefused, reply[1:])
	case reply != "+OK":
		return fmt.Errorf("%s: the server answered %q", command[0], reply)
	}
	return nil
}

// Next returns the text of the next line, of any length. It is valid until the
// next call.
func (s *Stream) Next() ([]byte, error) {
	line, err := s.reader.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		long := bytes.Clone(line)
		for errors.Is(err, bufio.ErrBufferFull) {
			line, err = s.reader.ReadSlice('\n')
			long = append(long, line...)
		}
		line = long
	}
	if err != nil {
		return nil, err
	}
	return bytes.TrimPrefix(bytes.TrimRight(line, "\r\n"), []byte("+")), nil
}

// Close ends the stream, and a call of Next that waits.
func (s *Stream) Close() error { return s.conn.Close() }
