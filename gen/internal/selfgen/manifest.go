package main

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/echomq/echomq-go/lua/header"
	"github.com/echomq/echomq-go/runtime/wire"
)

// manifest is the content of lua/manifest.json.
type manifest struct {
	Description string           `json:"description"`
	Protocol    string           `json:"protocol"`
	Calling     calling          `json:"calling"`
	Kinds       []described      `json:"kinds"`
	Names       wireNames        `json:"names"`
	Limits      []limit          `json:"limits"`
	Opts        settings         `json:"opts"`
	Job         manifestHash     `json:"job"`
	Scheduler   manifestHash     `json:"scheduler"`
	Scripts     []manifestScript `json:"scripts"`
}

// calling tells how KEYS and ARGV are built.
type calling struct {
	Description string `json:"description"`
	Key         string `json:"key"`
	Each        string `json:"each"`
	Keys        string `json:"KEYS"`
	Args        string `json:"ARGV"`
	Neutral     string `json:"neutral"`
	Reply       string `json:"reply"`
	Errors      string `json:"errors"`
	Memory      string `json:"memory"`
	Specials    string `json:"specials"`
}

type described struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

type manifestHash struct {
	Description string          `json:"description"`
	Fields      []manifestField `json:"fields"`
}

// manifestField is a field of a hash. Long is null for one that only
// scripts read.
type manifestField struct {
	Wire        string  `json:"wire"`
	Long        *string `json:"long"`
	Type        string  `json:"type"`
	Absent      string  `json:"absent,omitempty"`
	Description string  `json:"description"`
}

type manifestScript struct {
	Name        string            `json:"name"`
	File        string            `json:"file"`
	SHA1        string            `json:"sha1"`
	Of          string            `json:"of,omitempty"`
	Description string            `json:"description"`
	Memory      header.Memory     `json:"memory"`
	Keys        []manifestKey     `json:"keys"`
	Each        []manifestEach    `json:"each"`
	Args        []manifestValue   `json:"args"`
	Items       []manifestValue   `json:"items"`
	Fields      []scriptField     `json:"fields"`
	Reply       []manifestValue   `json:"reply"`
	Errors      []manifestError   `json:"errors"`
	Specials    []manifestSpecial `json:"specials,omitempty"`
}

// manifestSpecial is a script that is enough for calls in which the values of arguments
// are among those given.
type manifestSpecial struct {
	Name   string              `json:"name"`
	Values map[string][]string `json:"values"`
}

type manifestKey struct {
	Suffix      string         `json:"suffix"`
	Type        header.KeyType `json:"type"`
	Description string         `json:"description"`
}

type manifestEach struct {
	Name        string         `json:"name"`
	Type        header.KeyType `json:"type"`
	Pattern     string         `json:"pattern"`
	Description string         `json:"description"`
}

type manifestValue struct {
	Name        string          `json:"name"`
	Kind        header.Kind     `json:"kind"`
	Words       []string        `json:"words,omitempty"`
	Stored      []string        `json:"stored,omitempty"`
	Description string          `json:"description"`
	Record      []manifestValue `json:"record,omitempty"`
}

type scriptField struct {
	Key  string `json:"key"`
	Wire string `json:"wire"`
	// Long is the name outside the wire of a field of a job or scheduler.
	Long string `json:"long,omitempty"`
}

type manifestError struct {
	Code        string `json:"code"`
	Description string `json:"description"`
}

