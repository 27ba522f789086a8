package gen

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"slices"
)

// Step is what has to happen to one file on disk.
type Step struct {
	Path string
	// Before and After are its content; nil where there is no file.
	Before, After []byte
}

// Unchanged is what [Step.State] says about a file that is as it should be.
const Unchanged = "unchanged"

// State says in one word how the file on disk is: [Unchanged], with whatever line
// ends Git has checked it out, stale, missing, or orphaned where there should be
// none.
func (s Step) State() string {
	switch {
	case s.Before != nil && s.After != nil && bytes.Equal(bytes.ReplaceAll(s.Before, []byte("\r\n"), []byte("\n")), s.After):
		return Unchanged
	case s.After == nil:
		return "orphaned"
	case s.Before == nil:
		return "missing"
	}
	return "stale"
}

// Compare compares what was generated with what read, such as [os.ReadFile],
// finds on disk. The steps are in the order of the paths.
func (r *Result) Compare(read func(path string) ([]byte, error)) ([]Step, error) {
	after := maps.Clone(r.Files)
	for _, orphan := range r.Orphans {
		after[orphan] = nil
	}
	var steps []Step
	for _, path := range slices.Sorted(maps.Keys(after)) {
		before, err := read(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err == nil && before == nil {
			before = []byte{}
		}
		steps = append(steps, Step{Path: path, Before: before, After: after[path]})
	}
	return steps, nil
}
