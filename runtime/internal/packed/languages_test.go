package packed_test

// This file has producers that emqgen writes for other languages enqueue jobs, and
// a worker of this one handle them.

import (
	"context"
	"encoding/json"
	"image"
	"log/slog"
	"math"
	"math/big"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/examples/quickstart/jobs"
	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/fleet"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
	"github.com/echomq/echomq-go/runtime/internal/packed"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

const repository = "../../.."

// translate generates for another language into a directory with the files of
// testdata/languages, and returns it.
func translate(t *testing.T, language, from string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(repository, "testdata", "languages", from))))
	command := exec.CommandContext(t.Context(), "go", "run", "./cmd/emqgen", "-lang", language, "-out", dir, "./examples/quickstart/jobs", "./runtime/internal/packed")
	command.Dir = repository
	out, err := command.CombinedOutput()
	require.NoError(t, err, string(out))
	return dir
}

// needs skips a test where a program is missing and nothing but the embedded server
// was asked for.
func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil && os.Getenv("EMQ_ENGINES") == "embedded" {
		t.Skipf("%s is not on PATH", program)
	}
}

var (
	tscError  = regexp.MustCompile(`(?m)^([\w./]+\.ts)\((\d+),\d+\): error (TS\d+)`)
	announced = regexp.MustCompile(`// (TS\d+)$`)
)

func TestTypeScript(t *testing.T) {
	t.Parallel()
	needs(t, "npm")
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	modules, err := fleet.InstallModules(ctx, filepath.Join(repository, "testdata", "languages", "node"))
	require.NoError(t, err)
	dir := translate(t, "ts", "node")
	require.NoError(t, os.Symlink(modules, filepath.Join(dir, "node_modules")))

	// The compiler finds what is wrong, and nothing else.
	compiler := exec.CommandContext(ctx, "node", "node_modules/typescript/bin/tsc", "-p", ".")
	compiler.Dir = dir
	out, _ := compiler.CombinedOutput()
	found := map[string]string{}
	for _, match := range tscError.FindAllStringSubmatch(string(out), -1) {
		found[match[1]+":"+match[2]] = match[3]
	}
	wanted := map[string]string{}
	wrong, err := os.ReadFile(filepath.Join(dir, "wrong.ts"))
	require.NoError(t, err)
	for i, line := range strings.Split(string(wrong), "\n") {
		if match := announced.FindStringSubmatch(line); match != nil {
			wanted["wrong.ts:"+strconv.Itoa(i+1)] = match[1]
		}
	}
	require.NotEmpty(t, wanted)
	require.Equal(t, wanted, found, string(out))

	produced(t, []string{"node", filepath.Join(dir, "out", "produce.js")}, []string{
		"PayloadError: payload.Int8 is 128, which is not from -128 to 127",
		"PayloadError: payload.baseId is no safe integer; use a bigint",
		"PayloadError: payload.Points[1].X is 1.5, which is no whole number",
		"PayloadError: payload.time is neither a Date nor a text in RFC 3339",
		"PayloadError: payload has no field unknown",
		"PayloadError: payload.Tags is missing",
		"EmqError: wait is no id of a job",
		`EmqError: job charge-1 exists and is "Charge", not "Remind"`,
		"EmqError: no queue is no name of a queue",
		`ContractError: queue QUEUE-x: job "Charge", version 1: programs declare the job differently: ` +
			"produce.js (this program) has contract HASH, and another program had declared other",
	})
}

