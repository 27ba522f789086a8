package conformance

import (
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/echomq/echomq-go/lua"
	"github.com/echomq/echomq-go/lua/header"
)

// Bundle is the scripts that are probed.
type Bundle struct {
	// Dir is where they come from; "" for those of this build.
	Dir string
	// Notes are remarks, such as a script that is not what the manifest says.
	Notes []string

	scripts map[string]lua.Script // by name
	names   map[string]string     // by digest
	instead map[string]lua.Script // by the digest of the build's script
}

// Embedded returns the scripts of this build.
func Embedded() *Bundle {
	b := newBundle("")
	for _, script := range lua.All() {
		b.add(script, script)
	}
	return b
}

// ReadBundle reads the scripts of a folder: the files that its manifest.json
// names, or, without one, those called as the scripts of this build. Each must
// be there and declare the same keys, arguments and items as the build's, since
// its calls are built from those.
func ReadBundle(dir string) (*Bundle, error) {
	b := newBundle(dir)
	files, digests, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	for _, own := range lua.All() {
		file := files[own.Name]
		if file == "" {
			file = own.Name + ".lua"
		}
		source, err := os.ReadFile(filepath.Join(dir, filepath.Base(file)))
		if err != nil {
			return nil, fmt.Errorf("read the bundle: %w", err)
		}
		if err := sameContract(own, file, source); err != nil {
			return nil, err
		}
		sum := sha1.Sum(source)
		script := lua.Script{Name: own.Name, Source: string(source), SHA1: hex.EncodeToString(sum[:])}
		if want := digests[own.Name]; want != "" && want != script.SHA1 {
			b.Notes = append(b.Notes, fmt.Sprintf("%s has the digest %s, manifest.json says %s", file, script.SHA1, want))
		}
		b.add(own, script)
	}
	return b, nil
}

func newBundle(dir string) *Bundle {
	return &Bundle{Dir: dir, scripts: map[string]lua.Script{}, names: map[string]string{}, instead: map[string]lua.Script{}}
}

func (b *Bundle) add(own, script lua.Script) {
	b.scripts[own.Name] = script
	b.names[script.SHA1] = own.Name
	b.instead[own.SHA1] = script
}

// readManifest returns the files and digests that a manifest names, by script;
// nothing if there is none.
func readManifest(dir string) (files, digests map[string]string, err error) {
	text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read the bundle: %w", err)
	}
	var manifest struct {
		Scripts []struct{ Name, File, SHA1 string }
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		return nil, nil, fmt.Errorf("read the bundle's manifest.json: %w", err)
	}
	files, digests = map[string]string{}, map[string]string{}
	for _, script := range manifest.Scripts {
		files[script.Name], digests[script.Name] = script.File, script.SHA1
	}
	return files, digests, nil
}

// sameContract compares what the headers of two scripts say about a call.
func sameContract(own lua.Script, file string, source []byte) error {
	want, err := header.Parse(own.Name+".lua", []byte(own.Source))
	if err != nil {
		return err
	}
	got, err := header.Parse(file, source)
	if err != nil {
		return fmt.Errorf("read the bundle's header of %s: %w", file, err)
	}
	if !slices.Equal(shape(want), shape(got)) {
		return fmt.Errorf("the bundle's %s is called otherwise than %s.lua of this build: its header declares %q, the build's %q",
			file, own.Name, shape(got), shape(want))
	}
	return nil
}

// shape is what a call is built from.
func shape(script *header.Script) []string {
	var shape []string
	for _, key := range script.Keys {
		shape = append(shape, "key "+key.Suffix)
	}
	for _, key := range script.Each {
		shape = append(shape, "each "+key.Pattern())
	}
	for _, arg := range script.Args {
		shape = append(shape, "arg "+arg.Name)
	}
	for _, item := range script.Items {
		shape = append(shape, "item "+item.Name)
	}
	return shape
}
