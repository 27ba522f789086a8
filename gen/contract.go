package gen

import (
	"context"
	"errors"
	"fmt"
	"go/token"
	"path/filepath"
	"slices"
	"strings"

	"github.com/echomq/echomq-go/annotations"
	"github.com/echomq/echomq-go/gen/internal/load"
	"github.com/echomq/echomq-go/gen/internal/lock"
	"github.com/echomq/echomq-go/gen/ir"
)

// ErrAccept is what the errors of [Run] are when an [Acceptance] accepts
// nothing, or it is not clear what.
var ErrAccept = errors.New("cannot be accepted")

// Acceptance is a break of a job's contract that is deliberate.
type Acceptance struct {
	// Name is the job's wire name, or its queue, a slash and that.
	Name string
	// Reason is kept in the lock.
	Reason string
}

// contracts compares what was built with the locks.
type contracts struct {
	options  Options
	revision load.Revision
	// accepted are the jobs for which each acceptance was used.
	accepted [][]lock.ID
}

func newContracts(ctx context.Context, options Options) (*contracts, error) {
	c := &contracts{options: options, accepted: make([][]lock.ID, len(options.Accept))}
	var err error
	if options.Against != "" {
		c.revision, err = load.FindRevision(ctx, options.Dir, options.Against)
	}
	return c, err
}

// remember compares a package with its locks, gives its jobs their older
// versions, and adds its next lock to the result.
func (r *run) remember(ctx context.Context, source *load.Source, pkg *ir.Package, report *annotations.Reporter) error {
	here := filepath.Join(source.Meta.Dir, load.LockName)
	current, ok := parseLock(source.Lock, here, report)
	if !ok {
		return nil
	}
	step := lock.Step{Base: current, Dir: source.Meta.Dir, Path: here, Allow: r.allow}
	if r.options.Against != "" {
		content, err := r.revision.Lock(ctx, source.Meta.Dir)
		if err != nil {
			return err
		}
		base, ok := parseLock(content, here+" of "+r.options.Against, report)
		if !ok {
			return nil
		}
		merged := lock.Step{Base: base, Dir: source.Meta.Dir, Path: here + " of " + r.options.Against, Allow: r.allow, Recorded: current}
		if !r.options.Check {
			step = merged
		} else {
			compared := *pkg
			_, diagnostics := merged.Next(&compared)
			report.Add(diagnostics...)
		}
	}
	next, diagnostics := step.Next(pkg)
	report.Add(diagnostics...)
	switch {
	case len(diagnostics) > 0:
	case !next.IsEmpty():
		r.result.Files[here] = next.Format()
	case source.Lock != nil:
		r.result.Orphans = append(r.result.Orphans, here)
	}
	return nil
}

// parseLock reads a lock that may be missing, and reports why it cannot be read.
func parseLock(content []byte, path string, report *annotations.Reporter) (*lock.File, bool) {
	if content == nil {
		return nil, true
	}
	file, err := lock.Parse(content)
	var fault *lock.SyntaxError
	if !errors.As(err, &fault) {
		return file, true
	}
	at := token.Position{Filename: path, Line: fault.Line, Column: fault.Column}
	if fault.Conflict {
		report.Add(annotations.RuleLockConflict.At(at, token.Position{}, fault.Message))
	} else {
		report.Add(annotations.RuleLockDamaged.At(at, token.Position{}, fault.Message))
	}
	return nil, false
}

// allow says whether a break of a job's contract is accepted.
func (c *contracts) allow(id lock.ID, from string) (lock.Accepted, bool) {
	for i, a := range c.options.Accept {
		if a.Name != id.Name && a.Name != id.String() {
			continue
		}
		if !slices.Contains(c.accepted[i], id) {
			c.accepted[i] = append(c.accepted[i], id)
		}
		return lock.Accepted{From: from, Reason: a.Reason}, true
	}
	return lock.Accepted{}, false
}

// unused returns what is wrong with the acceptances.
func (c *contracts) unused() error {
	for i, a := range c.options.Accept {
		switch jobs := c.accepted[i]; {
		case len(jobs) == 0:
			return fmt.Errorf("%s %w: the contract of no such job is broken", a.Name, ErrAccept)
		case len(jobs) > 1:
			var names []string
			for _, id := range jobs {
				names = append(names, id.String())
			}
			return fmt.Errorf("%s %w: it is one of %s; name the queue too", a.Name, ErrAccept, strings.Join(names, ", "))
		}
	}
	return nil
}
