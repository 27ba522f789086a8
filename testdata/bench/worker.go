package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/pprof"
	"sync"
	"syscall"
	"time"
)

// workerSpec is what a worker process is to do.
type workerSpec struct {
	System string        `json:"system"`
	Tuned  bool          `json:"tuned"`
	Addr   string        `json:"addr"`
	Slots  int           `json:"slots"`
	Queues int           `json:"queues"`  // by which the slots are divided
	Takes  time.Duration `json:"takes"`   // a handler
	File   string        `json:"profile"` // that a CPU profile is written to
}

// workerReport is what it says at its end.
type workerReport struct {
	Handled int     `json:"handled"`
	CPU     float64 `json:"cpu"` // µs since its first job
}

// ownWorker is this program as a worker process.
func ownWorker(spec workerSpec) ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(spec)
	return []string{self, "worker", string(text)}, err
}

// work is a worker process: until its standard input ends.
func work(ctx context.Context, text string) error {
	var spec workerSpec
	if err := json.Unmarshal([]byte(text), &spec); err != nil {
		return err
	}
	var serve func(context.Context, workerSpec, func(payload)) error
	switch spec.System {
	case "echomq":
		serve = newEchoMQ(spec.Addr, spec.Tuned).serve
	case "asynq":
		serve = newAsynq(spec.Addr, spec.Tuned).serve
	case "limit":
		serve = newRaw(spec.Addr).serve
	case "river":
		river, err := newRiver(ctx, spec.Addr, spec.Tuned)
		if err != nil {
			return err
		}
		serve = river.serve
	default:
		return fmt.Errorf("no system %q", spec.System)
	}
	if spec.File != "" {
		end, err := profiled(spec.File)
		if err != nil {
			return err
		}
		defer end()
	}
	var lock sync.Mutex
	var report workerReport
	var before float64
	ctx, stop := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		lock.Lock()
		report.CPU = ownCPU() - before
		_ = json.NewEncoder(os.Stdout).Encode(report)
		lock.Unlock()
		stop()
	}()
	err := serve(ctx, spec, func(payload) {
		lock.Lock()
		if report.Handled == 0 {
			before = ownCPU()
		}
		report.Handled++
		lock.Unlock()
		if spec.Takes > 0 {
			time.Sleep(spec.Takes)
		}
	})
	if ctx.Err() == nil {
		return err
	}
	return nil
}

// profiled writes a CPU profile until its end.
func profiled(name string) (end func(), err error) {
	file, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, err
	}
	return func() {
		pprof.StopCPUProfile()
		_ = file.Close()
	}, nil
}

// ownCPU returns how many µs of CPU this process has used.
func ownCPU() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1000
}

// workers are worker processes.
type workers struct {
	running []*running
}

type running struct {
	cmd   *exec.Cmd
	in    io.Closer
	out   bytes.Buffer
	ended chan struct{}
	err   error // once it has ended
}

// start starts one more.
func (w *workers) start(ctx context.Context, s system, spec workerSpec) error {
	line, err := s.worker(spec)
	if err != nil {
		return err
	}
	r := &running{cmd: exec.CommandContext(ctx, line[0], line[1:]...), ended: make(chan struct{})}
	r.cmd.Stderr, r.cmd.Stdout = os.Stderr, &r.out
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if r.in, err = r.cmd.StdinPipe(); err != nil {
		return err
	}
	if err := r.cmd.Start(); err != nil {
		return err
	}
	go func() {
		r.err = r.cmd.Wait()
		close(r.ended)
	}()
	w.running = append(w.running, r)
	return nil
}

// check returns an error if one has ended that should not have.
func (w *workers) check() error {
	for _, r := range w.running {
		select {
		case <-r.ended:
			return fmt.Errorf("a worker ended too early: %w", cmp.Or(r.err, errors.New("without an error")))
		default:
		}
	}
	return nil
}

// stop ends all of them, and returns what each has done, in the order of starts.
// Called again it does nothing.
func (w *workers) stop() ([]workerReport, error) {
	ending := w.running
	w.running = nil
	for _, r := range ending {
		_ = r.in.Close()
	}
	var reports []workerReport
	var failures []error
	for _, r := range ending {
		late := time.AfterFunc(10*time.Second, func() { _ = r.cmd.Process.Kill() })
		<-r.ended
		late.Stop()
		err := r.err
		var report workerReport
		if err == nil {
			err = json.Unmarshal(r.out.Bytes(), &report)
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("a worker ended with %w", err))
		}
		reports = append(reports, report)
	}
	return reports, errors.Join(failures...)
}
