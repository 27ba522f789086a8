package fleet

import (
	"context"
	"io"
	"slices"
)

// launch starts a peer in a process of its own.
func launch(command Command, dir string) (*peer, error) {
	process, stdin, err := command.start(dir)
	if err != nil {
		return nil, err
	}
	return newPeer(command.Name, stdin, process.stdout, process.kill, process.wait), nil
}

// launchGo starts the Go runtime as a peer in this process.
func launchGo() *peer {
	ctx, cancel := context.WithCancel(context.Background())
	hear, in := io.Pipe()
	out, say := io.Pipe()
	over := make(chan struct{})
	go func() {
		defer close(over)
		err := Serve(ctx, hear, say)
		_ = hear.CloseWithError(io.ErrClosedPipe)
		_ = say.CloseWithError(err)
	}()
	kill := func() {
		cancel()
		_ = hear.CloseWithError(io.ErrClosedPipe)
		_ = say.CloseWithError(io.ErrClosedPipe)
	}
	wait := func() string {
		<-over
		cancel()
		return "it has ended"
	}
	return newPeer(GoName, in, out, kill, wait)
}

func sorted(names []string) []string {
	slices.Sort(names)
	return names
}
