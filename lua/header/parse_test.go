package header_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/echomq/echomq-go/lua/header"
	"github.com/echomq/echomq-go/runtime/wire"
)

const example = `--- move moves jobs.
---
--- More about it.
---
--- @memory drains
--- @key meta hash the queue's version
--- @key reserved hash ids to tokens
--- @each job hash <id> the job
--- @each lock string <id>:lock the token
--- @arg lease ms how long
--- @item id id the job's id
--- @item outcome word(completed|failed) what came of it
--- @field version meta
--- @field name job
--- @field * reserved
--- @reply now ms the clock
--- @reply results records one per item
--- @record results verdict word(done|lost) what happened
--- @record results job hash the job
--- @error EMQARGS the call is malformed
return { 1, {} }
--- not part of the header
`

func TestParse(t *testing.T) {
	t.Parallel()
	script, err := header.Parse("lua/move.lua", []byte(example))
	if err != nil {
		t.Fatal(err)
	}
	at := func(line, column int) header.Position {
		return header.Position{File: "lua/move.lua", Line: line, Column: column}
	}
	want := &header.Script{
		Name:   "move",
		Doc:    "move moves jobs.\n\nMore about it.",
		Memory: header.MemoryDrains,
		Keys: []header.Key{
			{Position: at(6, 10), Suffix: "meta", Type: header.Hash, Doc: "the queue's version"},
			{Position: at(7, 10), Suffix: "reserved", Type: header.Hash, Doc: "ids to tokens"},
		},
		Each: []header.EachKey{
			{Position: at(8, 11), Name: "job", Type: header.Hash, Of: header.KindID, Doc: "the job"},
			{Position: at(9, 11), Name: "lock", Type: header.String, Of: header.KindID, Part: "lock", Doc: "the token"},
		},
		Args: []header.Value{{Position: at(10, 10), Name: "lease", Kind: header.KindMS, Doc: "how long"}},
		Items: []header.Value{
			{Position: at(11, 11), Name: "id", Kind: header.KindID, Doc: "the job's id"},
			{Position: at(12, 11), Name: "outcome", Kind: header.KindWord, Words: []string{"completed", "failed"}, Doc: "what came of it"},
		},
		Fields: []header.Field{
			{Position: at(13, 12), Name: "version", Key: "meta"},
			{Position: at(14, 12), Name: "name", Key: "job"},
			{Position: at(15, 12), Name: "*", Key: "reserved"},
		},
		Replies: []header.Reply{
			{Value: header.Value{Position: at(16, 12), Name: "now", Kind: header.KindMS, Doc: "the clock"}},
			{
				Value: header.Value{Position: at(17, 12), Name: "results", Kind: header.KindRecords, Doc: "one per item"},
				Record: []header.Value{
					{Position: at(18, 21), Name: "verdict", Kind: header.KindWord, Words: []string{"done", "lost"}, Doc: "what happened"},
					{Position: at(19, 21), Name: "job", Kind: header.KindHash, Doc: "the job"},
				},
			},
		},
		Errors: []header.ErrorReply{{Position: at(20, 12), Code: "EMQARGS", Doc: "the call is malformed"}},
	}
	if !reflect.DeepEqual(script, want) {
		t.Errorf("parsed\n%+v\nwant\n%+v", script, want)
	}
}

func TestScriptAnswersForItsKeys(t *testing.T) {
	t.Parallel()
	script, err := header.Parse("move.lua", []byte(example))
	if err != nil {
		t.Fatal(err)
	}
	if keyType, ok := script.KeyType("lock"); !ok || keyType != header.String {
		t.Errorf("lock is of type %q, %t", keyType, ok)
	}
	if _, ok := script.KeyType("wait"); ok {
		t.Error("wait has a type but is not declared")
	}
	for _, test := range []struct {
		key, field string
		want       bool
	}{{"meta", "version", true}, {"meta", "paused", false}, {"reserved", "anything", true}, {"job", "version", false}, {"job", "", false}, {"reserved", "", true}} {
		if got := script.HasField(test.key, test.field); got != test.want {
			t.Errorf("HasField(%q, %q) is %t", test.key, test.field, got)
		}
	}
	if got := script.Each[1].Pattern(); got != "<id>:lock" {
		t.Errorf("pattern is %q", got)
	}
}

