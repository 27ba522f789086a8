package gen_test

// This file damages directives at random. Either somebody says so, at the line
// that is damaged, or what is understood is exactly what a second reading of the
// grammar says.

import (
	"fmt"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"

	"github.com/echomq/echomq-go/annotations"
	"github.com/echomq/echomq-go/gen/internal/build"
	"github.com/echomq/echomq-go/gen/internal/load"
	"github.com/echomq/echomq-go/gen/internal/validate"
	"github.com/echomq/echomq-go/gen/ir"
)

// wholeParts are the name and the items of a directive, each with the space
// behind it; smallParts are their words and signs.
var (
	wholeParts = regexp.MustCompile("(?:\"(?:\\\\.|[^\"\\\\])*\"|`[^`]*`|[^\\s])+\\s*")
	smallParts = regexp.MustCompile("\"(?:\\\\.|[^\"\\\\])*\"|`[^`]*`|[=,]|\\s+|[^\\s=,]+")
)

// The time that understanding one package may take.
const patience = 10 * time.Second

const restOfPackage = `type Welcome struct {
	UserID  int64
	Tenant  string
	Address Address
	Tags    []string
}

type Address struct {
	City string
	Zip  int
}

type Receipt struct{ MessageID string }

type Percent struct{ Done int }

func scheduleWelcome(slot time.Time) (Welcome, error) { return Welcome{}, nil }

func scheduleGreeting(slot time.Time) (Welcome, error) { return Welcome{}, nil }
`

// inPackage returns the source of a package with directives, the first of them
// above the package clause, and the line in which each stands.
func inPackage(lines []string, above int) (source string, at []int) {
	const header = "package mail\n\nimport \"time\"\n\n"
	for i := range lines {
		at = append(at, i+1)
		if i >= above {
			at[i] += strings.Count(header, "\n")
		}
	}
	return strings.Join(append(lines[:above:above], header+strings.Join(lines[above:], "\n")), "\n") + "\n" + restOfPackage, at
}

// understood is what the generator makes of a package.
type understood struct {
	queue       ir.Queue
	job         ir.Job
	diagnostics []annotations.Diagnostic
	panicked    string
}

// understand takes the source through every step before code is emitted.
func understand(source string) (u understood) {
	defer func() {
		if r := recover(); r != nil {
			u.panicked = fmt.Sprintf("%v\n%s", r, debug.Stack())
		}
	}()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "mail.go", source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		u.panicked = err.Error() // whatever a comment says, the file is Go
		return u
	}
	report := annotations.NewReporter(files)
	facts := annotations.Scan(load.Syntax([]*load.File{{File: file, Path: "mail.go"}}), report)
	if len(report.Diagnostics()) == 0 {
		facts.Check(report)
	}
	if u.diagnostics = report.Diagnostics(); len(u.diagnostics) > 0 {
		return u
	}
	in := build.Input{Source: &load.Source{
		Meta: &packages.Package{PkgPath: "example.com/mail", Name: "mail"}, Name: "mail", Files: []*load.File{{File: file, Path: "mail.go"}},
	}, Facts: facts}
	in.Types = load.Resolve(files, []load.Root{{Source: in.Source, Names: build.Mentioned(facts)}})[0]
	pkg := build.Package(in, report)
	report.Add(validate.Package(pkg, "")...)
	if u.diagnostics = report.Diagnostics(); len(u.diagnostics) == 0 {
		u.queue, u.job = settings(pkg)
	}
	return u
}

// settings returns what of a package directives say, without where they say it
// and without what its types say.
func settings(pkg *ir.Package) (ir.Queue, ir.Job) {
	queue := pkg.Queues[0]
	job := queue.Jobs[0]
	queue.Jobs, queue.Pos, queue.NamePos = nil, ir.Position{}, ir.Position{}
	for i := range queue.Retired {
		queue.Retired[i].Pos, queue.Retired[i].End = ir.Position{}, ir.Position{}
	}
	job.Pos, job.NamePos, job.VersionPos, job.Doc, job.Payload, job.Contract = ir.Position{}, ir.Position{}, ir.Position{}, "", ir.Payload{}, ir.Contract{}
	for _, result := range []*ir.Result{job.Result, job.Progress} {
		if result != nil {
			*result = ir.Result{Type: result.Type}
		}
	}
	for i := range job.Was {
		job.Was[i].Pos, job.Was[i].End = ir.Position{}, ir.Position{}
	}
	if job.Unique != nil {
		for i := range job.Unique.Fields {
			job.Unique.Fields[i] = ir.UniqueField{Path: job.Unique.Fields[i].Path}
		}
	}
	if job.Group != nil {
		job.Group = &ir.UniqueField{Path: job.Group.Path}
	}
	return queue, job
}

