package echomq

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

const (
	// MaxProgress is how many bytes an encoded progress may have.
	MaxProgress = 4 << 10
	// MaxLogLine is how many bytes a log line may have; what is longer is cut,
	// and ends with "…".
	MaxLogLine = 4 << 10
	// MaxLogs is how many of its log lines a job can keep.
	MaxLogs = 10_000
)

// Progress is announced as an event at most this often: so many at once, and
// then one in each interval.
const (
	announceBurst = 10
	announceEvery = 500 * time.Millisecond
)

// reporter records what a handler tells of its job while it runs, under the
// token of its attempt.
type reporter struct {
	client *Client
	queue  wire.Queue
	id     wire.JobID
	token  string
	events EventLevel
	keep   int // log lines; 0 for none

	first  sync.Once     // makes turn
	turn   chan struct{} // has a value while nobody calls
	logged int64
	burst  float64
	last   time.Time // when burst was reckoned
}

type reporterKey struct{}

// reporting returns a context by which the job that is made for the handler
// finds its way to the store.
func (a *attempt) reporting(ctx context.Context) context.Context {
	r := &reporter{ // and not a part of the attempt, which a context that is kept would keep
		client: a.runner.client, queue: a.runner.queue, id: a.id, token: a.token,
		events: a.runner.config.events, keep: a.settings.keepLogs,
		logged: int64(a.envelope.LogCount), burst: announceBurst,
	}
	return context.WithValue(ctx, reporterKey{}, r)
}

func reporterFrom(ctx context.Context) *reporter {
	r, _ := ctx.Value(reporterKey{}).(*reporter)
	return r
}

// send makes a call, after those that were made before it.
func (r *reporter) send(ctx context.Context, what string, call func() script.Call) (any, error) {
	op := fmt.Sprintf("%s of job %q of queue %q", what, r.id, r.queue)
	r.first.Do(func() {
		r.turn = make(chan struct{}, 1)
		r.turn <- struct{}{}
	})
	select {
	case <-r.turn:
		defer func() { r.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, &StoreError{Kind: ErrNotSent, Op: op, Err: context.Cause(ctx)}
	}
	return r.client.call(ctx, op, call())
}

func (r *reporter) lost(what string) error {
	return fmt.Errorf("echomq: %s of job %q of queue %q: %w", what, r.id, r.queue, ErrLeaseLost)
}

func (r *reporter) progress(ctx context.Context, encoded []byte) error {
	raw, err := r.send(ctx, "progress", func() script.Call {
		return script.Progress{
			Events: script.ProgressEvents(r.events.word()), History: DefaultEventHistory,
			Items: []script.ProgressItem{{ID: r.id, Token: r.token, Value: encoded, Announce: r.announces(time.Now())}},
		}.Call(r.queue)
	})
	if err != nil {
		return err
	}
	reply, err := script.DecodeProgress(raw)
	if err == nil && reply.Results[0].Verdict != script.ProgressVerdictRecorded {
		err = r.lost("progress")
	}
	return err
}

// announces reports whether a progress at now is to be an event.
func (r *reporter) announces(now time.Time) bool {
	if !r.last.IsZero() {
		r.burst = min(r.burst+float64(now.Sub(r.last))/float64(announceEvery), announceBurst)
	}
	r.last = now
	if r.burst < 1 {
		return false
	}
	r.burst--
	return true
}

func (r *reporter) log(ctx context.Context, line string) error {
	if r.keep == 0 {
		return nil
	}
	raw, err := r.send(ctx, "log line", func() script.Call {
		// A line whose fate is not known keeps its number: another must not be
		// taken for it.
		r.logged++
		return script.Log{
			Keep:  int64(r.keep),
			Items: []script.LogItem{{ID: r.id, Token: r.token, Number: r.logged, Line: []byte(line)}},
		}.Call(r.queue)
	})
	if err != nil {
		return err
	}
	reply, err := script.DecodeLog(raw)
	if err == nil && reply.Results[0].Verdict != script.LogVerdictRecorded {
		err = r.lost("log line")
	}
	return err
}

// encodeProgress encodes a progress. Its errors are [ErrProgress].
func encodeProgress(progress any) (encoded []byte, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("echomq: %w: its own code panicked: %v", ErrProgress, reason)
		}
	}()
	encoded, err = json.Marshal(progress)
	if err != nil {
		return nil, fmt.Errorf("echomq: %w: it cannot be encoded: %w", ErrProgress, err)
	}
	if len(encoded) > MaxProgress {
		return nil, fmt.Errorf("echomq: %w: it has %d bytes and the limit is %d", ErrProgress, len(encoded), MaxProgress)
	}
	return encoded, nil
}

