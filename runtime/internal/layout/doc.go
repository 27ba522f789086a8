// Package layout has no code; its test holds the rules of which package may
// import which, so that a user's program links what it needs and nothing else.
package layout
