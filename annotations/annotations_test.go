package annotations_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/annotations"
)

// scan reads the directives of one file.
func scan(t testing.TB, source string) (*annotations.Facts, []annotations.Diagnostic) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "mail.go", source, parser.ParseComments|parser.SkipObjectResolution)
	require.NoError(t, err)
	report := annotations.NewReporter(files)
	facts := annotations.Scan([]*ast.File{file}, report)
	if len(report.Diagnostics()) == 0 {
		facts.Check(report)
	}
	return facts, report.Diagnostics()
}

func TestScan(t *testing.T) {
	t.Parallel()
	facts, diagnostics := scan(t, `// Package mail.
//
//emq:queue name=mail concurrency=32 lease=1m
package mail

//emq:keep failed=14d completed=1000,24h
//emq:job timeout=none name="welcome mail" priority=3
//emq:retry attempts=5 stalls=none
type Welcome struct{}
`)
	require.Empty(t, diagnostics)
	require.Len(t, facts.Queues, 1)
	queue := facts.Queues[0]
	require.Equal(t, "mail", queue.Text("name"))
	require.Equal(t, 32, queue.Int("concurrency"))
	require.Equal(t, time.Minute, queue.Duration("lease"))
	require.Equal(t, "Mail", annotations.QueueGoName(queue))

	require.Len(t, facts.Jobs, 1)
	job := facts.Jobs[0]
	require.Equal(t, "Welcome", job.GoName())
	require.Equal(t, "welcome mail", job.WireName())
	require.Same(t, queue, facts.QueueOf(job))
	require.True(t, job.Directive("job").Off("timeout"))
	require.True(t, job.Directive("retry").Off("stalls"))
	require.False(t, job.Directive("retry").Has("cap"))
	require.Nil(t, job.Directive("result"))
	require.Empty(t, job.Directive("result").Text(""))
	completed := job.Directive("keep").Argument("completed").Values
	require.Equal(t, 1000, completed[0].Int)
	require.Equal(t, 24*time.Hour, completed[1].Duration)
	require.Equal(t, 14*24*time.Hour, job.Directive("keep").Duration("failed"))
}

// TestEnds holds that a diagnostic spans the offending text, for tools that
// mark it or mend it.
func TestEnds(t *testing.T) {
	t.Parallel()
	source := "//emq:queue name=mail\npackage mail\n\n//emq:job timout=30s delay=soon\ntype A struct{}\n"
	_, diagnostics := scan(t, source)
	var spans []string
	for _, d := range diagnostics {
		spans = append(spans, source[d.Pos.Offset:d.End.Offset])
	}
	require.Equal(t, []string{"timout", "soon"}, spans)
}

