package enginetest

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
)

// front is where a proxy listens for one server.
type front struct {
	network, addr string // of the server
	path          string // of the socket
	listener      net.Listener
}

// front returns the front of a server, which it makes once.
func (p *Proxy) front(network, addr string) (*front, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.fronts[addr]; known != nil {
		return known, nil
	}
	made := &front{network: network, addr: addr, path: filepath.Join(p.dir, strconv.Itoa(len(p.fronts)))}
	if err := made.listen(p); err != nil {
		return nil, err
	}
	if p.refusing {
		made.refuse()
	}
	p.fronts[addr] = made
	return made, nil
}

// listen begins to accept connections.
func (f *front) listen(p *Proxy) error {
	if err := os.Remove(f.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	listener, err := net.Listen("unix", f.path)
	if err != nil {
		return err
	}
	// The path stays when the listener is closed, so that a client is refused
	// and does not find the path missing.
	listener.(*net.UnixListener).SetUnlinkOnClose(false)
	f.listener = listener
	p.running.Go(func() { p.accept(listener, f.network, f.addr) })
	return nil
}

// refuse ends it; nobody waits for the connections that exist.
func (f *front) refuse() { _ = f.listener.Close() }

func (p *Proxy) accept(listener net.Listener, network, addr string) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial(network, addr)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.connect(client, server)
	}
}
