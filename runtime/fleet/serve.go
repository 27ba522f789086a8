package fleet

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/echomq/echomq-go/lua"
	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// GoName is how reports call the Go runtime.
const GoName = "go"

// Serve is the Go runtime as a peer: it answers the requests that it reads from
// in until in ends, it is asked to quit, or ctx ends, and writes the answers to
// out. It enqueues, processes and reads results through the runtime's own client,
// workers and handles.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	p := &goPeer{}
	defer p.close()
	reader := bufio.NewReaderSize(in, 64<<10)
	for ctx.Err() == nil {
		line, err := readLine(reader)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) {
			return nil
		}
		if err != nil {
			return err
		}
		var request Request
		answer, err := Answer{}, json.Unmarshal(line, &request)
		if err == nil {
			answer, err = p.answer(ctx, request)
		}
		answer.OK = err == nil
		if err != nil {
			answer.Error = err.Error()
		}
		encoded, err := json.Marshal(answer)
		if err != nil {
			return err
		}
		if _, err := out.Write(append(encoded, '\n')); err != nil {
			return err
		}
		if request.Do == doQuit {
			return nil
		}
	}
	return context.Cause(ctx)
}

// moving reports whether a call was refused because its queue's slot is being moved.
// The client library follows a few times, and then leaves it to its caller.
func moving(err error) bool {
	return redis.HasErrorPrefix(err, "TRYAGAIN") || redis.HasErrorPrefix(err, "ASK") || redis.HasErrorPrefix(err, "MOVED")
}

// movePause is the pause after a call that was refused because the queue's slot is
// being moved.
const movePause = 20 * time.Millisecond

// callTime bounds what the Go peer does for one request, beside its waiting.
const callTime = 20 * time.Second

// goPeer is the Go runtime as a peer.
type goPeer struct {
	store  redis.UniversalClient
	client *echomq.Client
	tap    *tap
}

type (
	rawJob    = echomq.JobType[json.RawMessage, json.RawMessage]
	rawHandle = echomq.Handle[json.RawMessage]
)

func (p *goPeer) answer(ctx context.Context, request Request) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime+milliseconds(request.Wait))
	defer cancel()
	switch {
	case request.Do == doHello:
		return p.hello(ctx, request)
	case request.Do == doQuit:
		return Answer{}, nil
	case p.store == nil:
		return Answer{}, errors.New("hello goes first")
	}
	switch request.Do {
	case doEnqueue:
		return p.enqueue(ctx, request)
	case doProcess:
		return p.process(ctx, request)
	case doPromote:
		return p.promote(ctx, request)
	case doResult:
		return p.result(ctx, request)
	}
	return Answer{}, fmt.Errorf("no such request: %q", request.Do)
}

func (p *goPeer) hello(ctx context.Context, request Request) (Answer, error) {
	store, err := open(ctx, request.Address)
	if err != nil {
		return Answer{}, err
	}
	p.store, p.tap = store, newTap()
	p.store.AddHook(p.tap)
	p.client = echomq.NewClient(p.store, echomq.WithLogger(slog.New(slog.DiscardHandler)))
	answer := Answer{
		Peer: LineVersion, Runtime: GoName, Version: strings.TrimPrefix(runtime.Version(), "go"),
		Role: "this runtime", Protocol: wire.Version, Scripts: map[string]string{},
	}
	for _, one := range lua.All() {
		sha1, err := p.store.ScriptLoad(ctx, one.Source).Result()
		if err != nil {
			return Answer{}, err
		}
		answer.Scripts[one.Name] = sha1
	}
	return answer, nil
}

func (p *goPeer) close() {
	if p.store != nil {
		_ = p.client.Close()
		_ = p.store.Close()
	}
}

func jobType(request Request) rawJob {
	return echomq.NewJobType[json.RawMessage, json.RawMessage](echomq.JobSpec{Queue: request.Queue, Name: request.Name})
}