// TestDocuments has other tools read what is written as documents, and the schema
// judge what Go makes of payloads.
func TestDocuments(t *testing.T) {
	t.Parallel()
	needs(t, "npm")
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	modules, err := fleet.InstallModules(ctx, filepath.Join(repository, "testdata", "languages", "node"))
	require.NoError(t, err)
	dir := translate(t, "jsonschema", "node")
	asyncAPI := translate(t, "asyncapi", "node")
	require.NoError(t, os.Symlink(modules, filepath.Join(dir, "node_modules")))

	var values []map[string]any
	add := func(value packed.Everything, changes map[string]any) {
		text, err := json.Marshal(value)
		require.NoError(t, err)
		var fields map[string]any
		decoder := json.NewDecoder(strings.NewReader(string(text)))
		decoder.UseNumber()
		require.NoError(t, decoder.Decode(&fields))
		for name, change := range changes {
			if fields[name] = change; change == nil {
				delete(fields, name)
			}
		}
		values = append(values, fields)
	}
	add(wantEverything(), nil)
	add(packed.Everything{Raw: json.RawMessage("{}")}, nil)
	add(wantEverything(), map[string]any{"note": nil, "time": nil, "from a newer version": 1})
	valid := len(values)
	for name, change := range map[string]any{
		"Int8": 128, "Uint64": -1, "named": "true", "Wait": nil, "Triple": []any{}, "time": "noon", "Points": []any{map[string]any{"X": 1}},
		"ByNumber": map[string]any{"one": nil}, "Chain": map[string]any{"Name": "1", "Next": 2},
	} {
		add(wantEverything(), map[string]any{name: change})
	}
	input, err := json.Marshal(values)
	require.NoError(t, err)
	command := exec.CommandContext(ctx, "node", "validate.mjs", "packed.schema.json", "Everything", filepath.Join(asyncAPI, "packed.asyncapi.json"))
	command.Dir, command.Stdin = dir, strings.NewReader(string(input))
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	require.NoError(t, err, "%s%s", out, &stderr)
	var said struct {
		Wrong    []string
		AsyncAPI string
		Nothing  bool
	}
	require.NoError(t, json.Unmarshal(out, &said))
	require.Empty(t, said.AsyncAPI)
	require.False(t, said.Nothing, "a document without a version is none")
	require.Len(t, said.Wrong, len(values))
	for i, wrong := range said.Wrong {
		require.Equal(t, i < valid, wrong == "", "value %d: %s", i, wrong)
	}
}

func TestElixir(t *testing.T) {
	t.Parallel()
	needs(t, "elixir")
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	dir := translate(t, "elixir", "elixir")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "ebin"), 0o700))
	compiler := exec.CommandContext(ctx, "elixirc", "--warnings-as-errors", "-o", "ebin", "emq.ex", "jobs_emq.ex", "packed_emq.ex")
	compiler.Dir, compiler.Env = dir, append(os.Environ(), "ELIXIR_ERL_OPTIONS=+fnu")
	out, err := compiler.CombinedOutput()
	require.NoError(t, err, string(out))

	produced(t, []string{"elixir", "-pa", filepath.Join(dir, "ebin"), filepath.Join(dir, "produce.exs")}, []string{
		"Emq.PayloadError: payload.Int8 is 128, which is not from -128 to 127",
		"Emq.PayloadError: payload.baseId is 1.0, and not an integer",
		"Emq.PayloadError: payload.Points[1] is %{X: 1, Y: 2}, and not a %Packed.Point{}",
		"Emq.PayloadError: payload.time is neither a DateTime nor a text in RFC 3339",
		"Emq.PayloadError: payload.text is no valid UTF-8",
		"Emq.PayloadError: payload.Triple is [%Packed.Point{X: 1, Y: -2}], and not a list of 3",
		`Emq.Error: "wait" is no id of a job`,
		`Emq.Error: job charge-1 exists and is "Charge", not "Remind"`,
		`Emq.Error: "no queue" is no name of a queue`,
		`Emq.ContractError: queue QUEUE-x: job "Charge", version 1: programs declare the job differently: ` +
			"Elixir Jobs (this program) has contract HASH, and another program had declared other",
	})
}

// producedJobs is what a producer prints.
type producedJobs struct {
	Added []struct {
		ID       string
		Existing bool
		Replaced bool
	}
	Refused []string
	Keys    []string
}

// vectors are those of unique keys.
var vectors = sync.OnceValues(func() (vectors []struct {
	Job    string            `json:"job"`
	Key    string            `json:"key"`
	Values []json.RawMessage `json:"values"`
}, err error,
) {
	text, err := os.ReadFile(filepath.Join(repository, "testdata", "wire", "unique.json"))
	if err != nil {
		return nil, err
	}
	var file struct{ Vectors json.RawMessage }
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, err
	}
	return vectors, json.Unmarshal(file.Vectors, &vectors)
})

var hash = regexp.MustCompile("contract [0-9a-f]{16},")

