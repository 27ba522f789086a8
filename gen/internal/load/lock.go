package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
)

// LockName is the name of the lock of every package.
const LockName = "emq.lock"

// readLock returns the content of the lock in dir; nil where there is none.
func readLock(dir string, read ReadFile) ([]byte, error) {
	content, err := read(filepath.Join(dir, LockName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && content == nil {
		content = []byte{}
	}
	return content, err
}

// ErrRevision is what every error about a [Revision] is: nothing can be compared
// with it.
var ErrRevision = errors.New("contracts cannot be compared with a git revision")

// Revision is a revision of the git repository in which packages lie.
type Revision struct{ name string }

// FindRevision returns the revision that name stands for in the repository of
// dir.
func FindRevision(ctx context.Context, dir, name string) (Revision, error) {
	out, err := git(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err != nil || len(out) == 0 {
		return Revision{}, fmt.Errorf("%w: git knows no revision %q here; in a shallow clone fetch it first%s", ErrRevision, name, because(err))
	}
	return Revision{strings.TrimSpace(string(out))}, nil
}

// Lock returns the lock that dir had in the revision; nil where it had none.
func (r Revision) Lock(ctx context.Context, dir string) ([]byte, error) {
	listed, err := git(ctx, dir, "ls-tree", "--name-only", r.name, "--", LockName)
	if err != nil {
		return nil, fmt.Errorf("%w: list %s of revision %s%s", ErrRevision, LockName, r.name, because(err))
	}
	if len(bytes.TrimSpace(listed)) == 0 {
		return nil, nil
	}
	content, err := git(ctx, dir, "show", r.name+":./"+LockName)
	if err != nil {
		return nil, fmt.Errorf("%w: read %s of revision %s%s", ErrRevision, LockName, r.name, because(err))
	}
	return append([]byte{}, content...), nil
}

func git(ctx context.Context, dir string, arguments ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, "git", arguments...)
	command.Dir = dir
	return command.Output()
}

// because ends a message with what git said.
func because(err error) string {
	var failed *exec.ExitError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &failed) && len(failed.Stderr) > 0:
		return ": " + strings.TrimSpace(string(failed.Stderr))
	case errors.As(err, &failed):
		return "" // git was asked to be quiet, and its exit code says nothing more
	}
	return ": " + err.Error()
}
