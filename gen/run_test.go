package gen_test

import (
	"errors"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/imports"

	"github.com/echomq/echomq-go/annotations"
	"github.com/echomq/echomq-go/gen"
)

const simpleSource = `//emq:queue name=mail
package mail

// Welcome greets.
//
//emq:job timeout=30s
type Welcome struct{ UserID int64 }
`

// TestOutputIsFormatted holds that the tools which people run on save leave
// generated files alone, goimports with its look-ups included.
func TestOutputIsFormatted(t *testing.T) {
	t.Parallel()
	results, err := cases()
	require.NoError(t, err)
	checked := 0
	for name, outcome := range results {
		for file, content := range outcome {
			if !strings.HasSuffix(file, gen.Output) {
				continue
			}
			checked++
			formatted, err := format.Source([]byte(content))
			require.NoError(t, err)
			require.Equal(t, content, string(formatted), "%s %s: gofmt", name, file)
			processed, err := imports.Process(gen.Output, []byte(content), nil)
			require.NoError(t, err)
			require.Equal(t, content, string(processed), "%s %s: goimports", name, file)
		}
	}
	require.NotZero(t, checked)
}

// TestDeterminism runs on the same source five times. Each goes through hundreds
// of maps, whose order is another one each time.
func TestDeterminism(t *testing.T) {
	t.Parallel()
	found, err := readCases(casesDir)
	require.NoError(t, err)
	dir := newModule(t, nil)
	for _, c := range found {
		require.NoError(t, c.writeSource(filepath.Join(dir, c.name)))
	}
	first := run(t, dir)
	for range 4 {
		next := run(t, dir)
		require.Equal(t, first.Files, next.Files)
		require.Equal(t, first.Diagnostics, next.Diagnostics)
		require.Equal(t, first.Packages, next.Packages)
	}
}

// TestSurvivesBrokenPackages generates the same file whatever stands in its
// place, and whatever in the package does not compile.
func TestSurvivesBrokenPackages(t *testing.T) {
	t.Parallel()
	clean := newModule(t, map[string]string{"mail.go": simpleSource})
	var want string
	for _, content := range run(t, clean).Files {
		want = string(content)
	}
	require.NotEmpty(t, want)

	for name, files := range map[string]map[string]string{
		"calls what is not generated yet": {"use.go": "package mail\n\nimport \"context\"\n\nvar producer = NewMailProducer(nil)\n\nfunc use() { producer.EnqueueWelcome(context.Background(), Welcome{}) }\n\ntype handler struct{ MailHandler }\n\nvar _ MailHandler = handler{}\n"},
		"does not type-check":             {"use.go": "package mail\n\nfunc use() int { return undefined + \"\" }\n\ntype broken struct{ x Missing }\n"},
		"imports what does not exist":     {"use.go": "package mail\n\nimport \"example.com/nowhere\"\n\nvar _ = nowhere.X\n"},
		"unused import":                   {"use.go": "package mail\n\nimport \"os\"\n"},
		"generated file is empty":         {gen.Output: ""},
		"generated file is blank":         {gen.Output: " \n\t\r\n"},
		"generated file is torn early":    {gen.Output: want[:20]},
		"only conflict markers":           {gen.Output: "<<<<<<< HEAD\npackage mail\n=======\n// nothing\n>>>>>>> other\n"},
		"conflict with another side":      {gen.Output: "<<<<<<< HEAD\npackage mail\n\nfunc other() {}\n=======\n" + want + ">>>>>>> other\n"},
		"license above the header":        {gen.Output: "/* Ours.\n*/\n// License.\n\n" + want},
		"generated file is torn":          {gen.Output: want[:len(want)/2]},
		"generated file has conflicts":    {gen.Output: "<<<<<<< HEAD\n" + want + "=======\n" + want + ">>>>>>> other\n"},
		"conflicts inside":                {gen.Output: strings.Replace(want, "import (", "<<<<<<< HEAD\nimport (\n=======\n>>>>>>> x\n", 1)},
		"generated file of another name":  {gen.Output: strings.Replace(want, "package mail", "package other", 1)},
		"only another package clause":     {gen.Output: "package other\n"},
		"generated with other line ends":  {gen.Output: strings.ReplaceAll(want, "\n", "\r\n")},
		"generated for other jobs":        {gen.Output: strings.ReplaceAll(want, "Welcome", "Farewell")},
		"package in a test does not fit":  {"mail_test.go": "package elsewhere\n"},
		"test file does not parse":        {"mail_test.go": "package mail\n\nfunc {"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := newModule(t, map[string]string{"mail.go": simpleSource})
			require.NoError(t, writeTree(dir, files))
			result := run(t, dir)
			if name == "test file does not parse" {
				// It may hide a directive, and names that generated ones meet.
				require.Len(t, result.Diagnostics, 1)
				return
			}
			require.Empty(t, result.Diagnostics)
			require.Equal(t, map[string]string{filepath.Join(dir, gen.Output): want}, asStrings(result.Files))
			require.Empty(t, result.Orphans)
		})
	}
}

