package childserver

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// pollInterval is the pause between two questions whether a server is ready. A
// server needs about 15 ms to start.
const pollInterval = 2 * time.Millisecond

// ready waits until the server answers PING and returns what it says about
// itself.
func (p *Process) ready(ctx context.Context, config Config) (Info, error) {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		info, err := ask(ctx, config)
		if err == nil {
			return info, nil
		}
		select {
		case <-p.done:
			return Info{}, p.exited()
		case <-ctx.Done():
			return Info{}, fmt.Errorf("%w (last answer: %w)", context.Cause(ctx), err)
		case <-ticker.C:
		}
	}
}

// ask connects and sends AUTH, PING and INFO. It speaks the protocol itself, so
// that a program can start a server without a client library.
func ask(ctx context.Context, config Config) (Info, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, config.Network, config.Addr)
	if err != nil {
		return Info{}, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()

	reader := bufio.NewReader(conn)
	if config.Password != "" {
		if _, err := request(conn, reader, "AUTH", config.Password); err != nil {
			return Info{}, err
		}
	}
	if _, err := request(conn, reader, "PING"); err != nil {
		return Info{}, err
	}
	text, err := request(conn, reader, "INFO", "server")
	if err != nil {
		return Info{}, err
	}
	return parseInfo(text), nil
}

// request sends a command and returns its reply, a simple or bulk string.
func request(conn io.Writer, reader *bufio.Reader, args ...string) (string, error) {
	var command strings.Builder
	fmt.Fprintf(&command, "*%d\r\n", len(args))
	for _, arg := range args {
		fmt.Fprintf(&command, "$%d\r\n%s\r\n", len(arg), arg)
	}
	if _, err := io.WriteString(conn, command.String()); err != nil {
		return "", err
	}
	line, err := reader.ReadString('\n')
	if err != nil {
		return "", err
	}
	line = strings.TrimRight(line, "\r\n")
	kind, rest := line[:min(1, len(line))], line[min(1, len(line)):]
	switch kind {
	case "+":
		return rest, nil
	case "$":
		length, err := strconv.Atoi(rest)
		if err != nil || length < 0 {
			return "", fmt.Errorf("%s: unexpected reply %q", args[0], line)
		}
		body := make([]byte, length+2)
		if _, err := io.ReadFull(reader, body); err != nil {
			return "", err
		}
		return string(body[:length]), nil
	default:
		return "", fmt.Errorf("%s: the server answered %q", args[0], line)
	}
}
