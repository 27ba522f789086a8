package lang

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/echomq/echomq-go/gen/ir"
	"github.com/echomq/echomq-go/runtime/wire"
)

// view is a package as another language sees it: the structs of all its jobs have
// names that are different.
type view struct {
	pkg     *ir.Package
	queues  []queueView
	structs []ir.WireStruct
}

type queueView struct {
	*ir.Queue
	jobs []jobView
}

type jobView struct {
	*ir.Job
	queue   *ir.Queue
	payload ir.WireType
	result  *ir.WireType
	// fields are the payload's structs under their names in its contract, for the
	// way to fields of a unique key.
	contract *ir.Contract
}

func newView(pkg *ir.Package) *view {
	v := &view{pkg: pkg}
	byShape, taken := map[string]string{}, map[string]bool{}
	for _, name := range reserved {
		taken[name] = true
	}
	for i := range pkg.Queues {
		taken[pkg.Queues[i].Names().Producer] = true
	}
	for i := range pkg.Queues {
		queue := queueView{Queue: &pkg.Queues[i]}
		for j := range queue.Jobs {
			job := &queue.Jobs[j]
			n := &namer{view: v, contract: &job.Contract, byShape: byShape, taken: taken, names: map[string]string{}}
			seen := jobView{Job: job, queue: queue.Queue, contract: &job.Contract, payload: n.rename(*job.Contract.Payload)}
			if job.Contract.Result != nil {
				result := n.rename(*job.Contract.Result)
				seen.result = &result
			}
			queue.jobs = append(queue.jobs, seen)
		}
		v.queues = append(v.queues, queue)
	}
	return v
}

// reserved are names that mean something in what is written.
var reserved = []string{"Readonly", "Record", "Promise", "Emq", "EchoMQ", "Kernel", "String", "Map", "List", "Enum"}

// structOf returns the struct of the given name.
func (v *view) structOf(name string) ir.WireStruct {
	for _, s := range v.structs {
		if s.Name == name {
			return s
		}
	}
	return ir.WireStruct{}
}

// sent returns the names of the structs of which payloads consist.
func (v *view) sent() map[string]bool {
	sent := map[string]bool{}
	var visit func(t *ir.WireType)
	visit = func(t *ir.WireType) {
		for t.Elem != nil {
			t = t.Elem
		}
		if t.Kind != ir.WireStructRef || sent[t.Name] {
			return
		}
		sent[t.Name] = true
		fields := v.structOf(t.Name).Fields
		for i := range fields {
			visit(&fields[i].Type)
		}
	}
	for _, queue := range v.queues {
		for i := range queue.jobs {
			visit(&queue.jobs[i].payload)
		}
	}
	return sent
}

// namer enters the structs of one contract into a view.
type namer struct {
	*view
	contract *ir.Contract
	byShape  map[string]string
	taken    map[string]bool
	names    map[string]string // in the contract to in the view
}

func (n *namer) rename(t ir.WireType) ir.WireType {
	if t.Kind == ir.WireStructRef {
		t.Name = n.enter(t.Name)
	}
	if t.Elem != nil {
		elem := n.rename(*t.Elem)
		t.Elem = &elem
	}
	return t
}

// enter returns the name in the view of a struct of the contract. Structs of two
// contracts that look alike, with all that they consist of, are one.
func (n *namer) enter(name string) string {
	if known := n.names[name]; known != "" {
		return known
	}
	shape := n.shape(name)
	if known := n.byShape[shape]; known != "" {
		n.names[name] = known
		return known
	}
	base := strings.ToUpper(name[:1]) + name[1:]
	unique := base
	for i := 2; n.taken[unique]; i++ {
		unique = fmt.Sprintf("%s%d", base, i)
	}
	n.byShape[shape], n.taken[unique], n.names[name] = unique, true, unique
	at := len(n.structs)
	n.structs = append(n.structs, ir.WireStruct{Name: unique})
	var fields []ir.WireField
	for _, field := range n.contract.Struct(name).Fields {
		field.Type = n.rename(field.Type)
		fields = append(fields, field)
	}
	n.structs[at].Fields = fields
	return unique
}

