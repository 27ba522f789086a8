package main

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const enterPrompt = "-- Enter for the next step --"

func TestProbeStepByStep(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	s := startSession(t, e, "--queue", "payments")
	for _, step := range []string{"plain", "quiet", "prioritized", "delayed", "retried", "failed", "reporting", "stalled", "cancelled", "changed", "stuck", "paused", "limited", "grouped", "repaired", "flow", "scheduled", "unique", "trimmed", "stopped"} {
		s.until("=== " + step)
		s.until(enterPrompt)
		if step == "plain" {
			assert.Contains(t, e.all(t), "emq:{payments}:completed", "between the steps one can look")
		}
		s.press()
	}
	require.Zero(t, s.finish(), s.errs.String())
	assert.Contains(t, s.read.String(), "The deployment conforms.")
	assert.Empty(t, e.all(t))
}

// Without a terminal there is nobody to press Enter.
func TestProbeStepWithoutInput(t *testing.T) {
	t.Parallel()
	status, _, errs := probed(t, startEngine(t), "--step")
	assert.Zero(t, status, errs)
}

func TestProbeInterrupted(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	s := startSession(t, e, "--queue", "payments")
	s.until(enterPrompt)
	s.press()
	s.until(enterPrompt)
	require.NotEmpty(t, e.all(t))
	s.cancel()
	assert.Equal(t, exitUnknown, s.finish())
	assert.Contains(t, s.errs.String(), "could not tell")
	assert.Empty(t, e.all(t), "it cleans up all the same")
}

func TestProbeOfAnEngineThatDies(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	s := startSession(t, e)
	s.until(enterPrompt)
	require.NoError(t, e.Close())
	s.press()
	assert.Equal(t, exitUnknown, s.finish())
	assert.Contains(t, s.errs.String(), "could not tell")
}

// An idle queue shows nothing, and neither does what was not watched.
func TestObserveOfAnIdleQueue(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	status, out, errs := probed(t, e, "--observe", "--queue", "payments", "--for", "1ms")
	assert.Equal(t, exitUnknown, status)
	assert.Contains(t, out, "writing nothing")
	assert.Contains(t, errs, "no round trip was seen")
	assert.Empty(t, e.all(t))
}

// TestObserveABrokenQueue watches a queue on which somebody runs a script that
// touches an undeclared key.
func TestObserveABrokenQueue(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	stop := make(chan struct{})
	var others sync.WaitGroup
	others.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				e.keys.Eval(t.Context(), `return redis.call('GET', KEYS[1] .. 'x')`, []string{"emq:{payments}:meta"})
			}
		}
	})
	status, out, errs := probed(t, e, "--observe", "--queue", "payments", "--for", "500ms")
	close(stop)
	others.Wait()
	assert.Equal(t, exitNot, status, errs)
	assert.Contains(t, out, `key "emq:{payments}:metax" is not one of KEYS`)
	assert.Contains(t, out, "The deployment does not conform: point 4")
}
