package fleet

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/echomq/echomq-go/lua"
)

// bundle is what the driver knows of the scripts that the peers load.
type bundle struct {
	dir      string
	protocol string
	scripts  map[string]string // name → SHA-1
	long     map[string]bool   // the long names of a job's fields
}

func readBundle(dir string) (bundle, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return bundle{}, err
	}
	encoded, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		return bundle{}, fmt.Errorf("bundle: %w", err)
	}
	var manifest struct {
		Protocol string
		Scripts  []struct{ Name, SHA1 string }
		Job      struct {
			Fields []struct{ Long string }
		}
	}
	if err := json.Unmarshal(encoded, &manifest); err != nil {
		return bundle{}, fmt.Errorf("bundle: %s: %w", filepath.Join(dir, "manifest.json"), err)
	}
	if manifest.Protocol == "" || len(manifest.Scripts) == 0 {
		return bundle{}, fmt.Errorf("bundle: %s is no manifest of EchoMQ's scripts", filepath.Join(dir, "manifest.json"))
	}
	b := bundle{dir: dir, protocol: manifest.Protocol, scripts: map[string]string{}, long: map[string]bool{"id": true}}
	for _, script := range manifest.Scripts {
		b.scripts[script.Name] = script.SHA1
	}
	for _, field := range manifest.Job.Fields {
		if field.Long != "" {
			b.long[field.Long] = true
		}
	}
	return b, nil
}

// WriteBundle writes the scripts and the manifest that are compiled into this
// program into dir.
func WriteBundle(dir string) error {
	if err := os.WriteFile(filepath.Join(dir, "manifest.json"), lua.Manifest(), 0o600); err != nil {
		return err
	}
	for _, script := range lua.All() {
		if err := os.WriteFile(filepath.Join(dir, script.Name+".lua"), []byte(script.Source), 0o600); err != nil {
			return err
		}
	}
	return nil
}
