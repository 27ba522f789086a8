package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/monitor"
	"github.com/echomq/echomq-go/runtime/wire"
)

// stageTimeout bounds each step of the probe.
const stageTimeout = 15 * time.Second

// Target is what is probed.
type Target struct {
	// Options say how to reach the server; any node of a cluster will do.
	Options *redis.Options
	// Engine describes a server that was started for the probe; "" for one that
	// runs elsewhere.
	Engine string
	// Queue is the queue.
	Queue wire.Queue
	// Bundle is the scripts that are to run; [Embedded] for those of this build.
	Bundle *Bundle
}

// Probe runs jobs on a queue that is not in use and judges what the engine did.
// After each step it calls show with the report so far, whose last step is the
// new one; an error of show ends the probe. When it returns it has deleted what
// it made, also when ctx has ended.
func Probe(ctx context.Context, target Target, show func(*Report) error) *Report {
	p := &probe{target: target, judge: newJudge(target.Queue), report: newReport(target)}
	p.report.settle(p.judge, p.run(ctx, show))
	return p.report
}

func newReport(target Target) *Report {
	return &Report{
		Engine: target.Engine, Embedded: target.Engine != "",
		Queue: target.Queue.Name(), Slot: wire.Slot(target.Queue.Key("meta")),
		Bundle: target.Bundle.Dir, Notes: slices.Clone(target.Bundle.Notes), Steps: []Step{},
	}
}

// settle gives the verdict. A point that is broken is broken, whatever else
// went wrong.
func (r *Report) settle(j *judge, err error) {
	r.Points = j.points()
	switch {
	case j.faulty():
		r.Verdict = Violates
		if err != nil {
			r.Notes = append(r.Notes, "the probe ended early: "+err.Error())
		}
	case err != nil:
		r.Verdict, r.Reason = Unknown, err.Error()
	default:
		r.Verdict = Conforms
		for _, point := range r.Points {
			if point.Verdict == Unknown {
				r.Verdict, r.Reason = Unknown, fmt.Sprintf("nothing was seen that shows point %d", point.Number)
			}
		}
	}
}

// probe is a probe that runs.
type probe struct {
	target   Target
	judge    *judge
	report   *Report
	clients  *clients
	book     *ledger
	captures []*capture
	written  []string

	mu    sync.Mutex
	later []refusal // not judged yet
}

// refusal is an error that an engine or a script answered, and that breaks a
// point.
type refusal struct {
	point int
	err   error
}

func (p *probe) run(ctx context.Context, show func(*Report) error) (err error) {
	if p.clients, err = connect(ctx, p.target.Options); err != nil {
		return err
	}
	defer p.clients.admin.Close()
	if p.report.Engine == "" {
		p.report.Engine = p.clients.engine
	}
	home, err := moveIn(ctx, p.clients.admin, p.target.Queue)
	if err != nil {
		return err
	}
	p.book = newLedger(p.target.Bundle)
	watch := sorter{
		tag: "{" + p.target.Queue.Name() + "}", names: p.target.Bundle.names,
		book: p.book, tool: p.clients.tool, own: p.clients.own,
		outside: []string{wire.StoreVersionKey, wire.StoreQueuesKey, p.target.Queue.LegacyMetaKey(legacyPrefix)},
	}
	p.captures, err = watchNodes(ctx, p.clients, p.report, watch, p.target.Queue.Key("meta"),
		wire.StoreVersionKey, p.target.Queue.LegacyMetaKey(legacyPrefix))
	defer closeAll(p.captures)
	if err != nil {
		return err
	}
	ctx, refuse := context.WithCancelCause(ctx)
	defer refuse(nil)
	p.book.refused = func(err error) { p.answered(err, refuse) }

	trip := newTrip(p.target.Queue, p.clients.runtimeStore(p.book), p.book)
	trip.fail = refuse
	for _, c := range p.captures {
		go func() {
			<-c.ended
			refuse(c.broken())
		}()
	}
	err = p.tour(ctx, trip, show)
	if lost := p.lost(); lost != nil {
		trip.abandon()
		err = lost
	}
	ended := trip.close()
	if err == nil && ended == nil {
		err = p.conclude(ctx, show)
	}
	left, cleaned := home.moveOut(ctx, slices.Concat(p.book.declared(), p.written))
	if len(left) > 0 {
		p.report.Notes = append(p.report.Notes, fmt.Sprintf("keys that were written and are not the queue's were left: %q", left))
	}
	return errors.Join(err, ended, cleaned)
}

// lost returns why a node can be watched no longer, or nil.
func (p *probe) lost() error {
	var problems []error
	for _, c := range p.captures {
		problems = append(problems, c.broken())
	}
	return errors.Join(problems...)
}

// tour runs the steps.
func (p *probe) tour(ctx context.Context, trip *trip, show func(*Report) error) error {
	if err := trip.load(ctx); err != nil {
		return err
	}
	for _, stage := range stages {
		if err := p.stage(ctx, trip, stage); err != nil {
			return err
		}
		if err := show(p.report); err != nil {
			return err
		}
	}
	return nil
}

