package enginetest

import (
	"net"
	"sync"
	"time"
)

// link is one connection through a proxy.
type link struct {
	proxy          *Proxy
	client, server net.Conn
	up, down       *line // towards the server, towards the client

	mu        sync.Mutex
	requested int // commands that were passed on
	answered  int // replies that came from the server
	delivered int // replies that were sent to the client
	// cuts are the commands, by their number on this link, before whose reply
	// the link is to be cut. A rule that cuts before a request stands at the
	// number of the request, which is not passed on.
	cuts map[int]*Rule
}

func newLink(proxy *Proxy, client, server net.Conn) *link {
	return &link{
		proxy: proxy, client: client, server: server,
		up: newLine(server), down: newLine(client),
		cuts: map[int]*Rule{},
	}
}

// cut closes both ends at once.
func (l *link) cut() {
	_ = l.client.Close()
	_ = l.server.Close()
	l.up.stop()
	l.down.stop()
}

// run passes on commands and replies until one end is closed, then closes the
// other when it has got everything.
func (l *link) run() {
	var group sync.WaitGroup
	group.Go(l.up.run)
	group.Go(func() {
		l.down.run()
		l.cut()
	})
	group.Go(l.passCommands)
	group.Go(l.passReplies)
	group.Wait()
}

func (l *link) due() time.Time { return time.Now().Add(time.Duration(l.proxy.delay.Load())) }

// passCommands reads commands from the client until it closes or a rule cuts
// the link.
func (l *link) passCommands() {
	reader := newFrameReader(l.client)
	for {
		command, frame, err := reader.command()
		if err != nil {
			l.up.end(l.due())
			return
		}
		if len(command) > 0 && !l.request(command) {
			return
		}
		l.up.send(frame, l.due(), nil)
	}
}

// request notes a command that has arrived and reports whether to pass it on.
func (l *link) request(command []string) bool {
	l.mu.Lock()
	waiting := l.delivered < l.requested
	l.mu.Unlock()
	rule := l.proxy.observe(command, waiting)

	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case rule == nil:
	case rule.beforeReply:
		l.cuts[l.requested] = rule
	case l.answered == l.requested:
		l.finish(rule)
		return false
	default: // when everything before it is answered
		l.cuts[l.requested] = rule
		return false
	}
	l.requested++
	return true
}

// passReplies reads replies from the server until it closes or a rule cuts the
// link.
func (l *link) passReplies() {
	reader := newFrameReader(l.server)
	for {
		frame, push, err := reader.reply()
		if err != nil {
			l.down.end(l.due())
			return
		}
		if push {
			l.down.send(frame, l.due(), nil)
		} else if !l.reply(frame) {
			return
		}
	}
}

// reply delivers a reply, unless a rule forbids it, and reports whether the link
// goes on.
func (l *link) reply(frame []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if rule := l.cuts[l.answered]; rule != nil {
		l.finish(rule)
		return false
	}
	l.answered++
	l.down.send(frame, l.due(), func() {
		l.mu.Lock()
		l.delivered++
		l.mu.Unlock()
	})
	if rule := l.cuts[l.answered]; rule != nil && !rule.beforeReply {
		l.finish(rule)
		return false
	}
	return true
}

// finish cuts the link when the replies that are under way are delivered.
func (l *link) finish(rule *Rule) {
	rule.strike()
	l.down.end(l.due())
}
