package lock

import (
	"cmp"
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
	n := &next{Step: s, pkg: pkg, base: s.Base, file: &File{}, declared: map[ID]bool{}, named: map[ID]bool{}, taken: map[ID]bool{}}
	if n.base == nil {
		n.base = &File{}
	}
	n.each(func(id ID, _ *ir.Job) { n.declared[id] = true })
	n.written()
	n.each(n.job)
	for _, queue := range pkg.Queues {
		for _, retired := range queue.Retired {
			n.retired(ID{queue.Name, retired.Name}, retired)
		}
	}
	for _, id := range n.base.IDs() {
		n.gone(id)
		n.formers(id)
	}
	for _, ended := range n.base.Ended {
		if !n.declared[ended.ID] && !n.taken[ended.ID] && ended.To == "" {
			n.file.Ended = append(n.file.Ended, ended)
		}
	}
	n.file.sort()
	return n.file, n.found
}

type next struct {
	Step
	pkg  *ir.Package
	base *File
	file *File
	// declared are the jobs of the package.
	declared map[ID]bool
	// named are the jobs that the source calls former names or retired.
	named map[ID]bool
	// taken are the jobs of the base of which it is said what became of them.
	taken map[ID]bool
	found []annotations.Diagnostic
}

func (n *next) each(do func(ID, *ir.Job)) {
	for i := range n.pkg.Queues {
		queue := &n.pkg.Queues[i]
		for j := range queue.Jobs {
			do(ID{queue.Name, queue.Jobs[j].Name}, &queue.Jobs[j])
		}
	}
}

func (n *next) report(rule *annotations.Rule, pos ir.Position, arguments ...any) {
	n.found = append(n.found, rule.At(n.place(pos), token.Position{}, arguments...))
}

// place returns a position with the path of its file.
func (n *next) place(pos ir.Position) token.Position {
	return token.Position{Filename: filepath.Join(n.Dir, pos.File), Line: pos.Line, Column: pos.Column}
}

// job enters a declared job with the older versions that are known.
func (n *next) job(id ID, job *ir.Job) {
	job.Older = nil
	older := n.history(id, job)
	block := Job{ID: id, Version: job.Version, Contract: job.Contract}
	for _, was := range job.Was {
		block.Was = append(block.Was, ID{was.Queue, was.Name})
	}
	if len(older) > 0 {
		last := older[len(older)-1]
		n.dropped(id, job, &last, &block)
		switch {
		case job.Version < last.Version:
			accepted, ok := n.allow(id, Hash(&last.Contract))
			if !ok {
				n.report(annotations.RuleVersionLowered, job.Pos, job.Payload.Type, last.Version, job.Version, quoted(id.String()))
				return
			}
			block.Accepted = append(block.Accepted, accepted)
			older = slices.DeleteFunc(older, func(j Job) bool { return j.Version >= job.Version })
		case job.Version == last.Version:
			older = older[:len(older)-1]
			block.Accepted = append(slices.Clone(last.Accepted), block.Accepted...)
			n.compare(id, job, &last, &block)
		}
	}
	for _, version := range older {
		version.ID, version.Was = id, nil
		n.file.Jobs = append(n.file.Jobs, version)
		if version.Version >= job.Oldest {
			n.older(job, version)
		}
	}
	n.file.Jobs = append(n.file.Jobs, block)
	job.ContractHash = Hash(&job.Contract)
	job.ReplacedHashes = block.replaced(job.ContractHash)
}

// history returns the known versions of a job, under its name or a former one,
// the oldest first.
func (n *next) history(id ID, job *ir.Job) []Job {
	versions := n.base.Versions(id)
	for _, was := range job.Was {
		former := ID{was.Queue, was.Name}
		found := n.base.Versions(former)
		n.taken[former] = true
		switch {
		case len(found) > 0 && len(versions) > 0:
			n.report(annotations.RuleWas, was.Pos, fmt.Sprintf("emq.lock knows %s and %s as jobs of their own, whose payloads cannot be told apart", former, versions[0].ID))
		case len(found) > 0:
			versions = found
		case n.Base != nil && !n.base.knows(former) && !n.Recorded.knows(former):
			n.unknown(former, was.Pos, was.End, n.nearestFormer(former, id.Queue, len(versions) > 0))
		}
	}
	return versions
}

// dropped reports former names that the job has no longer, unless it was
// accepted.
func (n *next) dropped(id ID, job *ir.Job, last, block *Job) {
	for _, was := range last.Was {
		if was == id || slices.Contains(block.Was, was) {
			continue
		}
		if accepted, ok := n.allow(id, "was:"+was.String()); ok {
			block.Accepted = append(block.Accepted, accepted)
			continue
		}
		n.report(annotations.RuleWasDropped, job.Pos, job.Payload.Type, was, quoted(was.String()), quoted(id.String()))
	}
}

