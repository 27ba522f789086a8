package gen_test

// This file holds that a payload's field which is added changes what is about that
// payload, in every file that is written, and nothing else: a review sees the field.

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/gen"
)

// fieldSource declares three jobs, of which the one in the middle has a place for a
// field, as has a struct of its payload.
const fieldSource = `//emq:queue name=mail
package mail

import "time"

//emq:job codec=%[1]s
type First struct {
	Address Address
	At      time.Time
}

//emq:job codec=%[1]s
//emq:result Receipt
//emq:unique by=ID
type Second struct {
%[2]s	ID      int64
%[3]s	Address Address
	Parcel  *Parcel
%[4]s}

//emq:job codec=%[1]s
type Third struct{ ID int64 }

type Address struct{ City string }

type Parcel struct {
	Weight int
%[5]s}

type More struct{ Text string }

type Receipt struct{ ID string }
`

func TestFieldChangesItsOwn(t *testing.T) {
	t.Parallel()
	fields := map[string]string{
		"Note string `json:\",omitempty\"`": "", "Tags []string": "", "Due time.Time `json:\",omitzero\"`": "", "Sent map[string]*time.Time": "",
		"Near *Address": "", "More *More": "More", "Many map[string][]More": "More",
	}
	for _, codec := range []string{"json", "msgpack"} {
		for _, field := range slices.Sorted(maps.Keys(fields)) {
			for at, place := range []string{"first", "in the middle", "last", "in a struct"} {
				t.Run(codec+" "+field+" "+place, func(t *testing.T) {
					t.Parallel()
					places := []any{codec, "", "", "", ""}
					dir := newModule(t, map[string]string{"mail.go": fmt.Sprintf(fieldSource, places...)})
					before := everything(t, dir)
					places[at+1] = "\t" + field + "\n"
					require.NoError(t, writeTree(dir, map[string]string{"mail.go": fmt.Sprintf(fieldSource, places...)}))
					after := everything(t, dir)
					owner := "Second"
					if place == "in a struct" {
						owner = "Parcel"
					}
					require.Equal(t, changesOf(codec, owner, fields[field]), changesBetween(before, after))
				})
			}
		}
	}
}

// changesOf are the changes that a field of a struct makes which is the payload of
// job Second or a part of it. A type that nothing had before comes with the field.
func changesOf(codec, owner, fresh string) []string {
	changes := []string{
		"emq.lock: ~ job mail/Second v1",
		"emq_gen.go: ~ SecondJob", // the hash of what it looks like
		"mail.emq.ts: ~ const kindOf" + owner + ": emq.Kind = emq.struct(() => ({",
		"mail.emq.ts: ~ export type " + owner + " = {",
		"mail_emq.ex: ~ defmodule Mail." + owner + " do",
	}
	if owner == "Second" {
		changes = append(changes, "emq_gen.go: ~ _ Second") // what the compiler compares
	}
	if codec == "msgpack" {
		changes = append(changes, "emq_gen.go: ~ encode"+owner+"Msgpack", "emq_gen.go: ~ decode"+owner+"Msgpack")
	}
	if fresh != "" {
		changes = append(changes,
			"mail.emq.ts: + const kindOf"+fresh+": emq.Kind = emq.struct(() => ({",
			"mail.emq.ts: + export type "+fresh+" = {",
			"mail_emq.ex: + defmodule Mail."+fresh+" do")
		if codec == "msgpack" {
			changes = append(changes, "emq_gen.go: + encode"+fresh+"Msgpack", "emq_gen.go: + decode"+fresh+"Msgpack")
		}
	}
	slices.Sort(changes)
	return changes
}

// everything returns the declarations of all that is written for the package in
// dir, by the names of files, and writes its lock.
func everything(t *testing.T, dir string) map[string]map[string]string {
	t.Helper()
	result := run(t, dir)
	require.Empty(t, result.Diagnostics)
	parts := map[string]map[string]string{}
	for path, content := range result.Files {
		name := filepath.Base(path)
		if name == gen.Output {
			parts[name] = goDeclarations(t, string(content))
		} else {
			parts[name] = paragraphs(string(content))
			require.NoError(t, writeTree(dir, map[string]string{name: string(content)}))
		}
	}
	for _, language := range []string{"ts", "elixir"} {
		files, err := gen.Language(language, result.Packages)
		require.NoError(t, err)
		for name, content := range files {
			parts[name] = paragraphs(string(content))
		}
	}
	return parts
}

// goDeclarations returns the declarations of a Go file but for its imports, whose
// names are those of methods with their types, and for a guard what it guards.
func goDeclarations(t *testing.T, content string) map[string]string {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, gen.Output, content, parser.ParseComments)
	require.NoError(t, err)
	parts := map[string]string{}
	for _, declaration := range file.Decls {
		from, name := declaration.Pos(), ""
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			name = d.Name.Name
			if name == "_" {
				name += " " + d.Type.Params.List[0].Type.(*ast.Ident).Name
			}
			if d.Recv != nil {
				receiver := d.Recv.List[0].Type
				name = content[files.Position(receiver.Pos()).Offset:files.Position(receiver.End()).Offset] + "." + name
			}
			if d.Doc != nil {
				from = d.Doc.Pos()
			}
		case *ast.GenDecl:
			if d.Tok == token.IMPORT {
				continue
			}
			name = content[files.Position(d.Specs[0].Pos()).Offset:files.Position(d.Specs[0].End()).Offset]
			name, _, _ = strings.Cut(name, " ")
			if d.Doc != nil {
				from = d.Doc.Pos()
			}
		}
		require.Empty(t, parts[name], name)
		parts[name] = content[files.Position(from).Offset:files.Position(declaration.End()).Offset]
	}
	return parts
}

// paragraphs returns the parts of a text that begin at the left behind a blank
// line, by their first lines that are no comments.
func paragraphs(content string) map[string]string {
	parts := map[string]string{}
	var name, part string
	end := func() {
		if part != "" {
			parts[name] += part
		}
		name, part = "", ""
	}
	blank := true
	for line := range strings.Lines(content) {
		if blank && strings.TrimLeft(line, " \t}") == line && line != "\n" {
			end()
		}
		if comment := strings.HasPrefix(line, "/*") || strings.HasPrefix(line, " *"); name == "" && !comment {
			name = strings.TrimSuffix(line, "\n")
		}
		part += line
		blank = line == "\n"
	}
	end()
	return parts
}

// changesBetween returns the declarations that differ, came or went, sorted.
func changesBetween(before, after map[string]map[string]string) []string {
	changes := []string{}
	for file, parts := range after {
		for name, part := range parts {
			switch old, known := before[file][name]; {
			case !known:
				changes = append(changes, file+": + "+name)
			case strings.TrimRight(old, "\n") != strings.TrimRight(part, "\n"):
				changes = append(changes, file+": ~ "+name)
			}
		}
		for name := range before[file] {
			if _, left := parts[name]; !left {
				changes = append(changes, file+": - "+name)
			}
		}
	}
	slices.Sort(changes)
	return changes
}
