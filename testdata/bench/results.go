package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// results are the values that a section's rounds found, by figure and system.
type results struct {
	values   map[key][]float64
	costs    map[key][]costs
	failures map[key][]error
}

type key struct{ what, system string }

func (r *results) add(w workload, system string, got measured) {
	if r.values == nil {
		r.values, r.costs = map[key][]float64{}, map[key][]costs{}
	}
	for n, f := range w.figures {
		k := key{w.full(f), system}
		r.values[k] = append(r.values[k], got.values[n])
	}
	if got.costs != nil {
		k := key{w.name, system}
		r.costs[k] = append(r.costs[k], *got.costs)
	}
}

func (r *results) fail(workload, system string, err error) {
	if r.failures == nil {
		r.failures = map[key][]error{}
	}
	k := key{workload, system}
	r.failures[k] = append(r.failures[k], err)
}

// failed returns how many measurements did.
func (r *results) failed() (n int) {
	for _, all := range r.failures {
		n += len(all)
	}
	return n
}

// median returns the middle of the values of a figure.
func (r *results) median(figure, system string) (float64, bool) {
	values := r.values[key{figure, system}]
	if len(values) == 0 {
		return 0, false
	}
	return middle(values), true
}

// rounds returns how many values there are of a figure, of the system that has most.
func (r *results) rounds(figure string) (most int) {
	for k, values := range r.values {
		if k.what == figure {
			most = max(most, len(values))
		}
	}
	return most
}

// cost returns the middle of one of a workload's costs.
func (r *results) cost(workload, system string, pick func(costs) float64) (float64, bool) {
	all := r.costs[key{workload, system}]
	if len(all) == 0 {
		return 0, false
	}
	var values []float64
	for _, c := range all {
		values = append(values, pick(c))
	}
	return middle(values), true
}

// ratio divides the medians of two figures.
func (r *results) ratio(figure, system, below, other string) (float64, bool) {
	a, is := r.median(figure, system)
	b, also := r.median(below, other)
	if !is || !also || b == 0 {
		return 0, false
	}
	return a / b, true
}

// cell writes the median of a figure, with the lowest and the highest value.
func (r *results) cell(w workload, f figure, system string) string {
	values := r.values[key{w.full(f), system}]
	failures := r.failures[key{w.name, system}]
	text := ""
	if len(values) > 0 {
		text = number(middle(values))
	}
	if len(values) > 1 {
		text += fmt.Sprintf(" (%s–%s)", number(slices.Min(values)), number(slices.Max(values)))
	}
	if len(failures) > 0 {
		text = strings.TrimSpace(text + " failed: " + oneLine(failures[0]))
		if len(values) > 0 {
			text += fmt.Sprintf(" (%d of %d rounds)", len(failures), len(failures)+len(values))
		}
	}
	return text
}

// oneLine is an error in a cell of a table.
func oneLine(err error) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(err.Error()), " "), "|", `\|`)
}

// middle returns the median.
func middle(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// number writes three digits, or all of those before the point in threes.
func number(value float64) string {
	if math.Abs(value) < 1000 {
		digits := 2
		for size := math.Abs(value); size >= 10 && digits > 0; size /= 10 {
			digits--
		}
		if value != 0 && math.Abs(value) < 0.1 {
			return fmt.Sprintf("%.2g", value)
		}
		return fmt.Sprintf("%.*f", digits, value)
	}
	return thousands(int(math.Round(value)))
}

// thousands writes all digits, in threes.
func thousands(value int) string {
	if value < 0 {
		return "-" + thousands(-value)
	}
	digits := fmt.Sprint(value)
	for n := len(digits) - 3; n > 0; n -= 3 {
		digits = digits[:n] + "," + digits[n:]
	}
	return digits
}
