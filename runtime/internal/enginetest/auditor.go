package enginetest

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/echomq/echomq-go/runtime/internal/monitor"
)

// Auditor watches an engine with MONITOR and proves that its scripts touch
// declared keys only. It slows the engine down; a test that pauses or kills its
// engine must not have one.
type Auditor struct {
	engine   string
	client   *redis.Client
	stream   *monitor.Stream
	audit    *audit
	baseline int // script calls that the server had counted before
	cancel   context.CancelFunc

	mark  string        // what the auditor echoes to find its place in the stream
	ended chan struct{} // closed when watch has returned
	err   error         // why, unless the mark was seen; read after ended
}

// Audit starts an auditor of an engine that the test owns. Take its report
// before the test ends.
func Audit(t testing.TB, e *Engine) *Auditor {
	t.Helper()
	auditor, err := newAuditor(t.Context(), e)
	if err != nil {
		t.Fatalf("audit %s: %v", e, err)
	}
	t.Cleanup(auditor.stop)
	return auditor
}

func newAuditor(ctx context.Context, e *Engine) (*Auditor, error) {
	options := e.Options()
	options.Protocol = 2
	client := redis.NewClient(options)
	auditor := &Auditor{
		engine: e.String(),
		client: client,
		audit:  newAudit(monitor.NewKeys(client)),
		mark:   "emq-audit-" + rand.Text(),
		ended:  make(chan struct{}),
	}
	calls, err := auditor.countedCalls(ctx)
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	auditor.baseline = calls
	if auditor.stream, err = monitor.Open(ctx, options); err != nil {
		return nil, errors.Join(err, client.Close())
	}
	var watching context.Context
	watching, auditor.cancel = context.WithCancel(context.Background())
	go auditor.watch(watching)
	return auditor, nil
}

// watch judges lines until it sees its mark or the connection ends.
func (a *Auditor) watch(ctx context.Context) {
	defer close(a.ended)
	mark := []byte(`"` + a.mark + `"`)
	for {
		line, err := a.stream.Next()
		if err == nil && bytes.HasSuffix(line, mark) {
			return
		}
		if err == nil {
			err = a.audit.line(ctx, line)
		}
		if err != nil {
			a.err = err
			return
		}
	}
}

// Report is what an auditor found.
type Report struct {
	// Engine is the engine that was watched.
	Engine string
	// Scripts counts the calls of each script, by its digest.
	Scripts map[string]int
	// Calls and Commands count the calls of scripts and the commands that
	// they ran.
	Calls, Commands int
	// Counted is how many calls the server itself counted meanwhile.
	Counted int
	// Violations are the first violations, and Violated counts all.
	Violations []Violation
	Violated   int
}

// Report waits until everything that the engine has run so far is judged, ends
// the auditor and returns what it found.
func (a *Auditor) Report(ctx context.Context) (Report, error) {
	counted, err := a.countedCalls(ctx)
	if err == nil {
		err = a.catchUp(ctx)
	}
	a.stop()
	if err != nil {
		return Report{}, fmt.Errorf("audit %s: %w", a.engine, err)
	}
	return Report{
		Engine:     a.engine,
		Scripts:    a.audit.scripts,
		Calls:      a.audit.calls,
		Commands:   a.audit.commands,
		Counted:    counted - a.baseline,
		Violations: a.audit.violations,
		Violated:   a.audit.violated,
	}, nil
}

// catchUp returns when everything that ran before it was judged.
func (a *Auditor) catchUp(ctx context.Context) error {
	if err := a.client.Echo(ctx, a.mark).Err(); err != nil {
		return err
	}
	select {
	case <-a.ended:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if errors.Is(a.err, io.EOF) {
		return errors.New("the engine closed the connection that was watched; no test may kill the clients of an engine that is audited")
	}
	return a.err
}

// stop ends the auditor. It may be called more than once.
func (a *Auditor) stop() {
	a.cancel()
	_ = a.stream.Close()
	<-a.ended
	_ = a.client.Close()
}

// countedCalls returns how many script calls the server has counted.
func (a *Auditor) countedCalls(ctx context.Context) (int, error) {
	text, err := a.client.Info(ctx, "commandstats").Result()
	if err != nil {
		return 0, err
	}
	total := 0
	for line := range strings.Lines(text) {
		name, stats, _ := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":")
		for _, command := range monitor.ScriptCommands() {
			if name != command {
				continue
			}
			digits, _, _ := strings.Cut(strings.TrimPrefix(stats, "calls="), ",")
			calls, err := strconv.Atoi(digits)
			if err != nil {
				return 0, fmt.Errorf("INFO commandstats: %q", line)
			}
			total += calls
		}
	}
	return total, nil
}
