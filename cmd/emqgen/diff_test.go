package main

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUnified(t *testing.T) {
	t.Parallel()
	before := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n"
	after := strings.NewReplacer("2\n3\n", "2\nthree\n", "8\n9\n", "8\n", "20\n", "20\n21\n").Replace(before)
	require.Equal(t, `--- a/x.go
+++ b/x.go
@@ -1,12 +1,11 @@
 1
 2
-3
+three
 4
 5
 6
 7
 8
-9
 10
 11
 12
@@ -18,3 +17,4 @@
 18
 19
 20
+21
`, unified("x.go", []byte(before), []byte(after)))
	require.Equal(t, "--- /dev/null\n+++ b/x.go\n@@ -0,0 +1,2 @@\n+a\n+b\n", unified("x.go", nil, []byte("a\nb\n")))
	require.Equal(t, "--- a/x.go\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n", unified("x.go", []byte("a\n"), nil))
}

// TestCompare holds, for many pairs of texts, that the edits lead from one to
// the other.
func TestCompare(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	text := func() []string {
		lines := make([]string, random.IntN(12))
		for i := range lines {
			lines[i] = string(rune('a' + random.IntN(3)))
		}
		return lines
	}
	for range 2000 {
		a, b := text(), text()
		gotA, gotB := []string{}, []string{}
		for _, e := range compare(a, b) {
			if e.sign != '+' {
				gotA = append(gotA, e.line)
			}
			if e.sign != '-' {
				gotB = append(gotB, e.line)
			}
		}
		require.Equal(t, a, gotA)
		require.Equal(t, b, gotB)
	}
}
