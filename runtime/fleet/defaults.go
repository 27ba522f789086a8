package fleet

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

const modulePath = "module github.com/echomq/echomq-go"

// Repository returns the root of the checkout of this repository that dir lies
// in, or "".
func Repository(dir string) string {
	for {
		if isRepository(dir) {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

func isRepository(dir string) bool {
	file, err := os.Open(filepath.Join(dir, "go.mod"))
	if err != nil {
		return false
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if lines.Text() == modulePath {
			return true
		}
	}
	return false
}

// TestPeers returns the test peers of a checkout of this repository, and the
// program that looks through stock BullMQ. It installs the packages of the Node
// peer, with npm ci, into the user's cache directory, where they are not there
// yet. A peer that cannot be run has its Err set.
func TestPeers(ctx context.Context, repository string) (peers []Command, stock *Command) {
	peers = []Command{nodePeer(ctx, repository), elixirPeer(repository)}
	look := peers[0]
	look.Args = []string{"node", filepath.Join(repository, "testdata", "peers", "node", "stock.js")}
	return peers, &look
}

func nodePeer(ctx context.Context, repository string) Command {
	dir := filepath.Join(repository, "testdata", "peers", "node")
	peer := Command{Name: "node", Args: []string{"node", filepath.Join(dir, "peer.js")}}
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			peer.Err = fmt.Errorf("%s is not on PATH: install Node.js 20 or later, with npm", program)
			return peer
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err == nil {
		return peer
	}
	modules, err := InstallModules(ctx, dir)
	if err != nil {
		peer.Err = fmt.Errorf("its packages cannot be installed: %w", err)
	}
	peer.Env = []string{"NODE_PATH=" + modules}
	return peer
}

func elixirPeer(repository string) Command {
	script := filepath.Join(repository, "testdata", "peers", "elixir", "peer.exs")
	peer := Command{
		Name: "elixir", Args: []string{"elixir", "--erl", "-noinput", script},
		// Without it Elixir complains about the locale, on the standard error.
		Env: []string{"ELIXIR_ERL_OPTIONS=+fnu"},
	}
	if _, err := exec.LookPath("elixir"); err != nil {
		peer.Err = errors.New("elixir is not on PATH: install Elixir 1.14 or later (on Debian: apt-get install elixir)")
	}
	return peer
}

// InstallModules returns a directory with the packages of npm that the lock file in dir
// pins. They are installed beside it and moved there whole.
func InstallModules(ctx context.Context, dir string) (string, error) {
	lock, err := os.ReadFile(filepath.Join(dir, "package-lock.json"))
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	cache = filepath.Join(cache, "echomq-peers")
	sum := sha256.Sum256(lock)
	home := filepath.Join(cache, "node-"+hex.EncodeToString(sum[:6]))
	modules := filepath.Join(home, "node_modules")
	if _, err := os.Stat(modules); err == nil {
		return modules, nil
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return "", err
	}
	work, err := os.MkdirTemp(cache, "installing-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	if err := npmCI(ctx, dir, work); err != nil {
		return "", err
	}
	// Another process may have been faster.
	if err := os.Rename(work, home); err != nil && !errors.Is(err, fs.ErrExist) {
		if _, missing := os.Stat(modules); missing != nil {
			return "", err
		}
	}
	return modules, nil
}

func npmCI(ctx context.Context, dir, work string) error {
	for _, name := range []string{"package.json", "package-lock.json"} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(work, name), content, 0o600); err != nil {
			return err
		}
	}
	command := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	command.Dir = work
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci: %w: %s", err, brief(string(output)))
	}
	return nil
}