// produced has a producer in another language enqueue, on each engine, and the jobs
// handled here.
func produced(t *testing.T, program, refused []string) {
	bundle, err := filepath.Abs(filepath.Join(repository, "lua"))
	require.NoError(t, err)
	peers, err := filepath.Abs(filepath.Join(repository, "testdata", "peers", "elixir"))
	require.NoError(t, err)
	enginetest.Each(t, func(t *testing.T, e *enginetest.Engine) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		name := e.QueueName(t)
		queues := []string{name + "-q", name + "-p"}
		options := e.Options()
		address := "redis://" + options.Addr
		if options.Network == "unix" || strings.HasPrefix(options.Addr, "/") {
			address = "unix://" + options.Addr
		}
		require.NoError(t, e.Store(t).HSet(ctx, "emq:{"+queues[0]+"-x}:meta", "contract:1:Charge", "other another program").Err())
		known, err := vectors()
		require.NoError(t, err)
		asJSON, err := json.Marshal(known)
		require.NoError(t, err)
		command := exec.CommandContext(ctx, program[0], append(program[1:], append([]string{address, bundle}, queues...)...)...)
		command.Env = append(os.Environ(), "VECTORS="+string(asJSON), "PEERS="+peers, "ELIXIR_ERL_OPTIONS=+fnu")
		var stderr strings.Builder
		command.Stderr = &stderr
		out, err := command.Output()
		require.NoError(t, err, "%s%s", out, &stderr)
		var jobs producedJobs
		require.NoError(t, json.Unmarshal(out, &jobs), string(out))
		for i, text := range jobs.Refused {
			jobs.Refused[i] = hash.ReplaceAllString(strings.ReplaceAll(text, queues[0], "QUEUE"), "contract HASH,")
		}
		require.Equal(t, refused, jobs.Refused)
		require.Len(t, jobs.Keys, len(known))
		for i, vector := range known {
			require.Equal(t, vector.Key, jobs.Keys[i], "unique key of vector %d", i)
		}
		handled(ctx, t, e, queues, jobs)
	})
}

type handler struct {
	charge chan *echomq.Job[jobs.Charge]
	remind chan *echomq.Job[jobs.Remind]
	packed chan packed.Everything
	digest chan *echomq.Job[packed.Digest]
}

func (handler) HandleWelcome(_ context.Context, job *echomq.Job[jobs.Welcome]) (jobs.Receipt, error) {
	return jobs.Receipt{MessageID: "to " + job.Payload.Person}, nil
}

func (h handler) HandleCharge(_ context.Context, job *echomq.Job[jobs.Charge]) error {
	h.charge <- job
	return nil
}

func (h handler) HandleRemind(_ context.Context, job *echomq.Job[jobs.Remind]) error {
	h.remind <- job
	return nil
}

func (h handler) HandleEverything(_ context.Context, job *echomq.Job[packed.Everything]) (packed.Receipt, error) {
	h.packed <- job.Payload
	return packed.Receipt{ID: math.MaxUint64}, nil
}

func (handler) HandleOrder(context.Context, *echomq.Job[packed.Order]) error { return nil }

func (h handler) HandleDigest(_ context.Context, job *echomq.Job[packed.Digest]) error {
	h.digest <- job
	return nil
}

// handled runs a worker of this language for what was produced.
func handled(ctx context.Context, t *testing.T, e *enginetest.Engine, queues []string, produced producedJobs) {
	t.Helper()
	names := map[string]string{"quickstart": queues[0], "packed": queues[1]}
	client := echomq.NewClient(e.Store(t), echomq.NameQueues(func(name string) string { return names[name] }), echomq.WithLogger(slog.New(slog.DiscardHandler)))
	defer func() { require.NoError(t, client.Close()) }()
	h := handler{
		make(chan *echomq.Job[jobs.Charge], 5), make(chan *echomq.Job[jobs.Remind], 5), make(chan packed.Everything, 5), make(chan *echomq.Job[packed.Digest], 5),
	}
	require.Len(t, produced.Added, 7)
	added := produced.Added
	require.Equal(t, []bool{false, false, true, false, false, false, true}, []bool{
		added[0].Existing, added[1].Existing, added[2].Existing, added[3].Existing, added[4].Existing, added[5].Existing, added[6].Existing,
	})
	require.Equal(t, added[1].ID, added[2].ID)
	require.Equal(t, added[5].ID, added[6].ID, "the second has the unique key of the first")

	// The settings are those that a producer of this language gives.
	twin, err := packed.NewPackedProducer(client).PrepareDigest(packed.Digest{})
	require.NoError(t, err)
	var ours struct{ Opts json.RawMessage }
	encoded, err := json.Marshal(twin)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(encoded, &ours))
	queue, err := client.Queue("packed")
	require.NoError(t, err)
	theirs, err := queue.Get(ctx, added[5].ID)
	require.NoError(t, err)
	require.JSONEq(t, string(ours.Opts), theirs.Opts)
	existing, err := packed.NewPackedProducer(client).EnqueueDigest(ctx, packed.Digest{UserID: 7, Day: "2026-11-30"})
	require.NoError(t, err)
	require.True(t, existing.Existing, "a producer of this language computes the same unique key")
	require.Equal(t, added[5].ID, existing.ID)

	worker, err := echomq.NewWorker(client, nil, jobs.QuickstartQueue(h), packed.PackedQueue(h))
	require.NoError(t, err)
	run, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- worker.Run(run) }()
	defer func() { stop(); <-done }()

	welcome, err := jobs.WelcomeJob().Handle(client, added[0].ID)
	require.NoError(t, err)
	receipt, err := welcome.Await(ctx)
	require.NoError(t, err)
	require.Equal(t, "to Ada", receipt.MessageID)
	charge := receive(ctx, t, h.charge)
	require.EqualValues(t, 1299, charge.Payload.Cents)
	require.Equal(t, 3, charge.Priority)
	require.Equal(t, "charge-1", charge.ID)
	require.Equal(t, wantEverything(), receive(ctx, t, h.packed))
	whole, err := packed.EverythingJob().Handle(client, added[4].ID)
	require.NoError(t, err)
	answer, err := whole.Await(ctx)
	require.NoError(t, err)
	require.EqualValues(t, uint64(math.MaxUint64), answer.ID)
	require.Equal(t, packed.Digest{UserID: 7, Day: "2026-11-30"}, receive(ctx, t, h.digest).Payload)
	remind := receive(ctx, t, h.remind)
	require.Equal(t, "other languages", remind.Payload.About)
	require.GreaterOrEqual(t, remind.ProcessedOn.Time().Sub(remind.Timestamp.Time()), 1500*time.Millisecond, "it was delayed")
}

