package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// counters are what a server counts about itself.
type counters struct {
	cpu      float64 // µs of its main thread
	commands int     // run, those within scripts too but not the scripts
	reads    int     // of sockets: about the round trips
}

func lookAt(ctx context.Context, store *redis.Client) (counters, error) {
	info, err := store.InfoMap(ctx, "cpu", "stats", "commandstats").Result()
	if err != nil {
		return counters{}, err
	}
	return countersOf(info)
}

// uncounted are commands that run scripts, and those of the harness.
var uncounted = []string{"cmdstat_evalsha", "cmdstat_eval", "cmdstat_fcall", "cmdstat_info", "cmdstat_multi", "cmdstat_exec"}

func countersOf(info map[string]map[string]string) (c counters, err error) {
	cpu := info["CPU"]
	for _, name := range []string{"used_cpu_user_main_thread", "used_cpu_sys_main_thread"} {
		seconds, err := strconv.ParseFloat(cpu[name], 64)
		if err != nil {
			return c, fmt.Errorf("INFO cpu, %s: %w", name, err)
		}
		c.cpu += seconds * 1e6
	}
	if c.reads, err = strconv.Atoi(info["Stats"]["total_reads_processed"]); err != nil {
		return c, fmt.Errorf("INFO stats: %w", err)
	}
	for name, text := range info["Commandstats"] {
		calls, found := strings.CutPrefix(text, "calls=")
		if !found {
			return c, fmt.Errorf("INFO commandstats: %s:%s", name, text)
		}
		calls, _, _ = strings.Cut(calls, ",")
		n, err := strconv.Atoi(calls)
		if err != nil {
			return c, fmt.Errorf("INFO commandstats, %s: %w", name, err)
		}
		if !isUncounted(name) {
			c.commands += n
		}
	}
	return c, nil
}

func isUncounted(name string) bool {
	for _, prefix := range uncounted {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return strings.Contains(name, "|") // a subcommand, such as of CLIENT and SCRIPT
}

// costs are what one job costs.
type costs struct {
	server   float64 // µs of the server's CPU
	commands float64
	reads    float64
	client   float64 // µs of the CPU of the program that enqueues or handles
}

// since divides what was counted from one look to another by the jobs between
// them. The harness looked so many times, each with so many commands in one read.
func (c counters) since(before counters, jobs, looks, commands int) *costs {
	if jobs <= 0 {
		return nil
	}
	return &costs{
		server:   (c.cpu - before.cpu) / float64(jobs),
		commands: float64(c.commands-before.commands-looks*commands) / float64(jobs),
		reads:    float64(c.reads-before.reads-looks) / float64(jobs),
	}
}

// lookCommands returns how many commands one call of a system's finished sends.
func lookCommands(s system, queues int) int {
	return map[string]int{"echomq": 4, "bullmq": 4, "asynq": 2, "limit": 1}[base(s.name())] * max(queues, 1)
}

// usedMemory returns what a server holds, without the buffers of its clients.
func usedMemory(ctx context.Context, store *redis.Client) (int, error) {
	info, err := store.InfoMap(ctx, "memory").Result()
	if err != nil {
		return 0, err
	}
	used, err := strconv.Atoi(info["Memory"]["used_memory"])
	if err != nil {
		return 0, fmt.Errorf("INFO memory: %w", err)
	}
	clients, err := strconv.Atoi(info["Memory"]["mem_clients_normal"])
	if err != nil {
		return 0, fmt.Errorf("INFO memory: %w", err)
	}
	return used - clients, nil
}

// flush deletes everything, and comes back when that is done: what Valkey frees in
// the background would be part of the next measurement.
func flush(ctx context.Context, store *redis.Client) error {
	return store.Do(ctx, "flushall", "sync").Err()
}
