package lock_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/gen/internal/lock"
	"github.com/echomq/echomq-go/gen/ir"
)

const sample = `emq.lock 1

job mail/Digest v1
codec json
payload Digest
type Digest
	day time.Time Day

job "mail/Say \"hello\"" v1
codec json
payload Say
type Say

job mail/Welcome v1
accepted 595494a58571c097 "nobody \"used\" it"
codec json
payload Welcome
result *Receipt
type Welcome
	userId int64 UserID
	notes []string Notes optional
	secret string Secret optional redact
	"weird name" map[int]*Address M
	quoted *string(bool) Quoted
	raw [3][]byte Raw
	own map[string].Tree Tree
	opt example.com/opt.Of[time.Time,map[string][]int] Opt
type Address
	next *Address Next
type Receipt
	id string ID

job mail/Welcome v12
codec json
payload Welcome
type Welcome

gone mail/Bye
accepted 0011223344556677 "it's over"

retired push/Old discard
`

func parse(t testing.TB, text string) *lock.File {
	t.Helper()
	file, err := lock.Parse([]byte(text))
	require.NoError(t, err)
	return file
}

// body is the file without the comment above it.
func body(file *lock.File) string {
	_, after, _ := strings.Cut(string(file.Format()), "\nemq.lock")
	return "emq.lock" + after
}

func TestFormatIsWhatParseReads(t *testing.T) {
	t.Parallel()
	file := parse(t, sample)
	require.Equal(t, sample, body(file))
	require.Equal(t, parse(t, string(file.Format())).Format(), file.Format())
	require.Len(t, file.Jobs, 4)
	require.Equal(t, ir.WireMap, file.Jobs[2].Contract.Structs[0].Fields[3].Type.Kind)

	// The order of blocks, empty lines, comments, and line ends mean nothing.
	blocks := strings.Split(strings.TrimPrefix(sample, "emq.lock 1\n\n"), "\n\n")
	shuffled := "emq.lock 1\r\n# ours\r\n"
	for i := range blocks {
		shuffled += strings.ReplaceAll(strings.TrimSuffix(blocks[len(blocks)-1-i], "\n"), "\n", "\r\n") + "\r\n\r\n\r\n"
	}
	require.Equal(t, sample, body(parse(t, "\ufeff"+shuffled)))
}