func receive[T any](ctx context.Context, t *testing.T, from chan T) (value T) {
	t.Helper()
	select {
	case value = <-from:
	case <-ctx.Done():
		t.Fatal("the job was not handled")
	}
	return value
}

// wantEverything is what the producers of all languages send.
func wantEverything() packed.Everything {
	point, text := packed.Point{X: 1, Y: -2}, "optional"
	maybe := time.Date(1931, 1, 1, 0, 0, 0, int(time.Millisecond), time.UTC)
	huge, _ := new(big.Int).SetString("123456789012345678901234567890", 10)
	noon := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	foreign := image.Rectangle{Min: image.Point{X: 1, Y: -2}, Max: image.Point{X: 1, Y: -2}}
	empty := packed.Everything{
		Raw: json.RawMessage("null"), Triple: [3]packed.Point{point, point, point}, Alias: point, Foreign: foreign, Moment: packed.MomentOf(noon),
	}
	full := empty
	full.Base.ID, full.Extra = 1<<53+1, &packed.Extra{Note: "note", Count: 255}
	full.Named, full.Int8, full.Int16, full.Int32, full.Int64, full.Int = true, math.MinInt8, math.MinInt16, math.MinInt32, math.MinInt64, -1
	full.Uint8, full.Uint16, full.Uint32, full.Uint64, full.Uint = math.MaxUint8, math.MaxUint16, math.MaxUint32, math.MaxUint64, 7
	full.F32, full.F64, full.Text = 1.5, -1e300, "Käse \x00 🧀 <&>"
	full.Bytes, full.Sum, full.Raw = []byte{0, 255}, [4]byte{1, 2, 3, 4}, json.RawMessage(`{"big":1152921504606846977,"list":[1,"x"]}`)
	full.Time, full.Maybe, full.Wait, full.Big = noon.Add(123456789), &maybe, 90*time.Second, huge
	full.Addr, full.Addrs = netip.MustParseAddr("2001:db8::1"), map[netip.Addr]int{netip.MustParseAddr("10.0.0.2"): 2}
	full.Grid, full.Triple[2] = [][]int16{{1, -2}, nil, {}}, packed.Point{X: 3, Y: 4}
	full.Points, full.ByName = []*packed.Point{{X: 1, Y: -2}, nil}, map[string]packed.Point{"a": point, "": point}
	full.ByNumber = map[int32][]string{-5: {"x"}, 70000: nil}
	full.Tags, full.Forest, full.Children = packed.Tags{"t", ""}, packed.Tree{{}, {{}, nil}}, []packed.Everything{empty}
	full.Chain, full.Anon = &packed.Link{Name: "1", Next: &packed.Link{Name: "2"}}, struct{ A, B int }{1, 2}
	full.Opt, full.OptPoint, full.Flag = packed.Opt[string]{Value: &text, Set: true}, packed.Opt[packed.Point]{Value: &point}, true
	return full
}
