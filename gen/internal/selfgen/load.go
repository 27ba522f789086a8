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
	luaDir       = "lua"
	callsDir     = "runtime/internal/script"
	envelopeFile = "runtime/wire/envelope.go"
)

// source is all that files are generated from.
type source struct {
	scripts  []script
	envelope []envelopeField
}

// script is a script's header and the hash of its file.
type script struct {
	*header.Script
	sha1 string
}

// envelopeField is a field of wire.Envelope that has a wire name.
type envelopeField struct {
	goName string
	goType string
	wire   string
	long   string // empty for a field that no JSON shows
	doc    string
}

// load reads the sources; its error tells all that is wrong with them.
func load(root string) (source, error) {
	scripts, err := loadScripts(root)
	fields, envelopeErr := loadEnvelope(filepath.Join(root, filepath.FromSlash(envelopeFile)))
	return source{scripts: scripts, envelope: fields}, errors.Join(err, envelopeErr)
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

func loadEnvelope(path string) ([]envelopeField, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	declared := findStruct(file, "Envelope")
	if declared == nil {
		return nil, fmt.Errorf("%s declares no struct Envelope", path)
	}
	var fields []envelopeField
	for _, field := range declared.Fields.List {
		read, err := readEnvelopeField(field)
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

// readEnvelopeField reads one field; its wire name is empty if it is not part
// of the hash.
func readEnvelopeField(field *ast.Field) (envelopeField, error) {
	if len(field.Names) != 1 || field.Tag == nil {
		return envelopeField{}, errors.New("a field of the envelope has one name, and tags")
	}
	text, err := strconv.Unquote(field.Tag.Value)
	if err != nil {
		return envelopeField{}, err
	}
	tag := reflect.StructTag(text)
	long, _, _ := strings.Cut(tag.Get("json"), ",")
	if long == "-" {
		long = ""
	}
	goType, err := typeName(field.Type)
	if err != nil {
		return envelopeField{}, err
	}
	return envelopeField{
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
	return "", errors.New("a field of the envelope is a named type or []byte")
}
