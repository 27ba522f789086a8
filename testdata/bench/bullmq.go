package main

import (
	"bufio"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

//go:embed bullmq.mjs
var bullScript []byte

const (
	bullVersion    = "6.7.0"
	ioredisVersion = "5.11.1"
)

// installBullMQ puts BullMQ and the script that drives it into a folder.
func installBullMQ(ctx context.Context, dir string) (script string, err error) {
	script = filepath.Join(dir, "bullmq.mjs")
	if err := os.WriteFile(script, bullScript, 0o644); err != nil {
		return "", err
	}
	npm := exec.CommandContext(ctx, "npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts",
		"--prefix", dir, "bullmq@"+bullVersion, "ioredis@"+ioredisVersion)
	npm.Stderr = os.Stderr
	if err := npm.Run(); err != nil {
		return "", fmt.Errorf("npm install bullmq: %w", err)
	}
	return script, nil
}

func nodeVersion() string {
	out, err := exec.Command("node", "--version").Output()
	if err != nil {
		return "Node of an unknown version"
	}
	return "Node " + strings.TrimPrefix(strings.TrimSpace(string(out)), "v")
}

// bullMQ is BullMQ in Node: as it is without any option, or tuned, which is four
// workers in the process instead of one and no record of what has ended.
type bullMQ struct {
	addr, script string
	tuned        bool
	store        *redis.Client
	node         *node
	added        int
	queues       int // of the last load
}

// node is the process that enqueues.
type node struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func newBullMQ(addr, script string, tuned bool) *bullMQ {
	return &bullMQ{addr: addr, script: script, tuned: tuned, store: redis.NewClient(&redis.Options{Addr: addr})}
}

func (s *bullMQ) start() error {
	spec, err := json.Marshal(workerSpec{Addr: s.addr, Tuned: s.tuned, Queues: manyQueues})
	if err != nil {
		return err
	}
	n := &node{cmd: exec.Command("node", s.script, "producer", string(spec))}
	n.cmd.Stderr = os.Stderr
	if n.in, err = n.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := n.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	n.out = bufio.NewScanner(out)
	n.out.Buffer(nil, 1<<20)
	if err := n.cmd.Start(); err != nil {
		return err
	}
	s.node = n
	return nil
}

func (s *bullMQ) name() string { return called("bullmq", s.tuned) }

// bullAnswer is what Node did. Times are in milliseconds.
type bullAnswer struct {
	Error string
	Jobs  int
	Took  float64
	CPU   float64 // µs
	Late  []float64
}

// ask has Node do something. If it gives no answer in time it is ended, and the
// next question starts another.
func (s *bullMQ) ask(ctx context.Context, request map[string]any) (answer bullAnswer, err error) {
	if s.node == nil {
		if err := s.start(); err != nil {
			return answer, err
		}
	}
	line, err := json.Marshal(request)
	if err != nil {
		return answer, err
	}
	running := s.node
	kill := context.AfterFunc(ctx, func() { _ = running.cmd.Process.Kill() })
	defer kill()
	if _, err = running.in.Write(append(line, '\n')); err == nil && !running.out.Scan() {
		err = fmt.Errorf("no answer: %w", cmp.Or(running.out.Err(), io.EOF))
	}
	if err != nil {
		s.end()
		return answer, fmt.Errorf("bullmq: %w", cmp.Or(ctx.Err(), err))
	}
	if err := json.Unmarshal(running.out.Bytes(), &answer); err != nil {
		return answer, err
	}
	if answer.Error != "" {
		return answer, fmt.Errorf("bullmq: %s", answer.Error)
	}
	return answer, nil
}

func (s *bullMQ) enqueue(ctx context.Context, load load) (added, error) {
	s.queues = load.Queues
	answer, err := s.ask(ctx, map[string]any{
		"do": "enqueue", "jobs": load.Jobs, "producers": load.Producers, "bulk": load.Bulk, "text": text(load.Bytes),
		"queues": max(load.Queues, 1), "atMost": load.AtMost.Milliseconds(),
	})
	s.added += answer.Jobs
	return added{jobs: answer.Jobs, took: time.Duration(answer.Took * float64(time.Millisecond)), cpu: answer.CPU}, err
}

// finished is what has been added and is nowhere but among the completed jobs: see
// echoMQ.
func (s *bullMQ) finished(ctx context.Context) (int, error) {
	left, err := sum(ctx, s.store, s.queues, func(pipe redis.Pipeliner, queue string) []*redis.IntCmd {
		key := "bull:" + queue + ":"
		return []*redis.IntCmd{pipe.LLen(ctx, key+"wait"), pipe.LLen(ctx, key+"active"), pipe.ZCard(ctx, key+"delayed"), pipe.ZCard(ctx, key+"failed")}
	})
	return s.added - left, err
}

func (s *bullMQ) worker(spec workerSpec) ([]string, error) {
	spec.Addr, spec.Tuned = s.addr, s.tuned
	text, err := json.Marshal(spec)
	return []string{"node", s.script, "worker", string(text)}, err
}

func (s *bullMQ) late(ctx context.Context, plan plan) ([]time.Duration, error) {
	answer, err := s.ask(ctx, map[string]any{
		"do": "late", "kind": plan.Kind, "jobs": plan.Jobs, "slots": plan.Slots, "perSecond": plan.PerSecond,
		"gap": idleGap.Milliseconds(), "text": text(100),
	})
	var all []time.Duration
	for _, ms := range answer.Late {
		all = append(all, time.Duration(ms*float64(time.Millisecond)))
	}
	return all, err
}

func (s *bullMQ) valkey() *redis.Client { return s.store }

func (s *bullMQ) memory(ctx context.Context) (int, error) { return usedMemory(ctx, s.store) }

func (s *bullMQ) clear(ctx context.Context) error {
	s.added = 0
	return flush(ctx, s.store)
}

// end ends Node, at once.
func (s *bullMQ) end() {
	if s.node != nil {
		_ = s.node.cmd.Process.Kill()
		_ = s.node.cmd.Wait()
		s.node = nil
	}
}

func (s *bullMQ) close() {
	s.end()
	_ = s.store.Close()
}
