package lua_test

import (
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/echomq/echomq-go/lua"
	"github.com/echomq/echomq-go/runtime/wire"
)

func TestAllScriptsAreEmbedded(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("*.lua")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	if all := lua.All(); len(all) != len(paths) {
		t.Errorf("%d scripts are embedded, of %d", len(all), len(paths))
	}
	for _, path := range paths {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(path, ".lua")
		script, ok := lua.Lookup(name)
		sum := sha1.Sum(source)
		if !ok || script.Name != name || script.Source != string(source) || script.SHA1 != hex.EncodeToString(sum[:]) {
			t.Errorf("%s is not embedded as it is: %t", path, ok)
		}
	}
}

func TestLookupOfNothing(t *testing.T) {
	t.Parallel()
	if script, ok := lua.Lookup("nothing"); ok {
		t.Errorf("found %q", script.Name)
	}
}

func TestAllIsACopy(t *testing.T) {
	t.Parallel()
	all := lua.All()
	name := all[0].Name
	all[0].Name = "changed"
	if again := lua.All(); again[0].Name != name {
		t.Error("a caller has changed the scripts")
	}
}

// TestManifest reads the manifest as a runtime in another language would.
func TestManifest(t *testing.T) {
	t.Parallel()
	var manifest struct {
		Protocol string
		Job      struct {
			Fields []struct {
				Wire string
				Long *string
				Type string
			}
		}
		Scripts []struct {
			Name, File, SHA1, Memory string
			Keys                     []struct{ Suffix, Type string }
			Each                     []struct{ Name, Type, Pattern string }
			Items                    []struct{ Name, Kind string }
			Reply                    []struct{ Name, Kind string }
		}
	}
	if err := json.Unmarshal(lua.Manifest(), &manifest); err != nil {
		t.Fatal(err)
	}
	if manifest.Protocol != wire.Version {
		t.Errorf("the protocol is %q", manifest.Protocol)
	}
	if len(manifest.Scripts) != len(lua.All()) {
		t.Errorf("%d scripts of %d", len(manifest.Scripts), len(lua.All()))
	}
	for _, described := range manifest.Scripts {
		script, ok := lua.Lookup(described.Name)
		if !ok || described.SHA1 != script.SHA1 || described.File != script.Name+".lua" {
			t.Errorf("script %s is %+v", described.Name, described)
		}
		if len(described.Keys) == 0 || len(described.Reply) == 0 {
			t.Errorf("script %s has no keys or no reply", described.Name)
		}
	}
	if len(manifest.Job.Fields) != len(wire.EnvelopeFields()) {
		t.Errorf("%d fields of %d", len(manifest.Job.Fields), len(wire.EnvelopeFields()))
	}
	for _, field := range manifest.Job.Fields {
		long, ok := wire.LongName(field.Wire)
		if ok != (field.Long != nil) || ok && long != *field.Long {
			t.Errorf("field %s is %v", field.Wire, field.Long)
		}
	}
}

func TestManifestIsACopy(t *testing.T) {
	t.Parallel()
	lua.Manifest()[0] = 'x'
	if lua.Manifest()[0] != '{' {
		t.Error("a caller has changed the manifest")
	}
}
