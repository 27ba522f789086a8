package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// quantile returns the value below which that part of the sorted values lies.
func quantile[T cmp.Ordered](sorted []T, part float64) T {
	return sorted[int(part*float64(len(sorted)-1)+0.5)]
}

// milliseconds returns the quantiles of values; 1 is the greatest.
func milliseconds(values []time.Duration, parts ...float64) []float64 {
	sorted := slices.Sorted(slices.Values(values))
	var all []float64
	for _, part := range parts {
		all = append(all, float64(quantile(sorted, part).Microseconds())/1000)
	}
	return all
}

// lateness carries out a plan and returns quantiles, without the first jobs.
func lateness(plan plan, skipped int, parts ...float64) func(context.Context, system) (measured, error) {
	return func(ctx context.Context, s system) (measured, error) {
		plan := plan
		if plan.Kind == "idle" && s.name() == "asynq" {
			plan.Jobs = min(plan.Jobs, 12) // each takes it about a second
		}
		all, err := s.late(ctx, plan)
		if err != nil {
			return measured{}, err
		}
		if len(all) != plan.Jobs {
			return measured{}, fmt.Errorf("%d of %d jobs were seen", len(all), plan.Jobs)
		}
		return measured{values: milliseconds(all[skipped:], parts...)}, nil
	}
}