// TestForeignFiles holds that a file in the place of the generated one is never
// overwritten, and without directives never removed, unless it is ours.
func TestForeignFiles(t *testing.T) {
	t.Parallel()
	const header = "// Code generated by emqgen. DO NOT EDIT."
	for name, content := range map[string]string{
		"plain":                         "package mail\n\nfunc precious() {}\n",
		"header in a comment":           "package mail\n\n" + header + "\nfunc precious() {}\n",
		"header in a string":            "package mail\n\nconst header = `\n" + header + "\n`\n",
		"header inside a line":          "// Not " + header + "\npackage mail\n\nfunc precious() {}\n",
		"header in a block comment":     "/*\n" + header + "\n*/\npackage mail\n\nfunc precious() {}\n",
		"header of another tool":        "// Code generated by other. DO NOT EDIT.\npackage mail\n\nfunc precious() {}\n",
		"header behind the package":     "package mail " + header + "\n\nfunc precious() {}\n",
		"conflict below the package":    "package mail\n\nconst s = `\n<<<<<<< HEAD\n=======\n" + header + "\n>>>>>>> x\n`\n",
		"header below code of its side": "<<<<<<< HEAD\npackage mail\n" + header + "\n=======\npackage mail\nfunc b() {}\n>>>>>>> x\n",
		"syntax error":                  "package mail\n\nfunc precious( {\n",
		"syntax error in the clause":    "pakcage mail\n",
		"code behind the clause":        "package mail; func precious() {}\n",
		"code behind a comment":         "/* a */ package mail /* b\n*/; var precious int\n",
		"imports only":                  "package mail\n\nimport _ \"embed\"\n",
		"build constraint":              "//go:build ignore\n\npackage mail\n\nfunc precious() {}\n",
		"garbage":                       "garbage here",
		"binary":                        "\x00\x01\xff",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := newModule(t, map[string]string{"mail.go": simpleSource, gen.Output: content})
			result := run(t, dir)
			require.Len(t, result.Diagnostics, 1)
			require.Contains(t, result.Diagnostics[0].String(), "(E063)")
			require.Empty(t, result.Files)

			dir = newModule(t, map[string]string{"mail.go": "package mail\n", gen.Output: content})
			result = run(t, dir)
			require.Empty(t, result.Orphans)
			require.Empty(t, result.Files)
		})
	}
}

func asStrings(files map[string][]byte) map[string]string {
	texts := map[string]string{}
	for path, content := range files {
		texts[path] = string(content)
	}
	return texts
}

func TestOrphans(t *testing.T) {
	t.Parallel()
	ours := "// Code generated by emqgen. DO NOT EDIT.\n\npackage mail\n"
	dir := newModule(t, map[string]string{
		"gone/mail.go":             "package mail\n",
		"gone/" + gen.Output:       ours,
		"alone/" + gen.Output:      ours,
		"foreign/" + gen.Output:    "package mail\n\nfunc precious() {}\n",
		"foreign/mail.go":          "package mail\n",
		"damaged/" + gen.Output:    "garbage",
		"damaged/mail.go":          "package mail\n",
		"unsure/mail.go":           "package mail\n\nfunc broken( {\n",
		"unsure/" + gen.Output:     ours,
		"unsure/sub/" + gen.Output: ours,
		"unsure/sub/mail.go":       "package mail\n\n// emq:job\ntype A struct{}\n",
	})
	result := run(t, dir)
	require.Equal(t, []string{filepath.Join(dir, "alone", gen.Output), filepath.Join(dir, "gone", gen.Output)}, result.Orphans)
	require.Len(t, result.Diagnostics, 2)
	require.Empty(t, result.Files)
}