// shape spells a struct with all that it consists of.
func (n *namer) shape(name string) string {
	var b strings.Builder
	seen := map[string]bool{}
	var write func(name string)
	var writeType func(t ir.WireType)
	writeType = func(t ir.WireType) {
		fmt.Fprintf(&b, "(%s %s %s %d", t.Kind, t.Path, t.Name, t.Len)
		if t.Key != nil {
			writeType(*t.Key)
		}
		if t.Elem != nil {
			writeType(*t.Elem)
		}
		b.WriteByte(')')
		if t.Kind == ir.WireStructRef {
			write(t.Name)
		}
	}
	write = func(name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		fmt.Fprintf(&b, "{%s", name)
		for _, f := range n.contract.Struct(name).Fields {
			fmt.Fprintf(&b, " %q %t", f.Name, f.Optional)
			writeType(f.Type)
		}
		b.WriteByte('}')
	}
	write(name)
	return b.String()
}

// uniquePart is a field of a unique key, by names on the wire.
type uniquePart struct {
	Path     []string
	Form     string
	Nullable bool
}

// uniqueParts returns what makes two jobs the same.
func (j jobView) uniqueParts() []uniquePart {
	var parts []uniquePart
	for _, field := range j.Unique.Fields {
		part := uniquePart{Form: uniqueForms[field.Form], Nullable: len(field.Pointers) > 0}
		at := j.contract.Payload
		for _, name := range field.Path {
			for at.Kind == ir.WireNullable {
				at = at.Elem
			}
			found := fieldByGoName(j.contract.Struct(at.Name), name)
			if found == nil {
				continue // an embedded struct, whose fields stand in the outer one
			}
			part.Path = append(part.Path, found.Name)
			at = &found.Type
		}
		parts = append(parts, part)
	}
	return parts
}

func fieldByGoName(s *ir.WireStruct, name string) *ir.WireField {
	if s == nil {
		return nil
	}
	for i := range s.Fields {
		if s.Fields[i].GoName == name {
			return &s.Fields[i]
		}
	}
	return nil
}

var uniqueForms = map[ir.UniqueForm]string{
	ir.UniqueBool: "bool", ir.UniqueInt: "int", ir.UniqueUint: "int", ir.UniqueText: "text",
	ir.UniqueBytes: "bytes", ir.UniqueTime: "time", ir.UniqueMarshaled: "text",
}

// The protocol's defaults, which are left out of opts.
const (
	defaultAttempts = 10
	defaultBase     = time.Second
	defaultCap      = time.Hour
	defaultTimeout  = 5 * time.Minute
	defaultStalls   = 3
	defaultLogs     = 100
)

// opts returns the settings of a job as they stand with it, or "".
func (j jobView) opts() string {
	opts := wire.Opts{
		Attempts: unless(j.Retry.Attempts, defaultAttempts), Stalls: unless(j.Retry.Stalls, defaultStalls),
		KeepCompleted: keep(j.Keep.Completed), KeepFailed: keep(j.Keep.Failed), KeepLogs: unless(j.Keep.Logs, defaultLogs),
		Timeout: unless(time.Duration(j.Timeout), defaultTimeout).Milliseconds(),
	}
	if j.Retry.NoStalls {
		opts.Stalls = -1
	}
	if j.Keep.NoLogs {
		opts.KeepLogs = -1
	}
	if j.NoLimit {
		opts.Timeout = -1
	}
	backoff := wire.BackoffOpts{
		Base: unless(time.Duration(j.Retry.Base), defaultBase).Milliseconds(),
		Cap:  unless(time.Duration(j.Retry.Cap), defaultCap).Milliseconds(),
	}
	if j.Retry.Backoff == "fixed" {
		backoff.Type = "fixed"
	}
	if j.Retry.Jitter == "none" {
		backoff.Jitter = "none"
	}
	if backoff != (wire.BackoffOpts{}) {
		opts.Backoff = &backoff
	}
	if opts == (wire.Opts{}) {
		return ""
	}
	encoded, _ := json.Marshal(opts) // numbers and words
	return string(encoded)
}

func unless[T comparable](value, usual T) T {
	var zero T
	if value == usual {
		return zero
	}
	return value
}

func keep(kept ir.Retention) *wire.KeepOpts {
	if kept == (ir.Retention{}) {
		return nil
	}
	return &wire.KeepOpts{None: kept.None, Age: time.Duration(kept.Age).Milliseconds(), Count: kept.Count}
}

// milliseconds rounds up.
func milliseconds(d ir.Duration) int64 {
	return (time.Duration(d) + time.Millisecond - 1).Milliseconds()
}

// events is the level of a queue.
func events(queue *ir.Queue) string {
	if queue.Events == "" {
		return "final"
	}
	return queue.Events
}
