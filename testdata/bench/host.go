package main

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
)

// host is the machine that is measured on.
type host struct {
	processor, memory, kernel, load string
	processors                      int
}

func lookAtHost() host {
	h := host{processor: field("/proc/cpuinfo", "model name"), processors: runtime.NumCPU(), kernel: "unknown", load: "unknown", memory: "unknown"}
	if kib, err := strconv.Atoi(strings.TrimSuffix(field("/proc/meminfo", "MemTotal"), " kB")); err == nil {
		h.memory = fmt.Sprintf("%.0f GiB", float64(kib)/(1<<20))
	}
	if text, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		h.kernel = "Linux " + strings.TrimSpace(string(text))
	}
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		h.load = strings.Join(strings.Fields(string(text))[:2], " and ")
	}
	return h
}

// field returns the value of a line "name: value" of a file.
func field(file, name string) string {
	text, err := os.Open(file)
	if err != nil {
		return "unknown"
	}
	defer text.Close()
	for lines := bufio.NewScanner(text); lines.Scan(); {
		if before, value, found := strings.Cut(lines.Text(), ":"); found && strings.TrimSpace(before) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

// systemVersions returns those of what is linked into this program, and of BullMQ.
func systemVersions() []string {
	versions := []string{"Go " + strings.TrimPrefix(runtime.Version(), "go"), "BullMQ " + bullVersion + " with ioredis " + ioredisVersion}
	names := map[string]string{
		"github.com/hibiken/asynq": "asynq", "github.com/riverqueue/river": "River", "github.com/redis/go-redis/v9": "go-redis",
		"github.com/jackc/pgx/v5": "pgx",
	}
	if info, is := debug.ReadBuildInfo(); is {
		for _, module := range info.Deps {
			if name := names[module.Path]; name != "" {
				versions = append(versions, name+" "+strings.TrimPrefix(module.Version, "v"))
			}
		}
	}
	slices.SortFunc(versions, cmp.Compare[string])
	return versions
}
