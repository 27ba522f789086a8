package echomq

import (
	"context"
	"fmt"
)

// Item is a job of a batch.
type Item[T any] struct {
	Payload T
	// Options are the item's own; they win over those of the batch.
	Options []EnqueueOption
}

// Items returns one [Item] for each payload, without options.
func Items[T any](payloads ...T) []Item[T] {
	items := make([]Item[T], len(payloads))
	for i, payload := range payloads {
		items[i].Payload = payload
	}
	return items
}

// Outcome is what became of one item of a batch.
type Outcome[R any] struct {
	// Handle is the job's handle; its Existing is set if the job was there
	// already.
	Handle Handle[R]
	// Err, where set, says why the job was not added: [ErrNotSent] for items
	// after a chunk that failed, [ErrJobMismatch] for an id that another job
	// has, a [*DuplicateError], or the error of the item's chunk.
	Err error
}

type batchConfig struct {
	shared []EnqueueOption
	chunk  int
}

// BatchError says which item of a batch cannot be sent. Nothing was sent.
type BatchError struct {
	// Index is the item's place in the batch, from 0.
	Index int
	Err   error
}

func (e *BatchError) Error() string {
	return fmt.Sprintf("echomq: item %d of the batch: %v (nothing was sent)", e.Index, e.Err)
}

// Unwrap returns the item's error.
func (e *BatchError) Unwrap() error { return e.Err }

// EnqueueBatch adds many jobs of one type and returns one outcome for each, in
// order. The whole batch is validated and encoded first: if an item is bad the
// error is a [*BatchError] and nothing is sent. It is then added in chunks, each
// whole or not at all and one after the other, so that the jobs stand in the queue in
// the order of the batch. A chunk whose answer was lost is sent again before the
// next one is sent; the first chunk that fails ends the batch, and its error is
// returned beside the outcomes.
func EnqueueBatch[T, R any](ctx context.Context, p *Producer, job JobType[T, R], items []Item[T], opts ...BatchOption) ([]Outcome[R], error) {
	batch := batchConfig{chunk: maxChunk}
	for _, opt := range opts {
		opt.applyBatch(&batch)
	}
	if batch.chunk < 1 || batch.chunk > maxChunk {
		return nil, optionError("chunk size %d: it must be from 1 to %d", batch.chunk, maxChunk)
	}
	preparer, err := newPreparer(p, &job, batch.shared)
	if err != nil {
		return nil, err
	}
	jobs := make([]Prepared, len(items))
	payload := new(T) // a copy, which the payload's own code may change
	for i := range items {
		*payload = items[i].Payload
		if err := preparer.prepare(&jobs[i], payload, items[i].Options); err != nil {
			return nil, &BatchError{Index: i, Err: err}
		}
	}
	sent, err := p.client.sendThrough(ctx, jobs, batch.chunk)
	outcomes := make([]Outcome[R], len(sent))
	for i := range sent {
		outcomes[i] = Outcome[R]{Handle: handleOf(p.client, job.codecs.result, &jobs[i], &sent[i]), Err: sent[i].Err}
	}
	return outcomes, err
}