// conclude judges what the worker did as it stopped, and whether every call was
// seen.
func (p *probe) conclude(ctx context.Context, show func(*Report) error) error {
	looking, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTimeout)
	defer cancel()
	step, err := takeAll(looking, p.captures)
	step.Name, step.Doc = "stopped", "the worker looks a last time, so that it leaves nothing reserved"
	p.take(step)
	if unseen := p.book.unseen(); err == nil && unseen > 0 {
		err = fmt.Errorf("the engine executed %d calls that its MONITOR did not show", unseen)
	}
	return errors.Join(err, show(p.report))
}

// stage runs one step, and judges what the engine did in it, also if it failed.
func (p *probe) stage(ctx context.Context, trip *trip, stage stage) error {
	bounded, cancel := context.WithTimeoutCause(ctx, stageTimeout,
		fmt.Errorf("it did not come to its end in %v", stageTimeout))
	failed := stage.run(trip, bounded)
	if failed != nil && bounded.Err() != nil {
		failed = context.Cause(bounded)
	}
	cancel()
	if failed != nil {
		failed = fmt.Errorf("step %q: %w", stage.name, failed)
		if last := p.book.lastError(); last != nil && !strings.Contains(failed.Error(), last.Error()) {
			failed = fmt.Errorf("%w; %w", failed, last)
		}
	}
	if errors.Is(failed, echomq.ErrVersion) {
		p.judge.fault(5, nil, nil, "%v", failed)
	}
	looking, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTimeout)
	defer cancel()
	step, err := takeAll(looking, p.captures)
	step.Name, step.Doc = stage.name, stage.doc
	p.take(step)
	p.judgeRefusals()
	return errors.Join(failed, err, p.readVersion(looking))
}

// take judges a step and adds it to the report.
func (p *probe) take(step Step) {
	for i := range step.Transitions {
		p.judge.transition(&step.Transitions[i])
		p.written = append(p.written, step.Transitions[i].Wrote...)
	}
	for i := range step.Plain {
		p.judge.outside(&step.Plain[i])
		p.written = append(p.written, step.Plain[i].Wrote...)
	}
	p.report.Steps = append(p.report.Steps, step)
	p.report.Ignored = 0
	for _, c := range p.captures {
		p.report.Ignored += c.ignoredSoFar()
	}
}

// readVersion reads meta.version from the engine.
func (p *probe) readVersion(ctx context.Context) error {
	version, err := p.clients.admin.HGet(ctx, p.target.Queue.Key("meta"), wire.FieldVersion).Result()
	if errors.Is(err, redis.Nil) {
		return errors.New("the queue's meta has no version")
	}
	if err != nil {
		return fmt.Errorf("read meta.version: %w", err)
	}
	p.judge.meta(version, nil, nil)
	if version != wire.Version {
		return fmt.Errorf("the queue speaks %q", version)
	}
	return nil
}

// refusals are first words, or parts, of errors by which an engine says that a
// script touched a key that was not declared.
var refusals = []string{"undeclared key", "non local key", "keys that do not hash to the same slot", "don't hash to the same slot"}

// answered looks at an error that the engine answered to a call of the runtime.
// One that breaks a point ends the probe: no later step can make up for it.
func (p *probe) answered(err error, end context.CancelCauseFunc) {
	text := err.Error()
	point := 0
	switch {
	case strings.Contains(text, "EMQVERSION"):
		point = 5
	case slices.ContainsFunc(refusals, func(part string) bool { return strings.Contains(text, part) }):
		point = 4
	default:
		return
	}
	p.mu.Lock()
	p.later = append(p.later, refusal{point, err})
	p.mu.Unlock()
	end(err)
}

// judgeRefusals judges what the engine has refused.
func (p *probe) judgeRefusals() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, refusal := range p.later {
		p.judge.fault(refusal.point, nil, nil, "%v", refusal.err)
	}
	p.later = nil
}

// closeAll ends captures.
func closeAll(captures []*capture) {
	for _, c := range captures {
		c.close()
	}
}

// watchNodes begins to watch the nodes that own the given keys.
func watchNodes(ctx context.Context, c *clients, report *Report, s sorter, keys ...string) ([]*capture, error) {
	nodes, err := c.nodes(ctx, keys...)
	if err != nil {
		return nil, err
	}
	var captures []*capture
	for _, node := range nodes {
		report.Nodes = append(report.Nodes, node.Addr)
		watching, err := openCapture(ctx, node, s)
		if errors.Is(err, monitor.ErrRefused) {
			err = fmt.Errorf("%w: what the engine does cannot be seen; it must know MONITOR, and let this user run it", err)
		}
		if err != nil {
			return captures, err
		}
		captures = append(captures, watching)
		report.Notes = append(report.Notes, watching.substitute.note()...)
	}
	return captures, nil
}

// takeAll returns what all nodes have found since the last time.
func takeAll(ctx context.Context, captures []*capture) (Step, error) {
	var all Step
	var problems []error
	for _, c := range captures {
		found, err := c.take(ctx)
		all.Transitions = append(all.Transitions, found.Transitions...)
		all.Plain = append(all.Plain, found.Plain...)
		problems = append(problems, err)
	}
	return all, errors.Join(problems...)
}