func TestLoadErrors(t *testing.T) {
	t.Parallel()
	dir := newModule(t, map[string]string{"mail.go": simpleSource, "empty/readme.txt": ""})
	for _, pattern := range []string{"./nope", "./empty", "./nope/...", "example.com/nowhere"} {
		_, err := gen.Run(t.Context(), gen.Options{Dir: dir, Patterns: []string{pattern}})
		require.ErrorIs(t, err, gen.ErrLoad, pattern)
	}
	_, err := gen.Run(t.Context(), gen.Options{Dir: filepath.Join(dir, "nope")})
	require.ErrorIs(t, err, gen.ErrLoad)
}

// TestTags shows that build tags decide which files are part of a package.
func TestTags(t *testing.T) {
	t.Parallel()
	dir := newModule(t, map[string]string{
		"mail.go":  strings.Replace(simpleSource, "int64", "ID", 1),
		"plain.go": "//go:build !big\n\npackage mail\n\ntype ID chan int\n",
		"big.go":   "//go:build big\n\npackage mail\n\ntype ID int\n",
	})
	require.Len(t, run(t, dir).Diagnostics, 1)
	result, err := gen.Run(t.Context(), gen.Options{Dir: dir, Tags: "big"})
	require.NoError(t, err)
	require.Empty(t, result.Diagnostics)
	require.Len(t, result.Files, 1)
}

// TestForms holds that the form of a source file does not matter: line ends of
// another system, a byte order mark, a missing last line feed.
func TestForms(t *testing.T) {
	t.Parallel()
	clean := newModule(t, map[string]string{"mail.go": simpleSource})
	want := asStrings(run(t, clean).Files)[filepath.Join(clean, gen.Output)]
	for name, source := range map[string]string{
		"carriage returns":    strings.ReplaceAll(simpleSource, "\n", "\r\n"),
		"byte order mark":     "\ufeff" + simpleSource,
		"no last line feed":   strings.TrimSuffix(simpleSource, "\n"),
		"in a group of types": strings.NewReplacer("// Welcome", "type (\n// Welcome", "type Welcome", "Welcome", "int64 }\n", "int64 })\n").Replace(simpleSource),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := newModule(t, map[string]string{"mail.go": source})
			result := run(t, dir)
			require.Empty(t, result.Diagnostics)
			require.Equal(t, want, asStrings(result.Files)[filepath.Join(dir, gen.Output)])
		})
	}
}

// TestLinesPerJob holds that the shell of a job stays small.
func TestLinesPerJob(t *testing.T) {
	t.Parallel()
	job := func(i int) string {
		return fmt.Sprintf("\n// J%d does.\n//\n//emq:job timeout=30s delay=1s priority=3\n//emq:retry attempts=5 backoff=fixed base=1s jitter=none stalls=2\n//emq:keep completed=1h,5 failed=1h\n//emq:result Receipt\ntype J%d struct{ A, B, C, D int }\n", i, i)
	}
	lines := func(jobs int) int {
		source := "//emq:queue name=mail\npackage mail\n\ntype Receipt struct{}\n"
		for i := range jobs {
			source += job(i)
		}
		for _, content := range run(t, newModule(t, map[string]string{"mail.go": source})).Files {
			return strings.Count(string(content), "\n")
		}
		return 0
	}
	require.Less(t, lines(3)-lines(2), 80)
}

// TestEveryRuleIsExercised holds that each diagnostic of the catalogue stands
// in what some case wants.
func TestEveryRuleIsExercised(t *testing.T) {
	t.Parallel()
	found, err := readCases(casesDir)
	require.NoError(t, err)
	var wanted strings.Builder
	for _, c := range found {
		wanted.WriteString(c.wants()[errorsFile])
	}
	seen := map[string]bool{}
	for _, rule := range annotations.Rules() {
		require.False(t, seen[rule.Code], "code %s is used twice", rule.Code)
		seen[rule.Code] = true
		require.Regexp(t, `^E\d{3}$`, rule.Code)
		require.NotEmpty(t, rule.Title)
		require.NotEmpty(t, rule.Explanation)
		if !strings.Contains(wanted.String(), "("+rule.Code+")\n") {
			t.Errorf("no case for %s, %s", rule.Code, rule.Title)
		}
	}
	require.NotContains(t, wanted.String(), "%!", "a message lacks an argument")
}

// TestErrorsAreRead keeps unreadable files from passing for empty ones.
func TestErrorsAreRead(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	dir := newModule(t, map[string]string{"mail.go": simpleSource})
	require.NoError(t, os.Chmod(filepath.Join(dir, "mail.go"), 0))
	_, err := gen.Run(t.Context(), gen.Options{Dir: dir})
	require.True(t, errors.Is(err, gen.ErrLoad))
}
