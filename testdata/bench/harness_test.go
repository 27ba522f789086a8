package main

import (
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"
)

func TestSpread(t *testing.T) {
	var jobs atomic.Int64
	queues := make([]atomic.Int64, 3)
	did, err := load{Jobs: 25, Producers: 4, Bulk: 10, Queues: 3}.spread(func(first, count, queue int) error {
		jobs.Add(int64(count))
		queues[queue].Add(int64(count))
		if want := []int{10, 10, 5}[first/10]; count != want {
			t.Errorf("%d jobs from %d", count, first)
		}
		return nil
	})
	if err != nil || did.jobs != 25 || jobs.Load() != 25 || queues[2].Load() != 5 {
		t.Errorf("%+v, %v; %d jobs were added", did, err, jobs.Load())
	}
	lost := errors.New("lost")
	did, err = load{Jobs: 3, Producers: 1, Bulk: 1}.spread(func(first, _, _ int) error {
		if first == 1 {
			return lost
		}
		return nil
	})
	if !errors.Is(err, lost) || did.jobs != 1 {
		t.Errorf("a call that fails: %+v, %v", did, err)
	}
	did, err = load{Jobs: 1000, Producers: 1, Bulk: 1, AtMost: time.Nanosecond}.spread(func(int, int, int) error { return nil })
	if err != nil || did.jobs == 1000 {
		t.Errorf("without time: %+v, %v", did, err)
	}
}

func TestCounters(t *testing.T) {
	info := map[string]map[string]string{
		"CPU":   {"used_cpu_user_main_thread": "1.5", "used_cpu_sys_main_thread": "0.25", "used_cpu_user": "9"},
		"Stats": {"total_reads_processed": "40"},
		"Commandstats": {
			"cmdstat_hset": "calls=30,usec=1", "cmdstat_evalsha": "calls=5,usec=1", "cmdstat_script|load": "calls=1,usec=1",
			"cmdstat_info": "calls=9,usec=1",
		},
	}
	got, err := countersOf(info)
	if want := (counters{cpu: 1_750_000, commands: 30, reads: 40}); err != nil || got != want {
		t.Fatalf("%+v, %v; want %+v", got, err, want)
	}
	cost := counters{cpu: 1_750_500, commands: 92, reads: 53}.since(got, 10, 3, 2)
	if want := (costs{server: 50, commands: 5.6, reads: 1}); *cost != want {
		t.Errorf("%+v, want %+v", *cost, want)
	}
	info["Stats"]["total_reads_processed"] = ""
	if _, err := countersOf(info); err == nil {
		t.Error("a server that does not count reads is no error")
	}
}

// TestDelay sends through the proxy and back.
func TestDelay(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		_, _ = io.Copy(connection, connection)
		_ = connection.Close()
	}()
	const delay = 20 * time.Millisecond
	addr, stop, err := startDelay(listener.Addr().String(), delay)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	connection, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	begin := time.Now()
	if _, err := connection.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 5)
	if _, err := io.ReadFull(connection, answer); err != nil || string(answer) != "hello" {
		t.Fatalf("%q, %v", answer, err)
	}
	if took := time.Since(begin); took < delay {
		t.Errorf("a round trip took %v", took)
	}
}
