package gen_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/gen"
)

func BenchmarkRun(b *testing.B) {
	for _, packages := range []int{1, 100} {
		b.Run(fmt.Sprintf("%d-packages", packages), func(b *testing.B) {
			files := map[string]string{}
			for i := range packages {
				files[fmt.Sprintf("p%d/mail.go", i)] = "//emq:queue name=mail\npackage mail\n\nimport \"time\"\n\n//emq:job\n//emq:retry attempts=3\ntype Welcome struct {\n\tUserID int64\n\tAt     time.Time\n}\n"
			}
			dir := newModule(b, files)
			for b.Loop() {
				result, err := gen.Run(b.Context(), gen.Options{Dir: dir, Patterns: []string{"./..."}})
				require.NoError(b, err)
				require.Len(b, code(result), packages)
			}
		})
	}
}

// TestGoBuild takes one case through the real go command, in a module of its
// own that requires this one.
func TestGoBuild(t *testing.T) {
	t.Parallel()
	repository, err := filepath.Abs("..")
	require.NoError(t, err)
	sums, err := os.ReadFile(filepath.Join(repository, "go.sum"))
	require.NoError(t, err)
	dir := newModule(t, map[string]string{
		"go.mod":  "module example.com/shop\n\ngo 1.26\n\nrequire github.com/echomq/echomq-go v0.0.0\n\nreplace github.com/echomq/echomq-go => " + repository + "\n",
		"go.sum":  string(sums),
		"mail.go": "//emq:queue name=mail\npackage mail\n\n//emq:job\n//emq:result Receipt\ntype Welcome struct{ UserID int64 }\n\ntype Receipt struct{}\n",
		"use.go":  "package mail\n\nimport (\n\t\"context\"\n\n\techomq \"github.com/echomq/echomq-go/runtime\"\n)\n\ntype handler struct{}\n\nfunc (handler) HandleWelcome(_ context.Context, job *echomq.Job[Welcome]) (Receipt, error) {\n\treturn Receipt{}, nil\n}\n\nvar _ = MailQueue(handler{})\n",
	})
	vet := func() (string, error) {
		command := exec.Command("go", "vet", "-mod=mod", ".")
		command.Dir = dir
		out, err := command.CombinedOutput()
		return string(out), err
	}
	out, err := vet()
	require.Error(t, err)
	require.Contains(t, out, "undefined: MailQueue")

	generate(t, dir)
	out, err = vet()
	require.NoError(t, err, out)

	require.NoError(t, writeTree(dir, map[string]string{"more.go": "package mail\n\nvar _ = MailQueue(nothing{})\n\ntype nothing struct{}\n"}))
	out, err = vet()
	require.Error(t, err)
	require.Contains(t, out, "missing method HandleWelcome")
}
