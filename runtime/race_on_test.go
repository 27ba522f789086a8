//go:build race

package echomq_test

// underRace says that the race detector is on, which makes everything slower and
// allocates a little more.
const underRace = true
