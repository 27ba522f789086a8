//go:build race

package script_test

// underRace says that the race detector is on. The model test then makes a short
// run of it: make test-model has the time for the whole.
const underRace = true
