package fleet

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/echomq/echomq-go/runtime/wire"
)

// Config says what to run.
type Config struct {
	// Address is the store: redis://host:port, which may be a node of a cluster, or
	// unix:///path.
	Address string
	// Bundle is the directory of the scripts and their manifest.
	Bundle string
	// Peers take part beside the Go runtime.
	Peers []Command
	// Stock, where set, is the program that looks through stock BullMQ: called
	// with a queue and a job, it prints what testdata/peers/node/stock.js does.
	Stock *Command
	// Checks names those to run; default all.
	Checks []string
	// HelloTimeout is how long a peer may take to start; default 1 minute.
	HelloTimeout time.Duration
	// Timeout is how long it may take to answer, beside the time that it was
	// told to wait; default 20 s.
	Timeout time.Duration
}

// fleet is a run.
type fleet struct {
	config Config
	bundle bundle
	store  redis.UniversalClient
	id     string // of the run, in the names of its queues
	checks []check
	peers  []*peer
	report *Report
}

// Run starts the peers and puts each ordered pair of runtimes, the Go runtime
// and a runtime with itself included, through all checks.
//
// What goes wrong with a peer is in the report. The error tells why there is
// none: the bundle cannot be read, the store not be reached, a peer's name not be
// used, or ctx ended.
func Run(ctx context.Context, config Config) (*Report, error) {
	if config.HelloTimeout == 0 {
		config.HelloTimeout = time.Minute
	}
	if config.Timeout == 0 {
		config.Timeout = callTime
	}
	if err := checkNames(config.Peers); err != nil {
		return nil, err
	}
	chosen, err := choose(config.Checks)
	if err != nil {
		return nil, err
	}
	scripts, err := readBundle(config.Bundle)
	if err != nil {
		return nil, err
	}
	store, err := open(ctx, config.Address)
	if err != nil {
		return nil, err
	}
	f := &fleet{
		config: config, bundle: scripts, store: store,
		id:     strings.ToLower(rand.Text()[:8]),
		checks: chosen,
		report: &Report{Protocol: scripts.protocol},
	}
	defer f.store.Close()
	if f.report.Engine, err = engine(ctx, f.store); err != nil {
		return nil, err
	}
	f.start(ctx)
	defer f.stop()
	for _, one := range f.checks {
		f.report.Checks = append(f.report.Checks, Check{Name: one.name, Title: one.title})
	}
	for _, from := range f.peers {
		for _, to := range f.peers {
			f.report.Pairs = append(f.report.Pairs, f.pair(ctx, from, to))
		}
	}
	f.report.Runtimes = append(f.report.Runtimes, absent()...)
	f.report.Runtimes = append(f.report.Runtimes, f.lookThroughStock(ctx))
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	f.report.judge()
	return f.report, nil
}

func checkNames(peers []Command) error {
	seen := map[string]bool{GoName: true}
	for _, one := range peers {
		if _, err := wire.ParseQueue(one.Name); err != nil || len(one.Name) > 20 {
			return fmt.Errorf("peer %q: its name must have 1 to 20 letters, digits, '-' and '.'", one.Name)
		}
		if seen[one.Name] {
			return fmt.Errorf("peer %q: there are two of that name", one.Name)
		}
		seen[one.Name] = true
	}
	return nil
}

// choose returns the checks of the given names, in their order; all for none.
func choose(names []string) ([]check, error) {
	if len(names) == 0 {
		return checks, nil
	}
	for _, name := range names {
		if !slices.ContainsFunc(checks, func(one check) bool { return one.name == name }) {
			return nil, fmt.Errorf("check %q: there is none of that name", name)
		}
	}
	return slices.DeleteFunc(slices.Clone(checks), func(one check) bool { return !slices.Contains(names, one.name) }), nil
}

// start starts all peers at once.
func (f *fleet) start(ctx context.Context) {
	count := 1 + len(f.config.Peers)
	f.peers = make([]*peer, count)
	f.report.Runtimes = make([]Runtime, count)
	var group sync.WaitGroup
	for i := range count {
		group.Go(func() { f.peers[i], f.report.Runtimes[i] = f.join(ctx, i) })
	}
	group.Wait()
}

// join starts the i-th peer and greets it.
func (f *fleet) join(ctx context.Context, i int) (*peer, Runtime) {
	p, name, err := (*peer)(nil), GoName, error(nil)
	if i == 0 {
		p = launchGo()
	} else {
		name = f.config.Peers[i-1].Name
		p, err = launch(f.config.Peers[i-1], f.bundle.dir)
	}
	runtime := Runtime{Name: name, What: "peer", Standing: TookPart}
	var hello Answer
	if err == nil {
		hello, err = p.greet(ctx, f.config.Address, f.bundle, f.config.HelloTimeout)
	} else {
		p = &peer{name: name, broken: err}
	}
	if hello.Role != "" {
		runtime.What, runtime.Version = hello.Role, strings.TrimSpace(hello.Runtime+" "+hello.Version)
	}
	if err != nil {
		runtime.Standing, runtime.Note = CouldNotRun, strings.TrimPrefix(err.Error(), name+": ")
	}
	return p, runtime
}

func (f *fleet) stop() {
	var group sync.WaitGroup
	for _, p := range f.peers {
		if p.lines != nil {
			group.Go(func() { p.close(f.config.Timeout) })
		}
	}
	group.Wait()
}

// pair puts two runtimes through all checks.
func (f *fleet) pair(ctx context.Context, from, to *peer) Pair {
	pair := Pair{From: from.name, To: to.name}
	for i, one := range f.checks {
		pair.Results = append(pair.Results, f.check(ctx, i, one, from, to))
	}
	return pair
}

func (f *fleet) check(ctx context.Context, number int, one check, from, to *peer) Result {
	result := Result{Check: one.name, Status: CheckPassed}
	for _, p := range []*peer{from, to} {
		if p.broken != nil {
			result.Status, result.Note = CheckNotRun, p.name+" takes no part"
			return result
		}
	}
	b := f.bench(ctx, fmt.Sprintf("%d-%s-%s", number, from.name, to.name), from, to)
	one.run(b)
	if err := b.clean(f.store); err != nil && b.err == nil && ctx.Err() == nil {
		b.err = fmt.Errorf("removing the queue: %w", err)
	}
	var wrong *mismatch
	switch {
	case b.err == nil:
	case errors.As(b.err, &wrong):
		result.Status, result.Expected, result.Found = CheckFailed, wrong.expected, wrong.found
	default:
		result.Status, result.Expected, result.Found = CheckFailed, "an answer", b.err.Error()
	}
	return result
}

func (f *fleet) bench(ctx context.Context, name string, from, to *peer) *bench {
	return &bench{
		ctx: ctx, from: from, to: to, queue: fmt.Sprintf("fleet-%s-%s", f.id, name),
		long: f.bundle.long, timeout: f.config.Timeout,
	}
}