func TestParseDuration(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"30s": 30 * time.Second, "1h30m": 90 * time.Minute, "14d": 336 * time.Hour, "1d12h": 36 * time.Hour,
		"1.5s": 1500 * time.Millisecond, "0": 0, "0d": 0, "106751d": 106751 * 24 * time.Hour,
	} {
		got, err := annotations.ParseDuration(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "30", "-1s", "-1d", "1us", "106752d", "99999999999999999999d", "106751d24h", "1w", "d", "1d-1h", "1d-0h", "1d+2h", "1 s"} {
		_, err := annotations.ParseDuration(text)
		require.Error(t, err, text)
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	candidates := []string{"attempts", "backoff", "base", "cap"}
	for word, want := range map[string]string{
		"attemps": "attempts", "attmepts": "attempts", "ATTEMPTS": "attempts", "bas": "base", "cpa": "cap", "retries": "", "x": "", "": "",
		"att": "attempts", "ba": "", "backing": "", "basement": "base", "capped": "cap",
	} {
		require.Equal(t, want, annotations.Nearest(word, candidates), word)
	}
	require.Empty(t, annotations.Nearest(strings.Repeat("x", 1<<20), candidates), "at once")
}

// TestTable holds that the table is complete enough to print help from.
func TestTable(t *testing.T) {
	t.Parallel()
	for _, spec := range annotations.Directives() {
		require.Regexp(t, `^[a-z]+$`, spec.Name)
		require.True(t, strings.HasSuffix(spec.Doc, "."), spec.Name)
		require.Equal(t, "//"+annotations.Prefix+spec.Name, strings.Fields(spec.Example)[0])
		_, diagnostics := scan(t, exampleOf(spec))
		require.Empty(t, diagnostics, spec.Example)
		keys := map[string]bool{}
		for _, item := range spec.Items {
			title := spec.Name + " " + item.Key
			require.False(t, keys[item.Key], title)
			keys[item.Key] = true
			require.True(t, strings.HasSuffix(item.Doc, "."), title)
			require.True(t, item.Required != (item.Default != ""), "%s: an item is required or has a default", title)
			if item.Kind == annotations.KindDuration && !strings.HasPrefix(item.Default, "no ") {
				_, err := annotations.ParseDuration(item.Default)
				require.NoError(t, err, title)
			}
			if item.Kind == annotations.KindWord && !item.Required {
				require.Contains(t, item.Words, item.Default, title)
			}
		}
	}
}

// exampleOf returns a package with the example of a directive in its place.
func exampleOf(spec annotations.Spec) string {
	source := map[string]string{"queue": "//emq:queue name=mail\n", "job": "//emq:job\n"}
	if spec.On == annotations.OnPackage && spec.Name != "queue" {
		source["queue"] += spec.Example + "\n"
	} else if source[spec.Name] != "" {
		source[spec.Name] = spec.Example + "\n"
	} else {
		source["job"] += spec.Example + "\n"
	}
	return source["queue"] + "package mail\n\n" + source["job"] + "type Welcome struct{}\n"
}

// FuzzScan holds that no directive makes the parser panic, that whatever was not
// understood is reported inside its line, and that every fix mends what it is for.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		"job", "job timeout=30s", "retry attempts=1 cap=2s", "keep completed=1,2", "result X", "queue name=", "jbo", "job name=\"x\" // y",
		"job timout=3s deadline:4s", "retry tries=4 base=2secs jitter=off", "cron @dayly tz=\"new york\"", "cron \"@every 3h\" misfire=none", "unique by=none until=done", "Task",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, directive string) {
		if strings.ContainsAny(directive, "\n\r") {
			return
		}
		source := "//emq:queue name=mail\npackage mail\n\n//emq:" + directive + "\ntype A struct{}\n"
		diagnostics, ok := everythingWrong(source)
		if !ok {
			return // not UTF-8, or a zero byte
		}
		for _, d := range diagnostics {
			require.NotContains(t, d.Message, "%!")
			if d.Pos.Line != 4 {
				continue
			}
			require.LessOrEqual(t, d.Pos.Offset, d.End.Offset)
			require.Equal(t, 4, d.End.Line, d.String())
			if d.Replacement == "" {
				continue
			}
			after, ok := everythingWrong(source[:d.Pos.Offset] + d.Replacement + source[d.End.Offset:])
			require.True(t, ok, "%s: %q", d, d.Replacement)
			for _, other := range after {
				require.False(t, other.Rule == d.Rule && other.Pos == d.Pos, "%s: %q gives %s", d, d.Replacement, other)
			}
		}
	})
}

// everythingWrong returns what is wrong with the source of a package, even where
// that cannot be known until other mistakes are mended; or that Go cannot read it.
func everythingWrong(source string) ([]annotations.Diagnostic, bool) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "mail.go", source, parser.ParseComments)
	if err != nil {
		return nil, false
	}
	report := annotations.NewReporter(files)
	facts := annotations.Scan([]*ast.File{file}, report)
	facts.Check(report)
	return report.Diagnostics(), true
}

// TestDependencies holds that the package stays pure: it links the standard
// library, the names of the wire and what reads cron expressions.
func TestDependencies(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	require.NoError(t, err)
	var others []string
	for path := range strings.FieldsSeq(string(out)) {
		if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") {
			others = append(others, path)
		}
	}
	require.Equal(t, []string{"github.com/robfig/cron/v3", "github.com/echomq/echomq-go/runtime/cron", "github.com/echomq/echomq-go/runtime/wire", "github.com/echomq/echomq-go/annotations"}, others)
}