func generateManifest(from source) ([]byte, error) {
	m := manifest{
		Description: "The scripts of the EchoMQ protocol, for a runtime in any language: load each file with SCRIPT LOAD, check that the server answers its sha1, and build KEYS and ARGV as \"calling\" says. Generated from the headers of the scripts; do not edit.",
		Protocol:    wire.Version,
		Calling:     callingRules,
		Kinds:       kinds,
		Names:       namesOfWire(),
		Limits:      limits,
		Opts:        from.settings,
		Job:         newManifestHash(from.hashes, "job"),
		Scheduler:   newManifestHash(from.hashes, "scheduler"),
	}
	long := map[string]map[string]string{}
	for _, h := range from.hashes {
		long[h.of] = map[string]string{}
		for _, field := range h.fields {
			long[h.of][field.wire] = field.long
		}
	}
	for _, s := range from.scripts {
		m.Scripts = append(m.Scripts, newManifestScript(s, long))
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(m)
	return b.Bytes(), err
}

func newManifestHash(hashes []hash, of string) manifestHash {
	described := manifestHash{Description: "The fields of a " + of + "'s hash: the name on the wire, the long name that programs and people see (null: none, scripts only), the type, and what its absence means if not zero."}
	for _, h := range hashes {
		if h.of == of {
			described.Fields = manifestFields(h.fields)
		}
	}
	return described
}

func manifestFields(fields []hashField) []manifestField {
	types := map[string]string{"[]byte": "bytes", "Timestamp": "ms", "Milliseconds": "ms"}
	var out []manifestField
	for _, field := range fields {
		described := manifestField{Wire: field.wire, Type: field.goType, Absent: absent[field.wire], Description: field.doc}
		if field.long != "" {
			described.Long = &field.long
		}
		if name, ok := types[field.goType]; ok {
			described.Type = name
		}
		out = append(out, described)
	}
	return out
}

func newManifestScript(s script, long map[string]map[string]string) manifestScript {
	out := manifestScript{
		Name: s.Name, File: s.Name + ".lua", SHA1: s.sha1, Of: s.of, Memory: s.Memory,
		Description: strings.Join(strings.Fields(s.Doc), " "),
		Keys:        []manifestKey{}, Each: []manifestEach{}, Fields: []scriptField{}, Errors: []manifestError{},
		Args: s.arguments(s.Args), Items: s.arguments(s.Items), Reply: []manifestValue{},
	}
	of := map[string]string{}
	for _, key := range s.Keys {
		out.Keys = append(out.Keys, manifestKey{Suffix: key.Suffix, Type: key.Type, Description: key.Doc})
	}
	for _, key := range s.Each {
		of[key.Name] = key.HashOf()
		out.Each = append(out.Each, manifestEach{Name: key.Name, Type: key.Type, Pattern: key.Pattern(), Description: key.Doc})
	}
	for _, field := range s.Fields {
		out.Fields = append(out.Fields, scriptField{Key: field.Key, Wire: field.Name, Long: long[of[field.Key]][field.Name]})
	}
	for _, reply := range s.Replies {
		value := newManifestValue(reply.Value)
		value.Record = manifestValues(reply.Record)
		out.Reply = append(out.Reply, value)
	}
	for _, declared := range s.Specials {
		values := map[string][]string{}
		for _, fixed := range declared.Values {
			if len(fixed.Words) > 0 {
				values[fixed.Name] = fixed.Words
			}
		}
		out.Specials = append(out.Specials, manifestSpecial{Name: declared.Name, Values: values})
	}
	for _, e := range s.Errors {
		out.Errors = append(out.Errors, manifestError{Code: e.Code, Description: e.Doc})
	}
	return out
}

// arguments returns values of the call with the fields that they are stored in.
func (s script) arguments(values []header.Value) []manifestValue {
	out := manifestValues(values)
	for i, value := range values {
		for _, store := range s.StoredIn(value.Name) {
			out[i].Stored = append(out[i].Stored, store.Field)
		}
	}
	return out
}

func newManifestValue(v header.Value) manifestValue {
	return manifestValue{Name: v.Name, Kind: v.Kind, Words: v.Words, Description: v.Doc}
}

func manifestValues(values []header.Value) []manifestValue {
	out := []manifestValue{}
	for _, v := range values {
		out = append(out, newManifestValue(v))
	}
	return out
}