func TestDamage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"empty":                   {"", `1:1: it does not begin with the line "emq.lock 1"`},
		"comment only":            {"# lock\n", `1:1: it does not begin with the line "emq.lock 1"`},
		"another file":            {"# x\npackage mail\n", `2:1: it does not begin with the line "emq.lock 1"`},
		"another form":            {"emq.lock 2\n", `1:1: it has the form "emq.lock 2", and this emqgen reads "emq.lock 1"; use the emqgen that wrote it, or a newer one`},
		"conflict":                {sample + "<<<<<<< HEAD\njob a/b v1\ncodec json\n=======\njob a/b v1\ncodec msgpack\n>>>>>>> x\npayload B\ntype B\n", "42:1: a/b"},
		"conflict of ends":        {sample + "<<<<<<< HEAD\nretired a/b failed\n=======\nretired a/b discard\n>>>>>>> x\n", "42:1: a/b"},
		"conflict of job and end": {sample + "<<<<<<< HEAD\ngone a/b\n=======\njob a/b v1\ncodec json\npayload B\ntype B\n>>>>>>> x\n", "42:1: a/b"},
		"endless conflict":        {strings.Replace(sample, "job mail/Digest", "<<<<<<< HEAD\njob mail/Digest", 1), "42:1: a merge conflict has no end"},
		"end of a conflict":       {sample + ">>>>>>> theirs\n", "42:1: a marker of a merge conflict stands here without the others"},
		"damaged side":            {sample + "<<<<<<< HEAD\n=======\ngone Welcome\n>>>>>>> x\n", "44:1: Welcome is not a queue and a name, as in mail/Welcome"},
		"unknown word":            {sample + "jobs\n", `42:1: a line that begins with "jobs" has no meaning here`},
		"too many words":          {sample + "gone a/b c\n", `42:1: a line that begins with "gone" has no meaning here`},
		"quote":                   {sample + "gone \"a/b\n", "42:6: a quoted word cannot be read"},
		"id":                      {sample + "gone Welcome\n", "42:1: Welcome is not a queue and a name, as in mail/Welcome"},
		"fact without a block":    {"emq.lock 1\ncodec json\n", `2:1: a line that begins with "codec" has no meaning here`},
		"field without a type":    {"emq.lock 1\njob a/b v1\n\tx int X\n", "3:1: a field that belongs to no type"},
		"version":                 {"emq.lock 1\njob a/b v01\n", "2:5: v01 is not a version, such as v1"},
		"version zero":            {"emq.lock 1\njob a/b v0\n", "2:5: v0 is not a version, such as v1"},
		"no codec":                {"emq.lock 1\n\njob a/b v1\npayload B\ntype B\n", "3:1: job a/b v1 has no codec"},
		"no payload":              {"emq.lock 1\n\njob a/b v1\ncodec json\ntype B\n", "3:1: job a/b v1 has no payload that is a struct"},
		"payload is no struct":    {"emq.lock 1\n\njob a/b v1\ncodec json\npayload int\n", "3:1: job a/b v1 has no payload that is a struct"},
		"missing type":            {"emq.lock 1\n\njob a/b v1\ncodec json\npayload B\n\ntype B\n\tx []map[int]Y X\n", "8:1: job a/b v1 has no type Y"},
		"bad type":                {"emq.lock 1\njob a/b v1\ncodec json\npayload B\ntype B\n\tx [y]int X\n", "6:2: [y]int is not a type"},
		"type of junk":            {"emq.lock 1\njob a/b v1\ncodec json\npayload B)\n", "4:9: B) is not a type"},
		"unfinished type":         {"emq.lock 1\njob a/b v1\ncodec json\npayload a.B[int\n", "4:9: a.B[int is not a type"},
		"deep type":               {"emq.lock 1\njob a/b v1\npayload " + strings.Repeat("*", 1000) + "B\n", "3:9: " + strings.Repeat("*", 1000) + "B is not a type"},
		"field without a Go name": {"emq.lock 1\njob a/b v1\ncodec json\npayload B\ntype B\n\tx int\n", "6:2: a field has a name, a type and a Go name"},
		"word of a field":         {"emq.lock 1\njob a/b v1\ncodec json\npayload B\ntype B\n\tx int X optionel\n", "6:2: optionel says nothing about a field"},
		"field twice":             {"emq.lock 1\njob a/b v1\ncodec json\npayload B\ntype B\n\tx int X\n\tx int Y\n", "7:2: field x stands twice in type B"},
		"codec twice":             {"emq.lock 1\njob a/b v1\ncodec json\ncodec json\n", "4:1: job a/b v1 has codec twice"},
		"payload twice":           {"emq.lock 1\njob a/b v1\npayload B\npayload C\n", "4:1: job a/b v1 has payload twice"},
		"type twice":              {"emq.lock 1\njob a/b v1\ncodec json\npayload B\ntype B\ntype B\n", "6:1: type B stands twice in job a/b v1"},
		"job twice":               {sample + "job mail/Digest v1\ncodec json\npayload Digest\ntype Digest\n", "42:1: job mail/Digest v1 stands here twice"},
		"declared and gone":       {sample + "gone mail/Digest\n", "42:1: job mail/Digest stands here twice"},
		"retired twice":           {sample + "gone push/Old\n", "42:1: job push/Old stands here twice"},
		"retired to nowhere":      {sample + "retired push/New elsewhere\n", `42:1: a line that begins with "retired" has no meaning here`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := lock.Parse([]byte(c.text))
			var fault *lock.SyntaxError
			require.ErrorAs(t, err, &fault)
			require.Equal(t, c.want, err.Error())
			require.Equal(t, strings.HasPrefix(name, "conflict"), fault.Conflict)
		})
	}
}

