package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// servers are what the sections share: a folder, PostgreSQL, and BullMQ's files.
type servers struct {
	dir      string
	postgres string // its address, once it runs
	script   string // that drives BullMQ, once that is installed
	known    []string
	ends     []func()
}

func openServers(context.Context) (*servers, error) {
	dir, err := os.MkdirTemp("", "emq-bench-")
	if err != nil {
		return nil, err
	}
	// PostgreSQL runs as another user.
	return &servers{dir: dir, ends: []func(){func() { _ = os.RemoveAll(dir) }}}, os.Chmod(dir, 0o755)
}

func (s *servers) close() {
	for _, end := range slices.Backward(s.ends) {
		end()
	}
}

// versions returns those of the servers that ran.
func (s *servers) versions() []string { return s.known }

func (s *servers) note(version string) {
	if !slices.Contains(s.known, version) {
		s.known = append(s.known, version)
	}
}

// environment is what one section runs on: its own Valkey, and the systems.
type environment struct {
	systems []system
	// ping is how long a round trip to Valkey takes.
	ping time.Duration
	ends []func()
}

func (e *environment) close() {
	for _, end := range slices.Backward(e.ends) {
		end()
	}
}

// open starts what a section needs.
func (s *servers) open(ctx context.Context, section *section, chosen string) (_ *environment, err error) {
	e := &environment{}
	defer func() {
		if err != nil {
			e.close()
		}
	}()
	home, err := os.MkdirTemp(s.dir, "valkey-")
	if err != nil {
		return nil, err
	}
	addr, version, stop, err := startValkey(ctx, home, section.aof)
	if err != nil {
		return nil, err
	}
	e.ends = append(e.ends, stop, func() { _ = os.RemoveAll(home) })
	s.note(version)
	if addr, err = e.delayed(addr, section.delay); err != nil {
		return nil, err
	}
	for _, name := range section.systems {
		if !slices.Contains(strings.Split(chosen, ","), base(name)) {
			continue
		}
		one, err := s.system(ctx, e, section, name, addr)
		if err != nil {
			section.broken = append(section.broken, fmt.Errorf("%s did not start: %w", name, err))
			fmt.Fprintf(os.Stderr, "%s: %s did not start: %v\n", section.key, name, err)
			continue
		}
		e.systems, e.ends = append(e.systems, one), append(e.ends, one.close)
	}
	e.ping, err = ping(ctx, addr)
	return e, err
}

// delayed returns an address from which a server is farther away.
func (e *environment) delayed(addr string, delay time.Duration) (string, error) {
	if delay == 0 {
		return addr, nil
	}
	near, stop, err := startDelay(addr, delay)
	if err == nil {
		e.ends = append(e.ends, stop)
	}
	return near, err
}

func (s *servers) system(ctx context.Context, e *environment, section *section, name, addr string) (system, error) {
	tuned := strings.HasSuffix(name, " tuned")
	switch base(name) {
	case "echomq":
		return newEchoMQ(addr, tuned), nil
	case "asynq":
		return newAsynq(addr, tuned), nil
	case "limit":
		return newRaw(addr), nil
	case "bullmq":
		if s.script == "" {
			script, err := installBullMQ(ctx, s.dir)
			if err != nil {
				return nil, err
			}
			s.script = script
			s.note(nodeVersion())
		}
		return newBullMQ(addr, s.script, tuned), nil
	case "river":
		if s.postgres == "" {
			home := filepath.Join(s.dir, "postgres")
			if err := os.Mkdir(home, 0o755); err != nil {
				return nil, err
			}
			postgres, version, stop, err := startPostgres(ctx, home)
			if err != nil {
				return nil, err
			}
			s.postgres, s.ends = postgres, append(s.ends, stop)
			s.note(version)
		}
		postgres, err := e.delayed(s.postgres, section.delay)
		if err != nil {
			return nil, err
		}
		return newRiver(ctx, "postgres://postgres@"+postgres+"/postgres?sslmode=disable&pool_max_conns=20", tuned)
	}
	return nil, fmt.Errorf("no system %q", name)
}

// ping returns the median of some round trips.
func ping(ctx context.Context, addr string) (time.Duration, error) {
	store := redis.NewClient(&redis.Options{Addr: addr})
	defer store.Close()
	var all []time.Duration
	for range 200 {
		begin := time.Now()
		if err := store.Ping(ctx).Err(); err != nil {
			return 0, err
		}
		all = append(all, time.Since(begin))
	}
	slices.Sort(all)
	return quantile(all, 0.5), nil
}