// inTime understands a source, or fails where that takes for ever.
func inTime(t *testing.T, source, again string) understood {
	t.Helper()
	done := make(chan understood, 1)
	go func() { done <- understand(source) }()
	select {
	case u := <-done:
		require.Empty(t, u.panicked, "%s\n%s", again, source)
		return u
	case <-time.After(patience):
		t.Fatalf("it takes more than %s; %s\n%s", patience, again, source)
		return understood{}
	}
}

// agree holds what the generator understood against the second reading of the
// same lines, and returns whether it was refused.
func agree(t *testing.T, lines []string, above int, again string) (refused bool) {
	t.Helper()
	source, at := inPackage(lines, above)
	r, u := readDirectives(lines), inTime(t, source, again)
	again += "\n" + source
	if len(r.wrong) == 0 && len(u.diagnostics) == 0 {
		// The defaults of the form in which the generator has them.
		if r.job.Codec == "json" {
			r.job.Codec = ""
		}
		require.Equal(t, r.queue, u.queue, again)
		require.Equal(t, r.job, u.job, again)
		return false
	}
	require.NotEmpty(t, u.diagnostics, "nothing is said about %v; %s", r.wrong, again)
	for _, d := range u.diagnostics {
		expected := false
		for line := range at {
			expected = expected || at[line] == d.Pos.Line && (r.wrong[line] != "" || len(r.wrong) == 0 && r.unsure[line])
		}
		require.True(t, expected, "%s\nwhere %v is wrong; %s", d, r.wrong, again)
	}
	return true
}

// TestDamage damages one line of directives that are right. EMQ_MUTATIONS is how
// often, and EMQ_SEED the first seed.
func TestDamage(t *testing.T) {
	t.Parallel()
	first, count := fromEnvironment(t, "EMQ_SEED", 1), fromEnvironment(t, "EMQ_MUTATIONS", 1500)
	refused, unchanged, changed, wrongBefore := 0, 0, 0, 0
	for seed := first; seed < first+count; seed++ {
		again := fmt.Sprintf("run again with EMQ_SEED=%d EMQ_MUTATIONS=1", seed)
		s := sentences{rand.New(rand.NewPCG(uint64(seed), 0))}
		lines, above := s.write()
		if agree(t, lines, above, again) { // a contradiction, or a value that is wrong
			wrongBefore++
			for len(readDirectives(lines).wrong) > 0 {
				lines, above = s.write()
			}
			require.False(t, agree(t, lines, above, again))
		}
		before := append([]string(nil), lines...)
		at := s.IntN(len(lines))
		lines[at] = s.damage(lines[at])
		switch wrong := agree(t, lines, above, again+"; before: "+before[at]); {
		case wrong:
			refused++
		case sameSettings(readDirectives(before), readDirectives(lines)):
			unchanged++
		default:
			changed++
		}
	}
	t.Logf("%d refused, %d understood as something else, %d as the same; %d were wrong before", refused, changed, unchanged, wrongBefore)
	if count >= 1000 {
		require.Greater(t, min(refused, changed, unchanged, wrongBefore), int(count)/100, "too few of one kind")
	}
}

func sameSettings(a, b *reading) bool {
	return fmt.Sprintf("%+v", a.said) == fmt.Sprintf("%+v", b.said) && assert.ObjectsAreEqual(a.queue, b.queue) && assert.ObjectsAreEqual(a.job, b.job)
}

func fromEnvironment(t *testing.T, name string, otherwise int64) int64 {
	t.Helper()
	value, set := os.LookupEnv(name)
	if !set {
		return otherwise
	}
	n, err := strconv.ParseInt(value, 10, 64)
	require.NoError(t, err, name)
	return n
}

// TestVocabulary holds that the sentences have each item of the table.
func TestVocabulary(t *testing.T) {
	t.Parallel()
	items := 0
	for _, spec := range annotations.Directives() {
		for _, item := range spec.Items {
			items++
			require.NotEmpty(t, vocabulary[spec.Name+" "+item.Key], "%s %s", spec.Name, item.Key)
		}
	}
	require.Len(t, vocabulary, items)
}
