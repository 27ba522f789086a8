package script_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

func queue(t testing.TB) wire.Queue {
	t.Helper()
	q, err := wire.ParseQueue("mail")
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func id(t testing.TB, text string) wire.JobID {
	t.Helper()
	parsed, err := wire.ParseJobID(text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func TestCall(t *testing.T) {
	t.Parallel()
	call := script.Recover{
		Events: script.RecoverEventsAll, History: 1000,
		Items: []script.RecoverItem{
			{ID: id(t, "a"), Deadline: 17, Stalls: 1},
			{ID: id(t, "b"), Deadline: 18, Stalls: 2},
		},
	}.Call(queue(t))
	if call.Script.Name != "recover" || call.Script.SHA1 == "" {
		t.Errorf("script is %q, %q", call.Script.Name, call.Script.SHA1)
	}
	wantKeys := []string{
		"emq:{mail}:meta", "emq:{mail}:wait", "emq:{mail}:prioritized", "emq:{mail}:active",
		"emq:{mail}:reserved", "emq:{mail}:quarantine", "emq:{mail}:marker", "emq:{mail}:events",
		"emq:{mail}:groups", "emq:{mail}:grouped", "emq:{mail}:group-active",
		"emq:{mail}:a", "emq:{mail}:a:lock", "emq:{mail}:b", "emq:{mail}:b:lock",
	}
	if !reflect.DeepEqual(call.Keys, wantKeys) {
		t.Errorf("keys are\n%q\nwant\n%q", call.Keys, wantKeys)
	}
	wantArgs := []any{"all", int64(1000), "a", int64(17), int64(1), "b", int64(18), int64(2)}
	if !reflect.DeepEqual(call.Args, wantArgs) {
		t.Errorf("arguments are\n%v\nwant\n%v", call.Args, wantArgs)
	}
	if _, shared := wire.Slots(call.Keys); !shared {
		t.Error("the keys are not in one slot")
	}
}

func TestCallSendsFlagsAndBytes(t *testing.T) {
	t.Parallel()
	call := script.Settle{
		Events: script.SettleEventsNone, History: 1,
		Items: []script.SettleItem{{ID: id(t, "a"), Token: "w:1", Outcome: script.SettleOutcomeFailed, Value: []byte("x"), Keep: true}},
	}.Call(queue(t))
	want := []any{
		"none", int64(1),
		"a", "w:1", "failed", []byte("x"), []byte(nil), int64(0), int64(0), int64(0), int64(0), int64(0), int64(1), int64(0), "", []byte(nil), "", int64(0),
	}
	if !reflect.DeepEqual(call.Args, want) {
		t.Errorf("arguments are\n%v\nwant\n%v", call.Args, want)
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	reply, err := script.DecodePick([]any{
		int64(5), int64(6), int64(0),
		[]any{"a", int64(1), []any{"name", "send", "data", "{}"}},
		[]any{"b"},
		[]any{},
		int64(7), int64(1), int64(8), int64(1),
	})
	want := script.PickReply{
		Now: 5, Due: 6,
		Started:  []script.PickStarted{{ID: "a", Starts: 1, Job: script.Hash{"name", "send", "data", "{}"}}},
		Reserved: []string{"b"},
		Window:   []string{},
		Slot:     7,
		Blocked:  true,
		Ready:    8,
		Bounded:  true,
	}
	if err != nil || !reflect.DeepEqual(reply, want) {
		t.Errorf("reply is\n%+v, %v\nwant\n%+v", reply, err, want)
	}
}

func TestDecodeWord(t *testing.T) {
	t.Parallel()
	reply, err := script.DecodeAdd([]any{int64(5), []any{"added", "", "", "", "exists", "send", "emq:{mail}:p", "", "duplicate", "", "", "b"}})
	want := script.AddReply{Now: 5, Results: []script.AddResult{
		{Verdict: script.AddVerdictAdded}, {Verdict: script.AddVerdictExists, Name: "send", Parent: "emq:{mail}:p"},
		{Verdict: script.AddVerdictDuplicate, Owner: "b"},
	}}
	if err != nil || !reflect.DeepEqual(reply, want) {
		t.Errorf("reply is\n%+v, %v\nwant\n%+v", reply, err, want)
	}
}

func TestDecodeFaults(t *testing.T) {
	t.Parallel()
	pick := func(reply any) error { _, err := script.DecodePick(reply); return err }
	add := func(reply any) error { _, err := script.DecodeAdd(reply); return err }
	inspect := func(reply any) error { _, err := script.DecodeInspect(reply); return err }
	tests := []struct {
		name   string
		decode func(any) error
		reply  any
		want   script.DecodeError
	}{
		{"nil", add, nil, script.DecodeError{Script: "add", Reason: "is nil and not an array"}},
		{"a string", add, "OK", script.DecodeError{Script: "add", Reason: `is the string "OK" and not an array`}},
		{"too short", add, []any{int64(1)}, script.DecodeError{Script: "add", Reason: "has 1 elements and not 2"}},
		{"too long", add, []any{int64(1), []any{}, int64(2)}, script.DecodeError{Script: "add", Reason: "has 3 elements and not 2"}},
		{"string for integer", add, []any{"1", []any{}}, script.DecodeError{Script: "add", Element: "now", Reason: `is the string "1" and not an integer`}},
		{"nil for records", add, []any{int64(1), nil}, script.DecodeError{Script: "add", Element: "results", Reason: "is nil and not an array"}},
		{"half a record", add, []any{int64(1), []any{"added"}}, script.DecodeError{Script: "add", Element: "results", Reason: "has 1 elements, which is not a multiple of 4"}},
		{"another word", add, []any{int64(1), []any{"added", "", "", "", "gone", "", "", ""}}, script.DecodeError{Script: "add", Element: "results[1].verdict", Reason: `is the string "gone" and none of added, exists, duplicate`}},
		{"nil for a word", add, []any{int64(1), []any{nil, "", "", ""}}, script.DecodeError{Script: "add", Element: "results[0].verdict", Reason: "is nil and not a string"}},
		{"integer for string", add, []any{int64(1), []any{"exists", int64(7), "", ""}}, script.DecodeError{Script: "add", Element: "results[0].name", Reason: "is the integer 7 and not a string"}},
		{"half a hash", pick, []any{int64(1), int64(0), int64(0), []any{"a", int64(1), []any{"name"}}, []any{}, []any{}, int64(0), int64(0), int64(0), int64(0)}, script.DecodeError{Script: "pick", Element: "started[0].job", Reason: "has 1 elements, so a field has no value"}},
		{"nil for an id", pick, []any{int64(1), int64(0), int64(0), []any{}, []any{"a", nil}, []any{}, int64(0), int64(0), int64(0), int64(0)}, script.DecodeError{Script: "pick", Element: "reserved", Reason: "has nil at 1 and not a string"}},
		{"two for a flag", inspect, []any{int64(1), []any{"missing", "", "", int64(0), "", "", "", "", int64(2)}}, script.DecodeError{Script: "inspect", Element: "results[0].kept", Reason: "is the integer 2 and neither 0 nor 1"}},
		{"an error in the array", add, []any{errors.New("ERR x"), []any{}}, script.DecodeError{Script: "add", Element: "now", Reason: `is the error "ERR x" and not an integer`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := test.decode(test.reply)
			var found *script.DecodeError
			if !errors.As(err, &found) || !errors.Is(err, script.ErrReply) {
				t.Fatalf("error is %v", err)
			}
			if *found != test.want {
				t.Errorf("error is\n%v\nwant\n%v", found, &test.want)
			}
		})
	}
}

// TestCallAllocates holds what a call costs: its two slices, a string a key, and
// what it takes to put the arguments into interfaces.
func TestCallAllocates(t *testing.T) {
	q, job := queue(t), id(t, "a")
	items := make([]script.ExtendItem, 100)
	for i := range items {
		items[i] = script.ExtendItem{ID: job, Token: "w:1"}
	}
	call := script.Extend{Lease: 30, Items: items}
	allocated := testing.AllocsPerRun(100, func() { call.Call(q) })
	if want := float64(2 + 2 + 100*(2+2)); allocated > want {
		t.Errorf("%.0f allocations, want at most %.0f", allocated, want)
	}
}
