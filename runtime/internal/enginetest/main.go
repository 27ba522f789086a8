package enginetest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"
)

// reportTimeout bounds the end of the audit, after the last test.
const reportTimeout = time.Minute

// Main runs the tests of a package and exits. After the tests it ends the
// shared engines and fails the run, if it had passed, when an auditor found a
// violation, when tests used an audited engine and no script was audited (a run
// narrowed with -run may do that), or when a goroutine is left.
//
// It also silences the client library, whose own log tells of every connection
// that a test cuts.
func Main(m *testing.M, leaks ...goleak.Option) {
	suite.mu.Lock()
	suite.running = true
	suite.engines = map[Kind]*shared{}
	suite.mu.Unlock()
	redis.SetLogger(silence{})

	code := m.Run()
	err := errors.Join(finish(narrowed()), goleak.Find(leaks...))
	if err != nil {
		fmt.Fprintf(os.Stderr, "enginetest: %v\n", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// narrowed reports whether -run or -skip leaves out tests, or -list all of them.
func narrowed() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != "" {
			return true
		}
	}
	return false
}

// finish ends the shared engines and returns the auditors' verdict.
func finish(narrowed bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), reportTimeout)
	defer cancel()
	suite.mu.Lock()
	suite.running = false
	engines := suite.engines
	suite.mu.Unlock()

	var problems []error
	for _, entry := range engines {
		for _, auditor := range entry.auditors {
			problems = append(problems, verdict(ctx, auditor, narrowed))
		}
		if entry.engine != nil && entry.engine.cluster == nil {
			problems = append(problems, entry.engine.close())
		}
	}
	if cluster := suite.cluster.engine; cluster != nil {
		problems = append(problems, cluster.close())
	}
	return errors.Join(problems...)
}

// verdict ends an auditor and tells what it found.
func verdict(ctx context.Context, auditor *Auditor, narrowed bool) error {
	report, err := auditor.Report(ctx)
	if err != nil {
		return err
	}
	fmt.Println("enginetest:", report)
	if narrowed && report.Commands == 0 && report.Violated == 0 {
		return nil
	}
	return report.Err()
}

// silence is a logger that drops everything.
type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}
