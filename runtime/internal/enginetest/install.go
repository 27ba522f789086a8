package enginetest

import (
	"fmt"
	"os/exec"

	"github.com/echomq/echomq-go/runtime/internal/childserver"
)

// binaryOf returns the path of the program of kind, or an error that says how
// to install it.
func binaryOf(kind Kind) (string, error) {
	path, err := exec.LookPath(string(kind) + "-server")
	if err != nil {
		return "", fmt.Errorf("%s-server is not on PATH, and these tests run on it. %s", kind, howToInstall(kind))
	}
	return path, nil
}

// checkVersion refuses a server that is older than what the protocol asks for.
func checkVersion(kind Kind, info childserver.Info) error {
	var major int
	if _, err := fmt.Sscanf(info.Version, "%d.", &major); err != nil {
		return fmt.Errorf("cannot read the version of %s: %w", info, err)
	}
	least := map[Kind]int{Valkey: 8, Redis: 7}[kind]
	if info.Name != string(kind) || major < least {
		return fmt.Errorf("%s-server is %s, and these tests need %s %d or later. %s", kind, info, kind, least, howToInstall(kind))
	}
	return nil
}

func howToInstall(kind Kind) string {
	packages := map[Kind]string{
		Redis: "apt-get update && apt-get install -y redis-server",
		Valkey: "echo deb http://deb.debian.org/debian bookworm-backports main > /etc/apt/sources.list.d/bookworm-backports.list &&\n" +
			"    apt-get update && apt-get install -y -t bookworm-backports valkey-server",
	}[kind]
	return fmt.Sprintf(`On Debian 12, as root, run "make test", which installs what is missing, or:
    %s
To run on the embedded server only, which needs nothing installed, set %s=embedded.`, packages, enginesVariable)
}