// contract reads a contract from the lines of its block.
func contract(t testing.TB, lines string) *ir.Contract {
	t.Helper()
	if !strings.HasPrefix(lines, "codec") {
		lines = "codec json\n" + lines
	}
	return &parse(t, "emq.lock 1\njob mail/Welcome v1\npayload Welcome\n"+lines).Jobs[0].Contract
}

// TestCompare holds which changes survive, and that the hash of a contract
// changes only if one does not.
func TestCompare(t *testing.T) {
	t.Parallel()
	const address = "type Address\n\tstreet string Street\n"
	for name, c := range map[string]struct {
		old, new string
		want     string // the changes, or nothing
	}{
		"nothing":             {"type Welcome\n\ta int A\n", "type Welcome\n\ta int A\n", ""},
		"order":               {"type Welcome\n\ta int A\n\tb string B\n", "type Welcome\n\tb string B\n\ta int A\n", ""},
		"names of Go":         {"type Welcome\n\ta int A\n\tx Address X\n" + address, "type Welcome\n\ta int64 Amount\n\tx Place X\ntype Place\n\tstreet string Road\n", ""},
		"redacted":            {"type Welcome\n\ta int A\n", "type Welcome\n\ta int A redact\n", ""},
		"optional came":       {"type Welcome\n", "type Welcome\n\ta int A optional\n", ""},
		"optional went":       {"type Welcome\n\ta int A optional\n", "type Welcome\n", ""},
		"pointer came":        {"type Welcome\n", "type Welcome\n\tx *Address X\n" + address, ""},
		"slice came":          {"type Welcome\n", "type Welcome\n\ta []int A\n", ""},
		"any came":            {"type Welcome\n", "type Welcome\n\ta any A\n", ""},
		"pointer to optional": {"type Welcome\n\ta *int A\n", "type Welcome\n\ta int A optional\n", ""},
		"int came":            {"type Welcome\n", "type Welcome\n\ta int A\n", "required Welcome.A"},
		"struct came":         {"type Welcome\n", "type Welcome\n\tx Address X\n" + address, "required Welcome.X"},
		"int went":            {"type Welcome\n\ta int A\n", "type Welcome\n", "removed Welcome.A"},
		"renamed by tag":      {"type Welcome\n\ta int A\n", "type Welcome\n\tb int A\n", "renamed Welcome.A"},
		"optional renamed":    {"type Welcome\n\ta []int A\n", "type Welcome\n\tb []int A\n", "renamed Welcome.A"},
		"renamed in all":      {"type Welcome\n\ta int A\n", "type Welcome\n\tb int B\n", "renamed Welcome.B"},
		"two renamed in all":  {"type Welcome\n\ta int A\n\tb int B\n", "type Welcome\n\tc int C\n\td int D\n", "removed Welcome.A, removed Welcome.B, required Welcome.C, required Welcome.D"},
		"wider":               {"type Welcome\n\ta int32 A\n", "type Welcome\n\ta int64 A\n", "retyped Welcome.A"},
		"in a string":         {"type Welcome\n\ta int A\n", "type Welcome\n\ta string(int) A\n", "retyped Welcome.A"},
		"optional retyped":    {"type Welcome\n\ta int A optional\n", "type Welcome\n\ta string A optional\n", "retyped Welcome.A"},
		"to a pointer":        {"type Welcome\n\ta int A\n", "type Welcome\n\ta *int A\n", "relaxed Welcome.A"},
		"from a pointer":      {"type Welcome\n\ta *int A\n", "type Welcome\n\ta int A\n", "required Welcome.A"},
		"to optional":         {"type Welcome\n\ta int A\n", "type Welcome\n\ta int A optional\n", "relaxed Welcome.A"},
		"from optional":       {"type Welcome\n\ta int A optional\n", "type Welcome\n\ta int A\n", "required Welcome.A"},
		"element to pointer":  {"type Welcome\n\ta []int A\n", "type Welcome\n\ta []*int A\n", "retyped Welcome.A"},
		"longer array":        {"type Welcome\n\ta [3]int A\n", "type Welcome\n\ta [4]int A\n", "retyped Welcome.A"},
		"key of a map":        {"type Welcome\n\ta map[int]int A\n", "type Welcome\n\ta map[string]int A\n", "retyped Welcome.A"},
		"own type":            {"type Welcome\n\ta time.Time A\n", "type Welcome\n\ta x.Time A\n", "retyped Welcome.A"},
		"nested":              {"type Welcome\n\tx map[int][]Address X\n" + address, "type Welcome\n\tx map[int][]Address X\ntype Address\n", "removed Welcome.X.Street"},
		"nested in pointer":   {"type Welcome\n\tx *Address X\n" + address, "type Welcome\n\tx *Address X\ntype Address\n\tstreet int Street\n", "retyped Welcome.X.Street"},
		"recursive":           {"type Welcome\n\tn *Welcome N\n\ta int A\n", "type Welcome\n\tn *Welcome N\n\ta bool A\n", "retyped Welcome.A"},
		"result came":         {"type Welcome\n", "result int\ntype Welcome\n", "result "},
		"result went":         {"result int\ntype Welcome\n", "type Welcome\n", "result "},
		"result retyped":      {"result int\ntype Welcome\n", "result string\ntype Welcome\n", "retyped the result of Welcome"},
		"result's field":      {"result Receipt\ntype Welcome\ntype Receipt\n\tid int ID\n", "result Receipt\ntype Welcome\ntype Receipt\n", "removed Receipt.ID"},
		"codec":               {"type Welcome\n", "codec msgpack\ntype Welcome\n", ""},
		"codec to JSON":       {"codec msgpack\ntype Welcome\n", "type Welcome\n", "recoded "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, new := contract(t, c.old), contract(t, c.new)
			var got []string
			for _, d := range lock.Compare(old, new) {
				got = append(got, fmt.Sprintf("%s %s", changes[d.Change], d.Path))
			}
			require.Equal(t, c.want, strings.Join(got, ", "))
			if c.want == "" {
				require.Equal(t, lock.Hash(old), lock.Hash(new))
				return
			}
			require.Equal(t, hidden[name], lock.Hash(old) == lock.Hash(new))
		})
	}
}

