package gen_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/annotations"
	echomq "github.com/echomq/echomq-go/runtime"
)

// TestDefaultsAreTheRuntimes holds that the table of directives documents the
// defaults that the runtime has.
func TestDefaultsAreTheRuntimes(t *testing.T) {
	t.Parallel()
	duration := func(d time.Duration) func(string) bool {
		return func(text string) bool {
			parsed, err := annotations.ParseDuration(text)
			return err == nil && parsed == d
		}
	}
	number := func(n int) func(string) bool {
		return func(text string) bool { return text == strconv.Itoa(n) }
	}
	matches := map[string]func(string) bool{
		"queue lease":    duration(echomq.DefaultLease),
		"job timeout":    duration(echomq.DefaultTimeout),
		"retry attempts": number(echomq.DefaultAttempts),
		"retry base":     duration(echomq.DefaultBackoffBase),
		"retry cap":      duration(echomq.DefaultBackoffCap),
		"retry stalls":   number(echomq.DefaultStalls),
		"batch size":     number(echomq.DefaultBatchSize),
		"batch wait":     duration(echomq.DefaultBatchWait),
	}
	for _, spec := range annotations.Directives() {
		for _, item := range spec.Items {
			title := spec.Name + " " + item.Key
			if match := matches[title]; match != nil {
				require.True(t, match(item.Default), "%s: default %s", title, item.Default)
				delete(matches, title)
			}
		}
	}
	require.Empty(t, matches, "items that the table lacks")
	require.Equal(t, echomq.MaxPriority, annotations.MaxPriority)
}