// DecodeProgress decodes a progress: of a job's envelope, of an event, or what
// [Handle.Progress] returns. ok is false, and there is no error, if there is none.
// The error is [ErrProgress].
func DecodeProgress[P any](encoded []byte) (progress P, ok bool, err error) {
	if len(encoded) == 0 {
		return progress, false, nil
	}
	progress, err = decode[P](nil, "", encoded)
	if err != nil {
		var none P
		return none, false, fmt.Errorf("echomq: %w: %w", ErrProgress, err)
	}
	return progress, true, nil
}

// ReadProgress returns how far a job has come, as it said last; see
// [Handle.Progress]. ok is false, and there is no error, if it has said nothing.
func ReadProgress[P, R any](ctx context.Context, handle Handle[R]) (progress P, ok bool, err error) {
	encoded, err := handle.Progress(ctx)
	if err != nil {
		return progress, false, err
	}
	return DecodeProgress[P](encoded)
}

// cutLine returns what is kept of a log line.
func cutLine(line string) string {
	const cut = "…"
	line = strings.ToValidUTF8(line, "\uFFFD")
	if len(line) <= MaxLogLine {
		return line
	}
	end := MaxLogLine - len(cut)
	for !utf8.RuneStart(line[end]) {
		end--
	}
	return line[:end] + cut
}

// recording guards what is recorded into jobs without a worker: a handler under
// test may report from several goroutines.
var recording sync.Mutex

// Progress records how far the job has come: any value that encoding/json
// encodes in at most [MaxProgress] bytes. It replaces the last one, can be read
// from any process by [Handle.Progress], and is an event where the queue's level
// is [EventsAll]: ten at once, and then two a second, of what one job says more
// often. It stays on the job through retries and after its end; a handler finds
// what an earlier attempt recorded in job.Envelope.Progress.
//
// It returns when the store has it: one round trip, up to 30 s while the store
// does not answer. The error is [ErrProgress] for a value that cannot be recorded,
// and [ErrLeaseLost] if the job was given to another worker, or its attempt has
// ended; then nothing was changed.
//
// A job without a worker, as a test makes it, records the value in its Envelope.
func (j *Job[T]) Progress(ctx context.Context, progress any) error {
	encoded, err := encodeProgress(progress)
	switch {
	case err != nil:
		return err
	case j.reporter != nil:
		return j.reporter.progress(ctx, encoded)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	recording.Lock()
	defer recording.Unlock()
	j.Envelope.Progress = encoded
	return nil
}

// Log adds a line to the job's log, which can be read from any process by
// [Handle.Logs]. The newest lines of all attempts are kept, by default 100; see
// [KeepSpec]. A line over [MaxLogLine] bytes is cut. Lines stay after the job's
// end for as long as the job.
//
// It returns when the store has the line: one round trip, up to 30 s while the
// store does not answer. The error is [ErrLeaseLost] if the job was given to
// another worker, or its attempt has ended; then nothing was changed.
//
// A job without a worker, as a test makes it, records the line: see Logged.
func (j *Job[T]) Log(ctx context.Context, line string) error {
	line = cutLine(line)
	switch {
	case j.reporter != nil:
		return j.reporter.log(ctx, line)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	recording.Lock()
	defer recording.Unlock()
	j.logged = append(j.logged, line)
	j.LogCount++
	return nil
}

// Logged returns the lines that were logged to a job without a worker.
func (j *Job[T]) Logged() []string {
	recording.Lock()
	defer recording.Unlock()
	return append([]string(nil), j.logged...)
}
