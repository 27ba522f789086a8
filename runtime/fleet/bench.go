package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/echomq/echomq-go/runtime/wire"
)

// jobName is the wire name of all jobs here.
const jobName = "fleet"

// patience is how long a peer may wait for a job that must come.
const patience = 10 * time.Second

// mismatch is something else than a check expects.
type mismatch struct{ expected, found string }

func (m *mismatch) Error() string { return fmt.Sprintf("expected %s, found %s", m.expected, m.found) }

// bench is a queue with the two runtimes of one check. After the first thing
// that goes wrong it does nothing more, and answers with zero values.
type bench struct {
	ctx      context.Context
	from, to *peer
	queue    string
	long     map[string]bool
	timeout  time.Duration

	ids []string // of the jobs, to remove them
	err error
}

// ask sends a request about the queue.
func (b *bench) ask(p *peer, request Request) Answer {
	if b.err != nil {
		return Answer{}
	}
	request.Queue, request.Name = b.queue, jobName
	answer, err := p.ask(b.ctx, request, b.timeout+milliseconds(request.Wait))
	if err == nil && !answer.OK {
		err = &mismatch{
			expected: fmt.Sprintf("that %s can answer %s", p.name, request.Do),
			found:    "error: " + brief(answer.Error),
		}
	}
	b.err = err
	return answer
}

// enqueue adds a job that must be new.
func (b *bench) enqueue(p *peer, request Request) {
	b.equal(p.name+" enqueues a new job", "added", b.offer(p, request).Verdict)
}

// offer adds a job, whether or not it is new.
func (b *bench) offer(p *peer, request Request) Answer {
	request.Do = doEnqueue
	b.ids = append(b.ids, request.ID)
	answer := b.ask(p, request)
	b.equal(p.name+" enqueues under the id that it was given", request.ID, answer.ID)
	return answer
}

// process has a job processed, or finds that there is none.
func (b *bench) process(p *peer, request Request) Answer {
	request.Do = doProcess
	answer := b.ask(p, request)
	for name := range answer.Job {
		if !b.long[name] {
			b.fail(fmt.Sprintf("a job of %s under the long names of the manifest", p.name), name)
		}
	}
	return answer
}

// complete has the job with the id processed and completed.
func (b *bench) complete(p *peer, id string, request Request) Answer {
	answer := b.process(p, request)
	b.equal(p.name+" takes", id, answer.Job.Text("id"))
	b.equal(p.name+" settles it as", "completed", answer.Outcome)
	return answer
}

// none checks that there is nothing to take.
func (b *bench) none(p *peer, why string) {
	answer := b.process(p, Request{Behaviour: behaveEcho})
	if answer.Job != nil {
		b.fail(fmt.Sprintf("no job for %s: %s", p.name, why), answer.Job.Text("id"))
	}
}

// result reads where a job is.
func (b *bench) result(p *peer, id string) Answer { return b.ask(p, Request{Do: doResult, ID: id}) }

func (b *bench) promote(p *peer) Answer { return b.ask(p, Request{Do: doPromote}) }

// equal checks something.
func (b *bench) equal(what string, expected, found any) {
	if b.err == nil && expected != found {
		b.fail(fmt.Sprintf("%s: %v", what, expected), fmt.Sprint(found))
	}
}

// atLeast checks that a number is not smaller.
func (b *bench) atLeast(what string, least, found int64) {
	if b.err == nil && found < least {
		b.fail(fmt.Sprintf("%s: at least %d", what, least), fmt.Sprint(found))
	}
}

// same checks that two texts are the same JSON value, with numbers compared by
// their digits.
func (b *bench) same(what, expected, found string) {
	if b.err != nil || found == expected {
		return
	}
	plain, err := canonical(found)
	if err != nil {
		b.fail(what+": JSON", fmt.Sprintf("%q: %v", brief(found), err))
		return
	}
	if want, err := canonical(expected); err != nil || want != plain {
		b.fail(what+": "+brief(want), brief(plain)+difference(want, plain))
	}
}

// canonical returns the one text that stands for a JSON value.
func canonical(text string) (string, error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return "", err
	}
	if decoder.More() {
		return "", errors.New("something follows it")
	}
	encoded, err := json.Marshal(value)
	return string(encoded), err
}

// difference tells where two long texts part.
func difference(expected, found string) string {
	if len(expected) <= 160 && len(found) <= 160 {
		return ""
	}
	at := 0
	for at < min(len(expected), len(found)) && expected[at] == found[at] {
		at++
	}
	return fmt.Sprintf(" (%d bytes, not %d; they part at byte %d)", len(found), len(expected), at)
}

func (b *bench) fail(expected, found string) {
	if b.err == nil {
		b.err = &mismatch{expected: expected, found: found}
	}
}

// clean removes what the check left in the store.
func (b *bench) clean(store redis.UniversalClient) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(b.ctx), b.timeout)
	defer cancel()
	queue, err := wire.ParseQueue(b.queue)
	if err != nil {
		return err
	}
	var keys []string
	for _, suffix := range wire.QueueSuffixes() {
		keys = append(keys, queue.Key(suffix))
	}
	for _, text := range b.ids {
		id, err := wire.ParseJobID(text)
		if err != nil {
			return err
		}
		keys = append(keys, queue.Job(id))
		for _, part := range wire.JobParts() {
			keys = append(keys, queue.JobKey(id, part))
		}
	}
	_, err = store.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for _, key := range keys { // alone, since a cluster refuses several while their slot is moved
			pipe.Unlink(ctx, key)
		}
		pipe.SRem(ctx, wire.StoreQueuesKey, b.queue)
		return nil
	})
	return err
}
