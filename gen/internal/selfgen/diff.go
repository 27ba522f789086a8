package main

import (
	"fmt"
	"strings"
)

// diff shows how the file called name would change, line by line with a little
// context, by a longest common subsequence.
func diff(name, old, new string) string {
	edits := compare(lines(old), lines(new))
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s (generated)\n", name, name)
	shown := -1
	for i := range edits {
		if !nearChange(edits, i) {
			continue
		}
		if shown != i-1 {
			fmt.Fprintf(&b, "@@ line %d @@\n", edits[i].line)
		}
		fmt.Fprintf(&b, "%c%s\n", edits[i].sign, edits[i].text)
		shown = i
	}
	return b.String()
}

// edit is a line that stays (' '), goes ('-') or comes ('+').
type edit struct {
	sign byte
	text string
	line int // in the old file
}

func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

func nearChange(edits []edit, i int) bool {
	const context = 2
	for j := max(0, i-context); j <= min(len(edits)-1, i+context); j++ {
		if edits[j].sign != ' ' {
			return true
		}
	}
	return false
}

func compare(old, new []string) []edit {
	common := make([][]int32, len(old)+1)
	for i := range common {
		common[i] = make([]int32, len(new)+1)
	}
	for i := len(old) - 1; i >= 0; i-- {
		for j := len(new) - 1; j >= 0; j-- {
			if old[i] == new[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var edits []edit
	i, j := 0, 0
	for i < len(old) || j < len(new) {
		switch {
		case i < len(old) && j < len(new) && old[i] == new[j]:
			edits = append(edits, edit{' ', old[i], i + 1})
			i, j = i+1, j+1
		case j == len(new) || i < len(old) && common[i+1][j] >= common[i][j+1]:
			edits = append(edits, edit{'-', old[i], i + 1})
			i++
		default:
			edits = append(edits, edit{'+', new[j], i + 1})
			j++
		}
	}
	return edits
}
