package gen_test

// This file walks the table of directives: each directive in each place where it
// may not stand, and each item missing, doubled, empty, misspelled, with values
// and units that are wrong. What is said about each stands in testdata/matrix, a
// file a directive, to be read by people, and what the fixes give that are
// proposed; with -update it is written anew. A cell without an entry fails, and so
// does an entry without a cell.

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/annotations"
	"github.com/echomq/echomq-go/gen"
)

const matrixDir = "../testdata/matrix"

// cell is one way of writing a directive wrongly.
type cell struct {
	// title is unique among the cells of a directive.
	title string
	// file is the name of the file that is wrong; empty for mail.go.
	file string
	// source is its content. The line that is wrong is the one that contains
	// damaged.
	source, damaged string
	// column is where in its line the mistake begins at the earliest; 0 for
	// anywhere.
	column int
	// codes are the rules of which one must be what is broken; none where nothing
	// is wrong.
	codes []string
}

func TestMatrix(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(root, "go.mod"), []byte(casesGoMod), 0o644))
	cells, said, fixed := map[string][]cell{}, map[string]outcome{}, map[string]string{}
	for _, spec := range annotations.Directives() {
		cells[spec.Name] = matrixOf(&spec)
		for i, c := range cells[spec.Name] {
			if c.file == "" {
				u := inTime(t, c.source, c.title)
				said[cellDir(&spec, i)] = outcome{errorsFile: printed(u.diagnostics)}
				fixed[cellDir(&spec, i)] = c.fixes(t, u.diagnostics)
				continue
			}
			require.NoError(t, writeTree(filepath.Join(root, cellDir(&spec, i)), c.files()))
		}
	}
	// Only what is about whole packages needs packages on disk.
	result, err := gen.Run(context.Background(), gen.Options{Dir: root, Patterns: []string{"./..."}})
	require.NoError(t, err)
	maps.Copy(said, outcomes(root, result))
	everything := ""
	for _, o := range said {
		everything += o[errorsFile]
	}
	for _, rule := range annotations.Rules() {
		// The others are about several directives, types, names and locks, or emqvet's.
		if rule.Code < "E030" {
			require.Contains(t, everything, "("+rule.Code+")\n", "no cell breaks the rule")
		}
	}
	for _, spec := range annotations.Directives() {
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			page, titles := &strings.Builder{}, map[string]bool{}
			fmt.Fprintf(page, "Ways to write //emq:%s wrongly, and what is then said.\nWritten by go test ./gen -run TestMatrix -update, to be read.\n", spec.Name)
			for i, c := range cells[spec.Name] {
				require.False(t, titles[c.title], "there are two cells called %q", c.title)
				titles[c.title] = true
				errors := said[cellDir(&spec, i)][errorsFile]
				c.judge(t, errors)
				c.print(page, errors)
				page.WriteString(fixed[cellDir(&spec, i)])
			}
			compareGolden(t, filepath.Join(matrixDir, spec.Name+".txt"), page.String())
		})
	}
	t.Cleanup(func() {
		found, err := filepath.Glob(filepath.Join(matrixDir, "*"))
		require.NoError(t, err)
		require.Len(t, found, len(cells), "a file for no directive")
	})
}

// fixes applies what diagnostics propose, each alone, and returns the lines that
// it gives, with what is wrong then and was not before.
func (c *cell) fixes(t *testing.T, diagnostics []annotations.Diagnostic) string {
	t.Helper()
	lines := ""
	for _, d := range diagnostics {
		if d.Replacement == "" {
			continue
		}
		source := fix(t, c.source, d)
		after := inTime(t, source, c.title).diagnostics
		lines += "  mended: " + strings.Split(source, "\n")[d.Pos.Line-1] + "\n"
		for line := range strings.Lines(mended(t, c.title, d, diagnostics, after)) {
			lines += "  " + line
		}
	}
	return lines
}

// printed returns diagnostics as they are printed, a line each.
func printed(diagnostics []annotations.Diagnostic) string {
	var lines strings.Builder
	for _, d := range diagnostics {
		lines.WriteString(d.String() + "\n")
	}
	return lines.String()
}

func cellDir(spec *annotations.Spec, i int) string { return fmt.Sprintf("%s%03d", spec.Name, i) }

// compareGolden compares what is with what a file says, or writes the file.
func compareGolden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run with -update, and read what is then there")
	require.Equal(t, string(want), got)
}

// files are those of the package of a cell that is about more than one.
func (c *cell) files() map[string]string {
	return map[string]string{"mail.go": "//emq:queue name=mail\npackage mail\n\n//emq:job\ntype Welcome struct{}\n", c.file: c.source}
}

