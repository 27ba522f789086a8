package main

import (
	"errors"
	"testing"
	"time"
)

func TestQuantile(t *testing.T) {
	var all []int
	for n := range 101 {
		all = append(all, n)
	}
	for part, want := range map[float64]int{0: 0, 0.5: 50, 0.99: 99, 1: 100} {
		if got := quantile(all, part); got != want {
			t.Errorf("quantile %v is %d, want %d", part, got, want)
		}
	}
	if got := quantile([]int{7}, 0.99); got != 7 {
		t.Errorf("of one value: %d", got)
	}
	// What is unsorted and early stays so.
	got := milliseconds([]time.Duration{3 * time.Millisecond, -time.Millisecond, 2500 * time.Microsecond}, 0, 0.5, 1)
	if got[0] != -1 || got[1] != 2.5 || got[2] != 3 {
		t.Errorf("milliseconds: %v", got)
	}
}

func TestMiddle(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{[]float64{3}, 3}, {[]float64{9, 1, 5}, 5}, {[]float64{4, 1, 2, 100}, 3}} {
		if got := middle(c.values); got != c.want {
			t.Errorf("middle of %v is %v, want %v", c.values, got, c.want)
		}
	}
}

func TestNumber(t *testing.T) {
	for value, want := range map[float64]string{
		0: "0.00", 0.00079: "0.00079", 0.58: "0.58", 1.004: "1.00", 12.34: "12.3", 123.4: "123", 999.6: "1000",
		1234.4: "1,234", 1_234_567: "1,234,567", -4321: "-4,321", -2.5: "-2.50",
	} {
		if got := number(value); got != want {
			t.Errorf("number(%v) is %q, want %q", value, got, want)
		}
	}
}

func TestRatio(t *testing.T) {
	var r results
	w := workload{name: "work", figures: []figure{{name: "p50"}, {name: "p99"}}}
	r.add(w, "echomq", measured{values: []float64{2, 30}})
	r.add(w, "echomq", measured{values: []float64{4, 10}, costs: &costs{reads: 7}})
	r.add(w, "asynq", measured{values: []float64{6, 0}})
	if got, known := r.ratio("work, p50", "echomq", "work, p50", "asynq"); !known || got != 0.5 {
		t.Errorf("ratio to asynq: %v, %v", got, known)
	}
	if got, known := r.ratio("work, p50", "echomq", "work, p99", "echomq"); !known || got != 0.15 {
		t.Errorf("ratio to itself: %v, %v", got, known)
	}
	for _, missing := range []string{"river", "asynq"} {
		if got, known := r.ratio("work, p99", "echomq", "work, p99", missing); known {
			t.Errorf("ratio to %s, which has no value or 0: %v", missing, got)
		}
	}
	if got, known := r.cost("work", "echomq", func(c costs) float64 { return c.reads }); !known || got != 7 {
		t.Errorf("cost: %v, %v", got, known)
	}
}

func TestCell(t *testing.T) {
	w := workload{name: "work", figures: []figure{{}}}
	var r results
	r.add(w, "echomq", measured{values: []float64{10}})
	r.add(w, "asynq", measured{values: []float64{1000}})
	r.add(w, "asynq", measured{values: []float64{3000}})
	r.add(w, "bullmq", measured{values: []float64{5}})
	r.fail("work", "bullmq", errors.New("a\nb|c"))
	r.fail("work", "river", errors.New("timeout"))
	for system, want := range map[string]string{
		"echomq": "10.0", "asynq": "2,000 (1,000–3,000)", "bullmq": `5.00 failed: a b\|c (1 of 2 rounds)`, "river": "failed: timeout", "limit": "",
	} {
		if got := r.cell(w, w.figures[0], system); got != want {
			t.Errorf("%s: %q, want %q", system, got, want)
		}
	}
	if r.failed() != 2 {
		t.Errorf("%d failures", r.failed())
	}
}
