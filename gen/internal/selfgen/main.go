// Selfgen writes the files of this module that are generated from its own
// declarations: the headers of the scripts in lua/ (grammar in package header)
// and the job's fields in runtime/wire/envelope.go.
//
//	go run ./gen/internal/selfgen          # from the module's root
//	go run ./gen/internal/selfgen -check   # write nothing; exit 1 with a diff if a file is stale
//
// It writes
//
//	lua/manifest.json                     scripts and fields, for runtimes in other languages
//	lua/scripts_gen.go                    the scripts, embedded
//	runtime/internal/script/NAME_gen.go   the typed call of each script
//	runtime/wire/envelope_gen.go          wire and long names, and the decoder
//
// and removes the calls of scripts that are gone. It uses nothing that it
// writes, so it also runs when all of that is deleted: do so if a generated file
// no longer compiles.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	check := flag.Bool("check", false, "write nothing; exit 1 with a diff if a file is stale")
	root := flag.String("root", ".", "the module's root directory")
	flag.Parse()
	stale, err := run(*root, *check, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if *check && stale {
		fmt.Fprintln(os.Stderr, "selfgen: generated files are stale; run go run ./gen/internal/selfgen")
		os.Exit(1)
	}
}

// run generates all files and brings those on disk up to date, or shows how
// they differ if it only checks.
func run(root string, check bool, out io.Writer) (stale bool, err error) {
	source, err := load(root)
	if err != nil {
		return false, err
	}
	files, err := generate(source)
	if err != nil {
		return false, err
	}
	if err := addRemoved(root, files); err != nil {
		return false, err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(root, filepath.FromSlash(name))
		old, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return stale, err
		}
		if err == nil && files[name] != nil && bytes.Equal(old, files[name]) {
			continue
		}
		stale = true
		if check {
			fmt.Fprint(out, diff(name, string(old), string(files[name])))
			continue
		}
		if err := replace(path, files[name]); err != nil {
			return stale, err
		}
		fmt.Fprintln(out, name)
	}
	return stale, nil
}

// addRemoved adds, with nil content, the generated calls that no script has.
func addRemoved(root string, files map[string][]byte) error {
	paths, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(callsDir), "*_gen.go"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		name := callsDir + "/" + filepath.Base(path)
		if _, wanted := files[name]; !wanted {
			files[name] = nil
		}
	}
	return nil
}

// replace writes content to path, or removes the file if content is nil.
func replace(path string, content []byte) error {
	if content == nil {
		return os.Remove(path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}
