package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const enterPrompt = "-- Enter for the next step --"

func TestProbeStepByStep(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	s := startSession(t, e, "--queue", "payments")
	for _, step := range []string{"plain", "prioritized", "delayed", "retried", "failed", "stalled", "trimmed", "stopped"} {
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
