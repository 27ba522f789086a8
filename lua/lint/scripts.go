package lint

import (
	"path/filepath"
	"slices"
)

// Scripts returns which of the given files are scripts: those that no other
// file includes, those that declare their keys, by a header or by their name,
// and those that only a cycle of includes leads to. The rest are pieces of
// scripts, which are judged where they are included. The paths returned are clean,
// in order and each once.
func Scripts(files []string, read func(string) ([]byte, error)) []string {
	all := make([]string, len(files))
	for i, file := range files {
		all[i] = filepath.Clean(file)
	}
	slices.Sort(all)
	all = slices.Compact(all)

	s := &selection{includes: map[string][]string{}, included: map[string]bool{}, reached: map[string]bool{}}
	for _, file := range all {
		s.includes[file] = includesOf(file, read)
		for _, included := range s.includes[file] {
			s.included[included] = true
		}
	}
	var scripts []string
	for _, file := range all {
		if !s.included[file] || declaresKeys(file, read) {
			scripts = append(scripts, file)
			s.reach(file)
		}
	}
	for _, file := range all {
		if !s.reached[file] {
			scripts = append(scripts, file)
			s.reach(file)
		}
	}
	slices.Sort(scripts)
	return scripts
}

// selection is how files include each other.
type selection struct {
	includes map[string][]string
	included map[string]bool
	reached  map[string]bool
}

func (s *selection) reach(file string) {
	if s.reached[file] {
		return
	}
	s.reached[file] = true
	for _, included := range s.includes[file] {
		s.reach(included)
	}
}

func declaresKeys(file string, read func(string) ([]byte, error)) bool {
	if namedKeys(file) != noCount {
		return true
	}
	text, err := read(file)
	return err == nil && isOwn(text)
}
