package script_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/echomq/echomq-go/runtime/internal/model"
	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// callText is a call as a failure prints it: without what is zero.
func callText(call model.Caller) string {
	return strings.TrimPrefix(fmt.Sprintf("%T", call), "script.") + valueText(reflect.ValueOf(call))
}

func valueText(value reflect.Value) string {
	if id, ok := value.Interface().(wire.JobID); ok {
		return id.String()
	}
	if id, ok := value.Interface().(wire.SchedulerID); ok {
		return id.String()
	}
	if data, ok := value.Interface().([]byte); ok {
		return strconv.Quote(string(data))
	}
	var parts []string
	if hash, ok := value.Interface().(script.Hash); ok {
		hash = sorted(hash)
		for i := 0; i+1 < len(hash); i += 2 {
			parts = append(parts, hash[i]+"="+hash[i+1])
		}
		return "{" + strings.Join(parts, " ") + "}"
	}
	switch value.Kind() {
	case reflect.Struct:
		for i := range value.NumField() {
			if field := value.Field(i); !field.IsZero() {
				parts = append(parts, value.Type().Field(i).Name+":"+valueText(field))
			}
		}
		return "{" + strings.Join(parts, " ") + "}"
	case reflect.Slice:
		for i := range value.Len() {
			parts = append(parts, valueText(value.Index(i)))
		}
		return "[" + strings.Join(parts, " ") + "]"
	}
	return fmt.Sprint(value)
}

// replyText is a reply without what its caller cannot rely on: the order of a
// hash, and of what a pick that is sent again finds reserved.
func replyText(call model.Caller, reply any) string {
	if view, ok := reply.(script.ViewReply); ok {
		view.Results = slices.Clone(view.Results)
		for i := range view.Results {
			view.Results[i].Job = sorted(view.Results[i].Job)
		}
		return fmt.Sprintf("%+v", view)
	}
	pick, ok := reply.(script.PickReply)
	if !ok {
		return fmt.Sprintf("%+v", reply)
	}
	pick.Started = slices.Clone(pick.Started)
	for i := range pick.Started {
		pick.Started[i].Job = sorted(pick.Started[i].Job)
	}
	if call.(script.Pick).Again {
		pick.Reserved = slices.Sorted(slices.Values(pick.Reserved))
	}
	return fmt.Sprintf("%+v", pick)
}

// sorted returns a hash in the order of its fields; of a field that stands
// there twice the last value counts.
func sorted(hash script.Hash) script.Hash {
	fields := fieldsOf(hash)
	var result script.Hash
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		result = append(result, field, fields[field])
	}
	return result
}

func fieldsOf(hash script.Hash) map[string]string {
	fields := map[string]string{}
	for i := 0; i+1 < len(hash); i += 2 {
		fields[hash[i]] = hash[i+1]
	}
	return fields
}

func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// jobID returns id as a JobID; it must be valid.
func jobID(id string) wire.JobID {
	job, err := wire.ParseStoredJobID(id)
	if err != nil {
		panic(err)
	}
	return job
}
