package main

import (
	"bufio"
	"context"
	"io"
)

// enter waits for the Enter key.
type enter struct {
	in    io.Reader
	lines chan struct{}
}

func newEnter(in io.Reader) *enter { return &enter{in: in} }

// wait returns when a line was read, when there is nothing to read from any
// more, or when ctx ends, with its cause.
func (e *enter) wait(ctx context.Context) error {
	if e.lines == nil {
		e.lines = make(chan struct{})
		go e.read(ctx)
	}
	select {
	case <-e.lines:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// read passes on that a line was read. A terminal cannot be told to give up a
// read, so after an interruption this ends with the program.
func (e *enter) read(ctx context.Context) {
	defer close(e.lines)
	for lines := bufio.NewScanner(e.in); lines.Scan(); {
		select {
		case e.lines <- struct{}{}:
		case <-ctx.Done():
			return
		}
	}
}