func (p *goPeer) enqueue(ctx context.Context, request Request) (Answer, error) {
	options := []echomq.EnqueueOption{echomq.ID(request.ID), echomq.Priority(request.Priority)}
	if request.Delay > 0 {
		options = append(options, echomq.In(milliseconds(request.Delay)))
	}
	retry := echomq.RetrySpec{Attempts: request.Attempts}
	if request.Backoff > 0 {
		retry.Backoff, retry.Base, retry.Jitter = echomq.Fixed, milliseconds(request.Backoff), echomq.NoJitter
	}
	options = append(options, echomq.Retry(retry))
	p.tap.begin(request.Lose)
	producer := echomq.NewProducer(p.client, echomq.QueueSpec{Name: request.Queue})
	handle, err := echomq.Enqueue(ctx, producer, jobType(request), json.RawMessage(request.Payload), options...)
	if err != nil {
		return Answer{}, err
	}
	verdict := script.AddVerdictAdded
	if handle.Existing {
		verdict = script.AddVerdictExists
	}
	return Answer{ID: handle.ID, Verdict: string(verdict), Lost: p.tap.lostAnswers()}, nil
}

// result looks once: at the state as the store tells it, and at the result or
// failure as a handle gives it.
func (p *goPeer) result(ctx context.Context, request Request) (Answer, error) {
	id, err := wire.ParseStoredJobID(request.ID)
	if err != nil {
		return Answer{}, err
	}
	raw, err := p.call(ctx, request.Queue, script.Inspect{Items: []script.InspectItem{{ID: id}}}.Call)
	if err != nil {
		return Answer{}, err
	}
	reply, err := script.DecodeInspect(raw)
	if err != nil {
		return Answer{}, err
	}
	found := reply.Results[0]
	answer := Answer{State: string(found.State), Attempts: int(found.Attempts)}
	if !echomq.State(found.State).Ended() {
		return answer, nil
	}
	var handle rawHandle
	if handle, err = jobType(request).Handle(p.client, request.ID); err != nil {
		return Answer{}, err
	}
	value, err := handle.Await(ctx)
	var failure *echomq.JobError
	if errors.As(err, &failure) {
		answer.Reason, answer.Attempts = failure.Reason, failure.Attempts
		return answer, nil
	}
	answer.Value = string(value)
	return answer, err
}

// promote makes the calls that a worker makes when its timer for the next due
// job fires.
func (p *goPeer) promote(ctx context.Context, request Request) (Answer, error) {
	due, err := p.due(ctx, request.Queue, 500)
	if err != nil {
		return Answer{}, err
	}
	answer := Answer{}
	if len(due.Due) > 0 {
		call := script.Promote{Events: script.PromoteEventsFinal, History: echomq.DefaultEventHistory}
		for _, id := range due.Due {
			job, err := wire.ParseStoredJobID(id)
			if err != nil {
				return Answer{}, err
			}
			call.Items = append(call.Items, script.PromoteItem{ID: job})
		}
		raw, err := p.call(ctx, request.Queue, call.Call)
		if err != nil {
			return Answer{}, err
		}
		reply, err := script.DecodePromote(raw)
		if err != nil {
			return Answer{}, err
		}
		for i, result := range reply.Results {
			if result.Verdict == script.PromoteVerdictPromoted {
				answer.Promoted = append(answer.Promoted, due.Due[i])
			}
		}
	}
	left, err := p.due(ctx, request.Queue, 1)
	answer.Now, answer.Due = left.Now, left.NextDue
	if len(left.Due) > 0 {
		answer.Due = left.Now
	}
	return answer, err
}

func (p *goPeer) due(ctx context.Context, queue string, limit int64) (script.DueReply, error) {
	raw, err := p.call(ctx, queue, script.Due{Limit: limit}.Call)
	if err != nil {
		return script.DueReply{}, err
	}
	return script.DecodeDue(raw)
}

// call makes one call of a script.
func (p *goPeer) call(ctx context.Context, name string, build func(wire.Queue) script.Call) (any, error) {
	queue, err := wire.ParseQueue(name)
	if err != nil {
		return nil, err
	}
	call := build(queue)
	for {
		reply, err := p.store.EvalSha(ctx, call.Script.SHA1, call.Keys, call.Args...).Result()
		if redis.HasErrorPrefix(err, "NOSCRIPT") { // a node that is new in its cluster
			reply, err = p.store.Eval(ctx, call.Script.Source, call.Keys, call.Args...).Result()
		}
		if !moving(err) || ctx.Err() != nil {
			return reply, err
		}
		time.Sleep(movePause)
	}
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

func workerName() string { return fmt.Sprintf("go:%d", os.Getpid()) }