// hidden are the cases that change a field which may be absent: programs that do
// not use it agree.
var hidden = map[string]bool{
	"optional renamed": true, "optional retyped": true, "element to pointer": true, "key of a map": true, "nested": true, "nested in pointer": true,
	"codec to JSON": true,
}

var changes = map[lock.Change]string{
	lock.Removed: "removed", lock.Renamed: "renamed", lock.Retyped: "retyped", lock.Required: "required",
	lock.Relaxed: "relaxed", lock.Recoded: "recoded", lock.Result: "result",
}

// FuzzParse holds that a lock of any content is read or refused with a place in
// it, and that what is read is written so that it reads the same.
func FuzzParse(f *testing.F) {
	f.Add(sample)
	f.Add("emq.lock 1\njob a/b v1\ncodec json\npayload B\ntype B\n\t\"\\n\" string(int) X optional\n")
	f.Add("<<<<<<<\n")
	f.Add("emq.lock 1\n<<<<<<<\ngone a/b\n|||||||\n=======\nretired a/c failed\n>>>>>>>\n")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := lock.Parse([]byte(text))
		if err != nil {
			var fault *lock.SyntaxError
			require.ErrorAs(t, err, &fault)
			require.LessOrEqual(t, fault.Line, strings.Count(text, "\n")+1)
			require.Positive(t, fault.Column)
			return
		}
		written := file.Format()
		again, err := lock.Parse(written)
		require.NoError(t, err)
		require.Equal(t, string(written), string(again.Format()))
		for i := range file.Jobs {
			require.Empty(t, lock.Compare(&file.Jobs[i].Contract, &again.Jobs[i].Contract))
			require.Equal(t, lock.Hash(&file.Jobs[i].Contract), lock.Hash(&again.Jobs[i].Contract))
		}
	})
}
