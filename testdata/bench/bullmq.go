package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

//go:embed bullmq.mjs
var bullScript []byte

const (
	bullVersion    = "5.65.1"
	ioredisVersion = "5.8.2"
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
	return script, npm.Run()
}

// bullMQ is BullMQ in Node, as it is without any option.
type bullMQ struct {
	addr, script string
	store        *redis.Client
	node         *exec.Cmd
	in           io.WriteCloser
	out          *bufio.Scanner
}

func newBullMQ(ctx context.Context, addr, script string) (*bullMQ, error) {
	s := &bullMQ{addr: addr, script: script, store: redis.NewClient(&redis.Options{Addr: addr})}
	s.node = exec.CommandContext(ctx, "node", script, "producer", addr)
	s.node.Stderr = os.Stderr
	var err error
	if s.in, err = s.node.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.node.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewScanner(out)
	s.out.Buffer(nil, 1<<20)
	return s, s.node.Start()
}

func (s *bullMQ) name() string { return "bullmq" }

// ask has Node do something and returns its answer: milliseconds.
func (s *bullMQ) ask(request map[string]any) ([]float64, error) {
	line, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	if _, err := s.in.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	if !s.out.Scan() {
		return nil, fmt.Errorf("bullmq: no answer: %v", s.out.Err())
	}
	var answer struct {
		Error string
		Took  []float64
	}
	if err := json.Unmarshal(s.out.Bytes(), &answer); err != nil {
		return nil, err
	}
	if answer.Error != "" {
		return nil, fmt.Errorf("bullmq: %s", answer.Error)
	}
	return answer.Took, nil
}

func (s *bullMQ) enqueue(_ context.Context, load load) (time.Duration, error) {
	took, err := s.ask(map[string]any{"do": "enqueue", "jobs": load.Jobs, "producers": load.Producers, "bulk": load.Bulk, "text": text(load.Bytes)})
	if err != nil {
		return 0, err
	}
	return time.Duration(took[0] * float64(time.Millisecond)), nil
}

func (s *bullMQ) finished(ctx context.Context) (int, error) {
	n, err := s.store.ZCard(ctx, "bull:peer:completed").Result()
	return int(n), err
}

func (s *bullMQ) worker(concurrency int) ([]string, error) {
	return []string{"node", s.script, "worker", s.addr, strconv.Itoa(concurrency)}, nil
}

func (s *bullMQ) idle(_ context.Context, jobs int) ([]time.Duration, error) {
	took, err := s.ask(map[string]any{"do": "idle", "jobs": jobs})
	var all []time.Duration
	for _, ms := range took {
		all = append(all, time.Duration(ms*float64(time.Millisecond)))
	}
	return all, err
}

func (s *bullMQ) clear(ctx context.Context) error { return s.store.FlushAll(ctx).Err() }

func (s *bullMQ) close() {
	_ = s.in.Close()
	_ = s.node.Wait()
	_ = s.store.Close()
}
