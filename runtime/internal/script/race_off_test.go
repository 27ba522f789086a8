//go:build !race

package script_test

const underRace = false
