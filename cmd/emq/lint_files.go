package main

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/echomq/echomq-go/lua/lint"
)

// unreadPath is a path that gave no script, and why.
type unreadPath struct {
	path string
	err  error
}

var errNoScripts = errors.New("holds no Lua script (*.lua)")

// findScripts returns the scripts in the given files and folders, by path and
// each once. A file that is given by itself is one, whatever its name.
func findScripts(paths []string) (scripts []string, unread []unreadPath) {
	for _, path := range paths {
		found, err := scriptsAt(path)
		if err == nil && len(found) == 0 {
			err = errNoScripts
		}
		if err != nil {
			unread = append(unread, unreadPath{path, withoutPath(err)})
		}
		scripts = append(scripts, found...)
	}
	slices.Sort(scripts)
	return slices.Compact(scripts), unread
}

func scriptsAt(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{filepath.Clean(path)}, nil
	}
	var files []string
	var failed error
	err = filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			failed = cmp.Or(failed, err) // the rest can still be judged
		case !entry.IsDir() && filepath.Ext(file) == ".lua":
			files = append(files, filepath.Clean(file))
		}
		return nil
	})
	return lint.Scripts(files, os.ReadFile), cmp.Or(failed, err)
}

// withoutPath is the error without the path, which stands before it.
func withoutPath(err error) error {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}
