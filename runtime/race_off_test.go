//go:build !race

package echomq_test

const underRace = false