// judge holds what is known of the cell without its entry: which rules may be
// the broken one, and where.
func (c *cell) judge(t *testing.T, errors string) {
	t.Helper()
	if len(c.codes) == 0 {
		assert.Empty(t, errors, "%s: %s", c.title, c.damaged)
		return
	}
	line, text := 0, ""
	for i, l := range strings.Split(c.source, "\n") {
		if strings.Contains(l, c.damaged) {
			line, text = i+1, l // the last one, of two
		}
	}
	begins := strings.Index(text, c.damaged) + 1
	fits := false
	for said := range strings.Lines(errors) {
		place := placeOf.FindStringSubmatch(said)
		at, _ := strconv.Atoi(place[1])
		column, _ := strconv.Atoi(place[2])
		assert.True(t, at == line || at == line-1 && c.file != "", "%s: the mistake is in line %d of\n%s\n%s", c.title, line, c.source, errors)
		assert.GreaterOrEqual(t, column, c.column, "%s: the mistake is further right in %s\n%s", c.title, c.damaged, errors)
		assert.Less(t, column, begins+len(c.damaged)+1, "%s: %s\n%s", c.title, c.damaged, errors)
		fits = fits || slices.Contains(c.codes, place[3])
	}
	assert.True(t, fits, "%s: %s should break one of %v\n%s", c.title, c.damaged, c.codes, errors)
}

// placeOf finds the line, the column and the code of a mistake.
var placeOf = regexp.MustCompile(`^[a-z_]+\.go:([0-9]+):([0-9]+): .* \((E[0-9]{3})\)\n$`)

// print writes the entry of the cell: the lines that matter, and what is said.
func (c *cell) print(page *strings.Builder, errors string) {
	fmt.Fprintf(page, "\n%s\n", c.title)
	lines := strings.Split(c.source, "\n")
	for i, line := range lines {
		if strings.Contains(line, c.damaged) {
			fmt.Fprintf(page, "    %s\n", line)
			if i+1 < len(lines) && c.column == 0 {
				fmt.Fprintf(page, "    %s\n", lines[i+1])
			}
		}
	}
	for line := range strings.Lines(errors) {
		fmt.Fprintf(page, "  %s", line)
	}
	if errors == "" {
		page.WriteString("  fine\n")
	}
}

// matrixOf returns the cells of a directive.
func matrixOf(spec *annotations.Spec) []cell {
	cells := slices.Concat(placeCells(spec), nameCells(spec), lineCells(spec))
	for i := range spec.Items {
		cells = append(cells, itemCells(spec, &spec.Items[i])...)
	}
	return cells
}

// host returns a package in which a line with the directive stands in its place,
// and everything that it mentions.
func host(spec *annotations.Spec, line string) string {
	above, below := "//emq:queue name=mail\n", "//emq:job\n"
	switch {
	case spec.Name == "queue":
		above = line + "\n"
	case spec.On == annotations.OnPackage:
		above += line + "\n"
	case spec.Name == "job":
		below = line + "\n"
	default:
		below += line + "\n"
	}
	return above + "package mail\n\n" + below + payload(spec)
}

func payload(spec *annotations.Spec) string {
	if spec.Name == "cron" {
		return "type Welcome struct{}\n"
	}
	return "type Welcome struct {\n\tUserID int64\n\tTenant string\n\tTags   []string\n}\n\ntype Receipt struct{ MessageID string }\n"
}

// written returns an item as one may write it.
func written(item *annotations.Item) string {
	if item.Key == "" {
		return sample(item)
	}
	return item.Key + "=" + sample(item)
}

// sample returns a value of an item.
func sample(item *annotations.Item) string {
	switch item.Kind {
	case annotations.KindQueueName:
		return "mail"
	case annotations.KindWireName:
		return "Hello"
	case annotations.KindGoName:
		return "Greeting"
	case annotations.KindTypeName:
		return "Receipt"
	case annotations.KindDuration:
		return "2s"
	case annotations.KindInt:
		return fmt.Sprint(max(item.Min, 1))
	case annotations.KindWord:
		return item.Words[0]
	case annotations.KindKeep:
		return "24h,1000"
	case annotations.KindRate:
		return "100/1s"
	case annotations.KindField:
		return "UserID"
	case annotations.KindCron:
		return `"0 9 * * mon-fri"`
	case annotations.KindZone:
		return "Europe/Berlin"
	case annotations.KindSchedulerID:
		return "morning"
	case annotations.KindWas:
		return "Hello"
	}
	panic(fmt.Sprintf("a value of kind %d is missing", item.Kind))
}

// lineWithout returns a directive with all that it needs but one item, to which
// others can be added.
func lineWithout(spec *annotations.Spec, without *annotations.Item) string {
	line := "//" + annotations.Prefix + spec.Name
	for i := range spec.Items {
		item := &spec.Items[i]
		// A schedule needs one of two items, neither of which is required.
		needed := item.Required || spec.Name == "cron" && item.Key == "" && (without == nil || without.Key != "every")
		if needed && (without == nil || item.Key != without.Key) {
			line += " " + written(item)
		}
	}
	return line
}

// whole returns a directive that says something.
func whole(spec *annotations.Spec) string {
	line := lineWithout(spec, nil)
	if !strings.Contains(line, " ") && !spec.Bare {
		line += " " + written(&spec.Items[0])
	}
	return line
}
