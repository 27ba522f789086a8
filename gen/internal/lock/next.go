package lock

import (
	"fmt"
	"go/token"
	"path/filepath"
	"slices"

	"github.com/echomq/echomq-go/annotations"
	"github.com/echomq/echomq-go/gen/ir"
)

// Step leads from one lock to the next.
type Step struct {
	// Base is the lock that the source is compared with; nil for none.
	Base *File
	// Dir is the directory of the package, and Path the file of Base as messages
	// name it.
	Dir, Path string
	// Allow says whether the break of a contract with the given hash was accepted,
	// and why.
	Allow func(id ID, from string) (Accepted, bool)
	// Recorded is a later lock, whose records of what was accepted hold too; nil
	// for none.
	Recorded *File
}

// allow says whether a break was accepted, now or before.
func (s Step) allow(id ID, from string) (Accepted, bool) {
	if s.Recorded != nil {
		var recorded []Accepted
		for _, job := range s.Recorded.Versions(id) {
			recorded = append(recorded, job.Accepted...)
		}
		if ended := s.Recorded.ended(id); ended != nil {
			recorded = append(recorded, ended.Accepted...)
		}
		for _, a := range recorded {
			if a.From == from {
				return a, true
			}
		}
	}
	return s.Allow(id, from)
}

// Next returns the lock of pkg, and what of its contracts the jobs and programs
// that are there would not survive. It gives each job its older versions.
func (s Step) Next(pkg *ir.Package) (*File, []annotations.Diagnostic) {
	n := &next{Step: s, base: s.Base, file: &File{}, declared: map[ID]*ir.Job{}, taken: map[ID]bool{}}
	if n.base == nil {
		n.base = &File{}
	}
	for i := range pkg.Queues {
		queue := &pkg.Queues[i]
		for j := range queue.Jobs {
			n.declared[ID{queue.Name, queue.Jobs[j].Name}] = &queue.Jobs[j]
		}
	}
	for i := range pkg.Queues {
		queue := &pkg.Queues[i]
		for j := range queue.Jobs {
			n.job(ID{queue.Name, queue.Jobs[j].Name}, &queue.Jobs[j])
		}
	}
	for _, id := range n.base.IDs() {
		n.gone(id)
	}
	for _, ended := range n.base.Ended {
		if n.declared[ended.ID] == nil && ended.To == "" {
			n.file.Ended = append(n.file.Ended, ended)
		}
	}
	n.file.sort()
	return n.file, n.found
}

type next struct {
	Step
	base     *File
	file     *File
	declared map[ID]*ir.Job
	// taken are the jobs of the base whose place another one has taken.
	taken map[ID]bool
	found []annotations.Diagnostic
}

func (n *next) report(rule *annotations.Rule, pos ir.Position, arguments ...any) {
	at := token.Position{Filename: filepath.Join(n.Dir, pos.File), Line: pos.Line, Column: pos.Column}
	n.found = append(n.found, rule.At(at, token.Position{}, arguments...))
}

// job enters a declared job with the older versions that are known.
func (n *next) job(id ID, job *ir.Job) {
	job.Older = nil
	older := n.history(id, job)
	block := Job{ID: id, Version: job.Version, Contract: job.Contract}
	if len(older) > 0 {
		last := older[len(older)-1]
		switch {
		case job.Version < last.Version:
			accepted, ok := n.allow(id, Hash(&last.Contract))
			if !ok {
				n.report(annotations.RuleVersionLowered, job.Pos, job.Payload.Type, last.Version, job.Version, last.ID)
				return
			}
			block.Accepted = []Accepted{accepted}
			older = slices.DeleteFunc(older, func(j Job) bool { return j.Version >= job.Version })
		case job.Version == last.Version:
			older = older[:len(older)-1]
			block.Accepted = last.Accepted
			n.compare(id, job, &last, &block)
		}
	}
	for _, version := range older {
		version.ID = id
		n.file.Jobs = append(n.file.Jobs, version)
		job.Older = append(job.Older, ir.Older{Version: version.Version, Contract: version.Contract})
	}
	n.file.Jobs = append(n.file.Jobs, block)
}

// history returns the known versions of a job, the oldest first.
func (n *next) history(id ID, job *ir.Job) []Job {
	return n.base.Versions(id)
}

// compare reports what jobs and programs would not survive, unless it was
// accepted.
func (n *next) compare(id ID, job *ir.Job, last, block *Job) {
	differences := Compare(&last.Contract, &job.Contract)
	if len(differences) == 0 {
		return
	}
	if accepted, ok := n.allow(id, Hash(&last.Contract)); ok {
		if !slices.Contains(block.Accepted, accepted) {
			block.Accepted = append(slices.Clone(block.Accepted), accepted)
		}
		return
	}
	for _, d := range differences {
		n.difference(id, job, d)
	}
}

func (n *next) difference(id ID, job *ir.Job, d Difference) {
	pos := d.Pos
	if pos == (ir.Position{}) {
		pos = job.Pos
	}
	cure := fmt.Sprintf("version=%d", job.Version+1)
	switch d.Change {
	case Removed:
		n.report(annotations.RuleFieldRemoved, pos, d.Path, d.Old, cure, id)
	case Renamed:
		n.report(annotations.RuleFieldRenamed, pos, d.Path, d.New, d.Old, cure, id)
	case Retyped:
		n.report(annotations.RuleFieldRetyped, pos, d.Path, d.New, d.Old, cure, id)
	case Required:
		n.report(annotations.RuleFieldRequired, pos, d.Path, cure, id)
	case Relaxed:
		n.report(annotations.RuleFieldRelaxed, pos, d.Path, cure, id)
	case Recoded:
		n.report(annotations.RuleRecoded, pos, job.Payload.Type, d.New, d.Old, cure, id)
	case Result:
		n.report(annotations.RuleResultChanged, pos, job.Payload.Type, resultOr(d.New), resultOr(d.Old), cure, id)
	}
}

func resultOr(name string) string {
	if name == "" {
		return "no result"
	}
	return "result " + name
}

// gone reports a job that is no longer declared, unless somebody said what
// becomes of it.
func (n *next) gone(id ID) {
	if n.declared[id] != nil || n.taken[id] {
		return
	}
	versions := n.base.Versions(id)
	last := versions[len(versions)-1]
	if accepted, ok := n.allow(id, Hash(&last.Contract)); ok {
		n.file.Ended = append(n.file.Ended, Ended{ID: id, Accepted: []Accepted{accepted}})
		return
	}
	at := token.Position{Filename: n.Path, Line: last.Line, Column: 1}
	n.found = append(n.found, annotations.RuleJobGone.At(at, token.Position{}, id.Name, id.Queue, id))
}
