//go:build race

package script_test

// underRace says that the race detector is on, which makes everything some five
// times slower and has nothing to find in a test that does one thing after the
// other.
const underRace = true
