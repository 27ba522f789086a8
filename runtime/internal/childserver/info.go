package childserver

import (
	"fmt"
	"strings"
)

// Info is what a server says about itself.
type Info struct {
	// Name is "valkey" or "redis".
	Name string
	// Version is the version of the server, for example "8.0.1".
	Version string
	// Compatible is the version of Redis that the server is compatible with;
	// for Redis it is Version.
	Compatible string
}

func (i Info) String() string { return i.Name + " " + i.Version }

// AtLeast reports whether the server is compatible with Redis major.minor.
func (i Info) AtLeast(major, minor int) bool {
	var hasMajor, hasMinor int
	if _, err := fmt.Sscanf(i.Compatible, "%d.%d", &hasMajor, &hasMinor); err != nil {
		return false
	}
	return hasMajor > major || hasMajor == major && hasMinor >= minor
}

// parseInfo reads the reply to INFO server.
func parseInfo(text string) Info {
	info := Info{Name: "redis"}
	for line := range strings.Lines(text) {
		field, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch field {
		case "redis_version":
			info.Compatible = value
			if info.Version == "" {
				info.Version = value
			}
		case "valkey_version":
			info.Name, info.Version = "valkey", value
		}
	}
	return info
}
