package main

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkHundredPackages times whole runs of emqgen in a module with a hundred
// packages of one job each, and fails where the fastest one takes longer than
// users are promised on a machine with two cores. Beside it stands what go tool
// emqgen costs the first time, when it has emqgen built, and then.
func BenchmarkHundredPackages(b *testing.B) {
	m := copyShop(b)
	for i := range 100 {
		m.write(fmt.Sprintf("many/p%d/mail.go", i), fmt.Sprintf("//emq:queue name=mail%d\npackage mail\n\nimport \"time\"\n\n//emq:job\n//emq:retry attempts=3\n//emq:result Receipt\ntype Welcome struct {\n\tUserID int64\n\tAt     time.Time\n}\n\ntype Receipt struct{ ID string }\n", i))
	}
	built := filepath.Join(m.dir, "bin", "emqgen")
	m.tool("go", "build", "-o", built, "github.com/echomq/echomq-go/cmd/emqgen")
	m.tool(built, "./many/...")
	written, err := filepath.Glob(filepath.Join(m.dir, "many", "*", "emq_gen.go"))
	require.NoError(b, err)
	require.Len(b, written, 100)

	anEmptyCache := func(b *testing.B) string { return "GOCACHE=" + b.TempDir() }
	theCache := func(*testing.B) string { return "" }
	for _, run := range []struct {
		name    string
		cache   func(*testing.B) string
		limit   time.Duration
		program []string
	}{
		{"warm", theCache, 600 * time.Millisecond, []string{built}},
		{"empty build cache", anEmptyCache, 3 * time.Second, []string{built}},
		{"go tool with an empty build cache", anEmptyCache, 0, []string{"go", "tool", "emqgen"}},
		{"go tool", theCache, 0, []string{"go", "tool", "emqgen"}},
	} {
		b.Run(run.name, func(b *testing.B) {
			before := m.files()
			var fastest, processors time.Duration
			runs := 0
			for b.Loop() {
				command := m.command(run.program[0], append(run.program[1:], "./many/...")...)
				if cache := run.cache(b); cache != "" {
					command.Env = append(command.Env, cache)
				}
				start := time.Now()
				out, err := command.CombinedOutput()
				took := time.Since(start)
				require.NoError(b, err, "%s", out)
				if fastest == 0 || took < fastest {
					fastest = took
				}
				processors += command.ProcessState.UserTime() + command.ProcessState.SystemTime()
				runs++
			}
			require.Equal(b, before, m.files(), "a run that changes nothing writes nothing")
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(b.Elapsed().Seconds()/float64(runs), "s/op")
			b.ReportMetric(fastest.Seconds(), "s/fastest")
			b.ReportMetric(processors.Seconds()/float64(runs), "cpu-s/op")
			if run.limit > 0 && fastest > run.limit {
				b.Errorf("the fastest run took %v, and %v are promised", fastest, run.limit)
			}
		})
	}
}