func TestScriptsHaveHeaders(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../*.lua")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := header.Parse(path, text); err != nil {
			t.Error(err)
		}
	}
}

// TestKeysOfTheProtocol holds that every key of the protocol can be declared
// with exactly one type.
func TestKeysOfTheProtocol(t *testing.T) {
	t.Parallel()
	types := []string{"hash", "list", "zset", "set", "string", "stream"}
	declarable := func(declaration string) int {
		count := 0
		for _, keyType := range types {
			text := strings.Replace(example, "--- @arg", "--- "+strings.Replace(declaration, "TYPE", keyType, 1)+"\n--- @arg", 1)
			if _, err := header.Parse("move.lua", []byte(text)); err == nil {
				count++
			}
		}
		return count
	}
	for _, part := range wire.JobParts() {
		if part == "lock" {
			continue // declared by the example
		}
		if n := declarable("@each x TYPE <id>:" + part + " text"); n != 1 {
			t.Errorf("a job's key %q can be declared with %d types", part, n)
		}
	}
	for _, suffix := range wire.QueueSuffixes() {
		text := strings.Replace(example, "--- @key meta hash the queue's version\n", "", 1)
		text = strings.Replace(text, "--- @key reserved hash ids to tokens\n", "", 1)
		text = strings.Replace(text, "--- @field version meta\n", "", 1)
		text = strings.Replace(text, "--- @field * reserved\n", "", 1)
		count := 0
		for _, keyType := range types {
			with := strings.Replace(text, "--- @each job", "--- @key "+suffix+" "+keyType+" text\n--- @each job", 1)
			if _, err := header.Parse("move.lua", []byte(with)); err == nil {
				count++
			}
		}
		if count != 1 {
			t.Errorf("the key %q can be declared with %d types", suffix, count)
		}
	}
}

func TestParseFaults(t *testing.T) {
	t.Parallel()
	for _, test := range faults {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(example, test.old) {
				t.Fatalf("the example has no %q", test.old)
			}
			_, err := header.Parse("move.lua", []byte(strings.Replace(example, test.old, test.new, 1)))
			var diagnostics header.Diagnostics
			if !errors.As(err, &diagnostics) {
				t.Fatalf("error is %v", err)
			}
			if got := err.Error(); got != strings.Join(test.want, "\n") {
				t.Errorf("error is\n%s\nwant\n%s", got, strings.Join(test.want, "\n"))
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add(example)
	for _, test := range faults {
		f.Add(strings.Replace(example, test.old, test.new, 1))
	}
	paths, _ := filepath.Glob("../*.lua")
	for _, path := range paths {
		if text, err := os.ReadFile(path); err == nil {
			f.Add(string(text))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		script, err := header.Parse("move.lua", []byte(text))
		if script == nil {
			t.Fatal("no script")
		}
		var diagnostics header.Diagnostics
		if err == nil {
			if script.Name != "move" || script.Memory == "" || len(script.Keys) == 0 || len(script.Replies) == 0 {
				t.Errorf("accepted without a part: %+v", script)
			}
			return
		}
		if !errors.As(err, &diagnostics) || len(diagnostics) == 0 {
			t.Fatalf("error is %T", err)
		}
		lines := strings.Split(text, "\n")
		for _, d := range diagnostics {
			p := d.Position
			if p.Line < 1 || p.Line > len(lines) || p.Column < 1 || p.Column > len(lines[p.Line-1])+4 {
				t.Errorf("%s is no place in the text", p)
			}
		}
	})
}
