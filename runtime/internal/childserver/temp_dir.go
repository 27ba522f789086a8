package childserver

import (
	"fmt"
	"os"
	"path/filepath"
)

// maxSocketPath is the longest path of a unix socket that every system takes:
// 103 bytes on macOS and the BSDs, 107 on Linux.
const maxSocketPath = 103

// SocketName is the name of the socket in a directory of [TempDir].
const SocketName = "s"

// TempDir makes a directory that only this user can enter, for a server and its
// socket. Its path is short enough for a unix socket called [SocketName]: where
// the system's directory for temporary files is not, it is made in /tmp.
func TempDir() (string, error) {
	dir, err := os.MkdirTemp("", "emq-")
	if err == nil && len(SocketPath(dir)) > maxSocketPath {
		if err := os.Remove(dir); err != nil {
			return "", err
		}
		dir, err = os.MkdirTemp("/tmp", "emq-")
	}
	if err != nil {
		return "", fmt.Errorf("make a private directory for the server's socket (set TMPDIR to a directory that can be written): %w", err)
	}
	return dir, nil
}

// SocketPath returns the path of the socket in dir.
func SocketPath(dir string) string { return filepath.Join(dir, SocketName) }
