package emqtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// differs says how a value differs from what is wanted, if it does.
func differs[V comparable](path string, want, got V) []string {
	if want == got {
		return nil
	}
	return []string{fmt.Sprintf("%s: want %v, got %v", path, want, got)}
}

// differences says in which places two JSON texts differ.
func differences(path string, want, got []byte) []string {
	wanted, err := decodeJSON(want)
	if err != nil {
		return []string{fmt.Sprintf("%s: what is wanted is not JSON: %v", path, err)}
	}
	found, err := decodeJSON(got)
	if err != nil {
		return []string{fmt.Sprintf("%s: it is not JSON: %q", path, got)}
	}
	return compare(path, wanted, found)
}

func decodeJSON(text []byte) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber() // whole numbers stay exact
	err = decoder.Decode(&value)
	return value, err
}

// absent stands for what a text does not have.
type absent struct{}

func compare(path string, want, got any) []string {
	switch want := want.(type) {
	case map[string]any:
		if got, ok := got.(map[string]any); ok {
			return compareObjects(path, want, got)
		}
	case []any:
		if got, ok := got.([]any); ok {
			return compareLists(path, want, got)
		}
	}
	if reflect.DeepEqual(want, got) {
		return nil
	}
	return []string{fmt.Sprintf("%s: want %s, got %s", path, show(want), show(got))}
}

func compareObjects(path string, want, got map[string]any) []string {
	var differences []string
	keys := maps.Clone(want)
	maps.Copy(keys, got)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		w, wanted := want[key]
		if !wanted {
			w = absent{}
		}
		g, found := got[key]
		if !found {
			g = absent{}
		}
		differences = append(differences, compare(path+"."+key, w, g)...)
	}
	return differences
}

func compareLists(path string, want, got []any) []string {
	var differences []string
	for i := range max(len(want), len(got)) {
		w, g := any(absent{}), any(absent{})
		if i < len(want) {
			w = want[i]
		}
		if i < len(got) {
			g = got[i]
		}
		differences = append(differences, compare(fmt.Sprintf("%s[%d]", path, i), w, g)...)
	}
	return differences
}

func show(value any) string {
	if value == (any)(absent{}) {
		return "nothing"
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}