// older gives a job one of its older versions.
func (n *next) older(job *ir.Job, version Job) {
	reason := ""
	if codec := version.Contract.Codec; codec != "json" && codec != "msgpack" {
		reason = "its payloads are encoded as " + codec + ", which this emqgen does not know"
	}
	for _, s := range version.Contract.Structs {
		for i := range s.Fields {
			if name := n.missing(&s.Fields[i].Type); name != "" {
				reason = fmt.Sprintf("its field %s.%s has type %s, which encoded itself and is no longer declared", s.Name, s.Fields[i].GoName, name)
			}
		}
	}
	if reason != "" {
		n.report(annotations.RuleOlderType, job.Pos, version.Version, job.Payload.Type, reason, version.Version+1)
		return
	}
	job.Older = append(job.Older, ir.Older{Version: version.Version, Contract: version.Contract})
}

// missing returns the first type with its own encoding that the package should
// declare and does not, or "".
func (n *next) missing(t *ir.WireType) string {
	if t == nil {
		return ""
	}
	if t.Kind == ir.WireOwn && t.Path == "" && !slices.ContainsFunc(n.pkg.Declared, func(d ir.Declared) bool { return d.Name == t.Name && !d.Import }) {
		return t.Name
	}
	found := cmp.Or(n.missing(t.Key), n.missing(t.Elem))
	for i := range t.Args {
		found = cmp.Or(found, n.missing(&t.Args[i]))
	}
	return found
}

// retired enters a job that is gone, and of which workers end what is enqueued.
func (n *next) retired(id ID, retired ir.Retired) {
	n.taken[id] = true
	if n.Base != nil && !n.base.knows(id) && !n.Recorded.knows(id) {
		n.unknown(id, retired.Pos, retired.End, n.nearestRetired(id))
	}
	n.file.Ended = append(n.file.Ended, Ended{ID: id, To: retired.To})
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
	cure, accept := fmt.Sprintf("version=%d", job.Version+1), quoted(id.String())
	switch d.Change {
	case Removed:
		n.report(annotations.RuleFieldRemoved, pos, d.Path, d.Old, cure, accept)
	case Renamed:
		n.report(annotations.RuleFieldRenamed, pos, d.Path, d.New, d.Old, cure, accept)
	case Retyped:
		n.report(annotations.RuleFieldRetyped, pos, d.Path, d.New, d.Old, cure, accept)
	case Required:
		n.report(annotations.RuleFieldRequired, pos, d.Path, cure, accept)
	case Relaxed:
		n.report(annotations.RuleFieldRelaxed, pos, d.Path, cure, accept)
	case Recoded:
		n.report(annotations.RuleRecoded, pos, job.Payload.Type, d.New, d.Old, cure, accept)
	case Result:
		n.report(annotations.RuleResultChanged, pos, job.Payload.Type, resultOr(d.New), resultOr(d.Old), cure, accept)
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
	if n.declared[id] || n.taken[id] {
		return
	}
	versions := n.base.Versions(id)
	last := versions[len(versions)-1]
	if accepted, ok := n.allow(id, Hash(&last.Contract)); ok {
		n.file.Ended = append(n.file.Ended, Ended{ID: id, Accepted: []Accepted{accepted}})
		return
	}
	at := token.Position{Filename: n.Path, Line: last.Line, Column: 1}
	n.found = append(n.found, annotations.RuleJobGone.At(at, token.Position{}, id.Name, id.Queue, quoted(id.String()), n.retirement(id)))
}

// formers reports the former names of a retired job of which nobody said what
// becomes of them.
func (n *next) formers(id ID) {
	ended := n.file.ended(id)
	if ended == nil || ended.To == "" {
		return
	}
	versions := n.base.Versions(id)
	last := versions[len(versions)-1]
	for _, was := range last.Was {
		if n.declared[was] || n.taken[was] {
			continue
		}
		if accepted, ok := n.allow(id, "was:"+was.String()); ok {
			ended.Accepted = append(ended.Accepted, accepted)
			continue
		}
		at := token.Position{Filename: n.Path, Line: last.Line, Column: 1}
		n.found = append(n.found, annotations.RuleJobGone.At(at, token.Position{}, was.Name, was.Queue, quoted(was.String()), n.retirement(was)))
	}
}

// retirement says how a job is named in the directive that retires it.
func (n *next) retirement(id ID) string {
	name := quoted(id.Name)
	if len(n.pkg.Queues) == 1 && n.pkg.Queues[0].Name == id.Queue {
		return "name=" + name
	}
	return "name=" + name + " queue=" + id.Queue
}
