package fleet

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// maxLine is how long a line of a peer may be: a payload of 1 MiB, escaped.
const maxLine = 8 << 20

// peer is a runtime that takes part.
type peer struct {
	name   string
	in     io.WriteCloser
	lines  chan []byte // closed when the output has ended
	cut    error       // why it ended, if not by itself; read after lines is closed
	kill   func()
	wait   func() string // how it ended; only after lines is closed
	done   chan struct{} // closed when nobody reads lines any more
	broken error         // why it can be asked no more
}

// newPeer takes over the streams of a peer.
func newPeer(name string, in io.WriteCloser, out io.Reader, kill func(), wait func() string) *peer {
	p := &peer{name: name, in: in, lines: make(chan []byte), kill: kill, wait: wait, done: make(chan struct{})}
	go p.read(out)
	return p
}

func (p *peer) read(out io.Reader) {
	defer close(p.lines)
	reader := bufio.NewReaderSize(out, 64<<10)
	for {
		line, err := readLine(reader)
		if err != nil {
			if !errors.Is(err, io.EOF) {
				p.cut = err
			}
			return
		}
		select {
		case p.lines <- line:
		case <-p.done:
		}
	}
}

// readLine reads one line, which must end and not be too long.
func readLine(reader *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := reader.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return line, nil
		case len(line) > maxLine:
			return nil, fmt.Errorf("a line is longer than %d bytes", maxLine)
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// ask sends a request and waits for the answer. A peer that does not keep to the
// protocol of lines is ended, and asked no more.
func (p *peer) ask(ctx context.Context, request Request, timeout time.Duration) (Answer, error) {
	if p.broken != nil {
		return Answer{}, p.broken
	}
	answer, err := p.exchange(ctx, request, timeout)
	if err != nil {
		p.broken = fmt.Errorf("%s: %s: %w", p.name, request.Do, err)
		p.kill()
		return Answer{}, p.broken
	}
	return answer, nil
}

func (p *peer) exchange(ctx context.Context, request Request, timeout time.Duration) (Answer, error) {
	encoded, err := json.Marshal(request)
	if err != nil {
		return Answer{}, err
	}
	// A write fails when the peer ends, and then so does the read; one that
	// blocks ends when the peer is killed.
	go func() { _, _ = p.in.Write(append(encoded, '\n')) }()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case line, more := <-p.lines:
		if !more {
			return Answer{}, p.ended()
		}
		return decodeAnswer(line)
	case <-timer.C:
		return Answer{}, fmt.Errorf("no answer within %s; it was ended", timeout)
	case <-ctx.Done():
		return Answer{}, context.Cause(ctx)
	}
}

func (p *peer) ended() error {
	if p.cut != nil {
		return p.cut
	}
	return fmt.Errorf("it ended without an answer: %s", p.wait())
}

func decodeAnswer(line []byte) (Answer, error) {
	var answer Answer
	if err := json.Unmarshal(line, &answer); err != nil {
		return Answer{}, fmt.Errorf("its line is no answer: %q: %w", brief(string(line)), err)
	}
	if !answer.OK && answer.Error == "" {
		return Answer{}, fmt.Errorf("its answer is neither ok nor an error: %q", brief(string(line)))
	}
	return answer, nil
}

// greet makes the first exchange and says what is wrong with the peer.
func (p *peer) greet(ctx context.Context, address string, scripts bundle, timeout time.Duration) (Answer, error) {
	answer, err := p.ask(ctx, Request{
		Do: doHello, Peer: LineVersion, Protocol: scripts.protocol, Address: address,
	}, timeout)
	switch {
	case err != nil:
		return Answer{}, err
	case !answer.OK:
		err = fmt.Errorf("%s: hello: %s", p.name, answer.Error)
	case answer.Peer != LineVersion:
		err = fmt.Errorf("%s: hello: it speaks version %d of the lines, and this is version %d", p.name, answer.Peer, LineVersion)
	case answer.Protocol != scripts.protocol:
		err = fmt.Errorf("%s: hello: it speaks %q, and the bundle %q", p.name, answer.Protocol, scripts.protocol)
	case answer.Runtime == "" || answer.Version == "" || answer.Role == "":
		err = fmt.Errorf("%s: hello: runtime, version or role is missing", p.name)
	default:
		err = p.compare(answer.Scripts, scripts)
	}
	if err != nil {
		p.broken = err
		p.kill()
	}
	return answer, err
}

// compare says which scripts a peer runs that are not those of the bundle.
func (p *peer) compare(found map[string]string, scripts bundle) error {
	var other []string
	for name, sha1 := range scripts.scripts {
		if found[name] != sha1 {
			other = append(other, name)
		}
	}
	if len(other) > 0 {
		return fmt.Errorf("%s: hello: its scripts are not those of the bundle: %s", p.name, strings.Join(sorted(other), ", "))
	}
	return nil
}

// close ends a peer: by asking it to, and if it does not, by killing it. It
// returns when it is gone.
func (p *peer) close(timeout time.Duration) {
	if p.broken == nil {
		_, _ = p.ask(context.Background(), Request{Do: doQuit}, timeout)
	}
	_ = p.in.Close()
	close(p.done)
	timer := time.AfterFunc(timeout, p.kill)
	defer timer.Stop()
	for range p.lines {
	}
	p.wait()
}
