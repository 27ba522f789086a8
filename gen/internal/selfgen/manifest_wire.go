package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strconv"
	"strings"

	"github.com/echomq/echomq-go/runtime/wire"
)

// wireNames tell what names are, for runtimes that have to build keys.
type wireNames struct {
	Description string    `json:"description"`
	Queue       nameRules `json:"queue"`
	ID          nameRules `json:"id"`
	Scheduler   nameRules `json:"scheduler"`
	QueueKeys   []string  `json:"queueKeys"`
	JobKeys     []string  `json:"jobKeys"`
	StoreKeys   []string  `json:"storeKeys"`
}

type nameRules struct {
	Description string   `json:"description"`
	Pattern     string   `json:"pattern"`
	Reserved    []string `json:"reserved,omitempty"`
}

func namesOfWire() wireNames {
	return wireNames{
		Description: "What names are: a regular expression that the whole name has to match, with no line end after it, and names that fit it and are reserved all the same. queueKeys are the suffixes of a queue's own keys, jobKeys what a job's other keys add to its id after a colon, storeKeys the keys of the store. Names that begin with ~ are kept for keys that the protocol may gain.",
		Queue:       nameRules{"A queue.", wire.QueuePattern, wire.ReservedQueues()},
		ID:          nameRules{"A job's id as a user may choose it. The reserved ones are the first segments of a queue's keys. An id that is such a one after _ was minted by the protocol itself: a runtime takes it from the store, and refuses it from a user.", wire.JobIDPattern, wire.ReservedIDs()},
		Scheduler:   nameRules{"A scheduler's id.", wire.SchedulerPattern, nil},
		QueueKeys:   wire.QueueSuffixes(),
		JobKeys:     wire.JobParts(),
		StoreKeys:   []string{wire.StoreVersionKey, wire.StoreQueuesKey, wire.StoreNodesKey},
	}
}

// limit is a bound that every runtime keeps to.
type limit struct {
	Name        string `json:"name"`
	Value       int64  `json:"value"`
	Unit        string `json:"unit"`
	Description string `json:"description"`
}

var limits = []limit{
	{"items", wire.MaxItems, "items", "in one call, at most"},
	{"call", wire.MaxCallBytes, "bytes", "of the items of one call, about; an item that is larger goes alone"},
	{"reply", wire.MaxReplyBytes, "bytes", "of jobs at which a pick starts no more: its argument limit"},
	{"priority", wire.MaxPriority, "", "the largest"},
	{"replay", wire.ReplayWindow.Milliseconds(), "ms", "for how long after it was first sent an add may be sent again"},
	{"stub", wire.StubTime.Milliseconds(), "ms", "for how long what an ended job leaves that is not kept tells a replay from a new call"},
	{"block", wire.MaxBlock.Milliseconds(), "ms", "for how long an idle worker waits for the marker at most, before it picks again"},
}

// settings describe the JSON in the field opts of a job.
type settings struct {
	Description string    `json:"description"`
	Settings    []setting `json:"settings"`
}

type setting struct {
	Name        string          `json:"name"`
	Type        string          `json:"type"`
	Absent      json.RawMessage `json:"absent,omitempty"`
	Description string          `json:"description"`
}

// settingTypes are the names of the types that settings have, by their Go types.
var settingTypes = map[string]string{"int": "int", "int64": "ms", "string": "string", "bool": "boolean"}

// loadSettings reads the structs of the file that declares opts.
func loadSettings(path string) (settings, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		return settings{}, err
	}
	read := settings{Description: "The JSON object in a job's field opts, with the settings that its producer gave and its worker obeys; no script reads it. A dot parts the names of an object and its member. What is absent has the value under absent, if one is told; else its description tells. The field is absent if all settings are. Members that a runtime does not know are left as they are."}
	if read.Settings, err = settingsOf(file, "Opts", ""); err != nil {
		return settings{}, fmt.Errorf("%s: %w", path, err)
	}
	return read, nil
}

// settingsOf returns the settings in a struct, whose names follow the prefix.
func settingsOf(file *ast.File, name, prefix string) ([]setting, error) {
	declared := findStruct(file, name)
	if declared == nil {
		return nil, fmt.Errorf("no struct %s is declared", name)
	}
	var all []setting
	for _, field := range declared.Fields.List {
		tags, err := strconv.Unquote(field.Tag.Value)
		if err != nil || len(field.Names) != 1 {
			return nil, fmt.Errorf("%s: a field has one name, and tags", name)
		}
		tag := reflect.StructTag(tags)
		key, _, _ := strings.Cut(tag.Get("json"), ",")
		one := setting{
			Name: prefix + key, Absent: json.RawMessage(tag.Get("absent")),
			Description: strings.Join(strings.Fields(field.Doc.Text()), " "),
		}
		switch kind := field.Type.(type) {
		case *ast.Ident:
			one.Type = settingTypes[kind.Name]
			all = append(all, one)
		case *ast.StarExpr:
			inner, err := settingsOf(file, kind.X.(*ast.Ident).Name, one.Name+".")
			if err != nil {
				return nil, err
			}
			one.Type = "object"
			all = append(append(all, one), inner...)
		}
		if one.Type == "" || one.Description == "" || len(one.Absent) > 0 && !json.Valid(one.Absent) {
			return nil, fmt.Errorf("%s.%s needs a comment, a type that other languages know and JSON in its tag absent", name, field.Names[0].Name)
		}
	}
	return all, nil
}
