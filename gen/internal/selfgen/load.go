package main

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"

	"github.com/echomq/echomq-go/lua/header"
)

const (
	luaDir   = "lua"
	callsDir = "runtime/internal/script"
	optsFile = "runtime/wire/opts.go"
)

// source is all that files are generated from.
type source struct {
	scripts  []script
	hashes   []hash
	settings settings
}

// hash is a struct that declares the fields of a kind of hash: their names on
// the wire and beyond, from which the code that maps them is generated.
type hash struct {
	file string // where the struct is declared
	name string // the struct's name
	of   string // what has such a hash
	// prefix begins the names of what is generated for it: FieldX and LongName
	// for a job, SchedulerFieldX and SchedulerLongName for a scheduler.
	prefix string
	fields []hashField
}

// hashes are the hashes with named fields, without their fields.
func hashes() []hash {
	return []hash{
		{file: "runtime/wire/envelope.go", name: "Envelope", of: "job"},
		{file: "runtime/wire/scheduler.go", name: "Scheduler", of: "scheduler", prefix: "Scheduler"},
	}
}

// script is a script's header and the hash of its file.
type script struct {
	*header.Script
	sha1 string
}

// hashField is a field that has a wire name.
type hashField struct {
	goName string
	goType string
	wire   string
	long   string // empty for a field that no JSON shows
	doc    string
}

// load reads the sources; its error tells all that is wrong with them.
func load(root string) (source, error) {
	scripts, err := loadScripts(root)
	from := source{scripts: scripts, hashes: hashes()}
	faults := []error{err}
	for i := range from.hashes {
		h := &from.hashes[i]
		h.fields, err = loadFields(filepath.Join(root, filepath.FromSlash(h.file)), h.name)
		faults = append(faults, err)
	}
	from.settings, err = loadSettings(filepath.Join(root, filepath.FromSlash(optsFile)))
	return from, errors.Join(append(faults, err)...)
}

func loadScripts(root string) ([]script, error) {
	paths, err := filepath.Glob(filepath.Join(root, luaDir, "*.lua"))
	if err != nil {
		return nil, err
	}
	var scripts []script
	var faults []error
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		declared, err := header.Parse(luaDir+"/"+filepath.Base(path), text)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		sum := sha1.Sum(text)
		scripts = append(scripts, script{Script: declared, sha1: hex.EncodeToString(sum[:])})
	}
	return scripts, errors.Join(faults...)
}

func loadFields(path, name string) ([]hashField, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	declared := findStruct(file, name)
	if declared == nil {
		return nil, fmt.Errorf("%s declares no struct %s", path, name)
	}
	var fields []hashField
	for _, field := range declared.Fields.List {
		read, err := readHashField(field)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", files.Position(field.Pos()), err)
		}
		if read.wire != "" {
			fields = append(fields, read)
		}
	}
	return fields, nil
}

func findStruct(file *ast.File, name string) *ast.StructType {
	for _, decl := range file.Decls {
		general, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range general.Specs {
			if spec, ok := spec.(*ast.TypeSpec); ok && spec.Name.Name == name {
				declared, _ := spec.Type.(*ast.StructType)
				return declared
			}
		}
	}
	return nil
}

// readHashField reads one field; its wire name is empty if it is not part
// of the hash.
func readHashField(field *ast.Field) (hashField, error) {
	if len(field.Names) != 1 || field.Tag == nil {
		return hashField{}, errors.New("a field has one name, and tags")
	}
	text, err := strconv.Unquote(field.Tag.Value)
	if err != nil {
		return hashField{}, err
	}
	tag := reflect.StructTag(text)
	long, _, _ := strings.Cut(tag.Get("json"), ",")
	if long == "-" {
		long = ""
	}
	goType, err := typeName(field.Type)
	if err != nil {
		return hashField{}, err
	}
	return hashField{
		goName: field.Names[0].Name,
		goType: goType,
		wire:   tag.Get("wire"),
		long:   long,
		doc:    strings.Join(strings.Fields(field.Doc.Text()), " "),
	}, nil
}

func typeName(expr ast.Expr) (string, error) {
	switch expr := expr.(type) {
	case *ast.Ident:
		return expr.Name, nil
	case *ast.ArrayType:
		if element, ok := expr.Elt.(*ast.Ident); ok && expr.Len == nil && element.Name == "byte" {
			return "[]byte", nil
		}
	}
	return "", errors.New("a field is a named type or []byte")
}
