package echomq

import (
	"context"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// The bounds of one call that adds jobs.
const (
	maxChunk      = wire.MaxItems
	maxChunkBytes = wire.MaxCallBytes
)

// Producer adds jobs to one queue. The typed producers that emqgen writes hold
// one; it is safe for concurrent use.
type Producer struct {
	client *Client
	spec   QueueSpec
	config producerConfig
	queue  wire.Queue
	err    error // why there is no queue
}

type producerConfig struct {
	name         string
	payloadLimit int
	events       EventLevel
}

func (c producerConfig) check() error {
	if c.payloadLimit < 1 {
		return optionError("payload limit %d: it must be at least 1 byte", c.payloadLimit)
	}
	return c.events.check()
}

// NewProducer returns a producer for the queue that spec names. Its errors, an
// invalid queue name among them, come from the calls that add jobs.
func NewProducer(client *Client, spec QueueSpec, opts ...ProducerOption) *Producer {
	config := producerConfig{name: spec.Name, payloadLimit: DefaultPayloadLimit, events: spec.Events}
	for _, opt := range opts {
		opt.applyProducer(&config)
	}
	p := &Producer{client: client, spec: spec, config: config}
	if client != nil {
		p.queue, p.err = client.queue(config.name)
	}
	return p
}

// Enqueue adds one job and returns its handle; or, if the job is unique and
// another one holds its key, what its [Conflict] says. An error that is
// [ErrOutcomeUnknown] or [ErrNotReplicated] carries the job's id.
//
// Calls that come while another one of the same client is out to the queue wait for
// it and share the next round trip; one that finds none goes at once.
func Enqueue[T, R any](ctx context.Context, p *Producer, job JobType[T, R], payload T, opts ...EnqueueOption) (Handle[R], error) {
	prepared, err := prepare(p, job, payload, opts)
	if err != nil {
		return Handle[R]{}, err
	}
	sent, err := p.client.sendThrough(ctx, []Prepared{prepared}, maxChunk)
	if err != nil {
		return Handle[R]{}, err
	}
	return handleOf(p.client, job.codecs.result, &prepared, &sent[0]), sent[0].Err
}

// Prepare validates and encodes one job without sending it: its id is minted
// and its bytes are fixed. [Client.Send] sends it, and does not add it twice; see
// [Prepared].
func Prepare[T, R any](p *Producer, job JobType[T, R], payload T, opts ...EnqueueOption) (Prepared, error) {
	prepared, err := prepare(p, job, payload, opts)
	prepared.fresh = false
	return prepared, err
}

// Send sends jobs that were prepared earlier, of any queues, and returns one
// result for each, in order. A job that is there already is not added again: its
// result has Existing set. Jobs of one queue that follow each other are added
// in chunks, each whole or not at all.
//
// The error is the first of the results' errors.
func (c *Client) Send(ctx context.Context, jobs ...Prepared) ([]Sent, error) {
	for i := range jobs {
		if jobs[i].queue.IsZero() {
			return nil, optionError("job %d is the zero Prepared; make it with a producer's Prepare method", i)
		}
	}
	return c.sendThrough(ctx, jobs, maxChunk)
}

// Sent is what came of sending a prepared job.
type Sent struct {
	// ID is the job's id.
	ID string
	// Existing says that a job of this id, or one with the same unique key, was
	// there already. ID is then that job's.
	Existing bool
	// Replaced says that the job that was there has got this one's content.
	Replaced bool
	// Err, where set, says why the job was not added; or, as an
	// [ErrOutcomeUnknown], that it is not known whether it was; or, as an
	// [ErrNotReplicated], that it was and may be lost in a fail-over.
	Err error

	// parent is the key of the parent of the job that exists.
	parent string
}

// sendChunks adds jobs in chunks. A chunk that fails stops the ones after it.
func (c *Client) sendChunks(ctx context.Context, jobs []Prepared, limit int) ([]Sent, error) {
	results := make([]Sent, len(jobs))
	for i := range jobs {
		results[i] = Sent{ID: jobs[i].id.String(), Err: ErrNotSent}
	}
	var first error
	for start := 0; start < len(jobs); {
		end := chunkEnd(jobs, start, limit)
		err := c.sendChunk(ctx, jobs[start:end], results[start:end])
		if err != nil {
			for i := range results[start:end] {
				results[start+i].Err = err
			}
			return results, err
		}
		for i := start; i < end && first == nil; i++ {
			first = results[i].Err
		}
		start = end
	}
	return results, first
}

// chunkEnd returns where the chunk that begins at start ends.
func chunkEnd(jobs []Prepared, start, limit int) int {
	bytes := 0
	for end := start; end < len(jobs); end++ {
		bytes += jobs[end].bytes()
		full := end-start == limit || bytes > maxChunkBytes && end > start
		if full || jobs[end].queue != jobs[start].queue || jobs[end].events != jobs[start].events {
			return end
		}
	}
	return len(jobs)
}

func (c *Client) sendChunk(ctx context.Context, jobs []Prepared, results []Sent) error {
	queue := jobs[0].queue
	if err := c.admit(ctx, queue, jobs...); err != nil {
		return err
	}
	return chunk{client: c, queue: queue, jobs: jobs, results: results}.send(ctx)
}

// level words, as the scripts take them.
func (l EventLevel) word() string {
	switch l {
	case EventsNone:
		return string(script.AddEventsNone)
	case EventsAll:
		return string(script.AddEventsAll)
	default:
		return string(script.AddEventsFinal)
	}
}
