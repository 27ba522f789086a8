package echomq

import (
	"fmt"

	"github.com/echomq/echomq-go/runtime/wire"
)

// JobType is a job's contract: its wire name and version, the types of its
// payload and result, and its settings. It is what everything generic takes;
// emqgen writes a function that returns it, such as WelcomeJob.
type JobType[T, R any] struct {
	spec   JobSpec
	unique func(*UniqueKey, *T) // nil for a job that is not unique by its payload
	codecs codecs[T, R]
	older  []Older[T]          // by version
	group  func(*GroupKey, *T) // nil for a job that has no group by its payload
}

// NewJobType returns the job type that spec describes.
func NewJobType[T, R any](spec JobSpec) JobType[T, R] { return JobType[T, R]{spec: spec} }

// Name returns the job's wire name.
func (t JobType[T, R]) Name() string { return t.spec.Name }

// Queue returns the name of the job's queue, as its directive gives it.
func (t JobType[T, R]) Queue() string { return t.spec.Queue }

// Version returns the version of the payload's contract, from 1.
func (t JobType[T, R]) Version() int { return max(t.spec.Version, 1) }

type handleConfig struct{ name string }

// Handle returns the handle of the job with the given id, which may have been
// added by another process. It does not ask the store: whether the job exists,
// and is of this type, shows when the handle is used. The error is [ErrName].
func (t JobType[T, R]) Handle(client *Client, id string, opts ...HandleOption) (Handle[R], error) {
	config := handleConfig{name: t.spec.Queue}
	for _, opt := range opts {
		opt.applyHandle(&config)
	}
	queue, err := client.queue(config.name)
	if err != nil {
		return Handle[R]{}, fmt.Errorf("echomq: job %s: %w", t.spec.Name, err)
	}
	jobID, err := wire.ParseStoredJobID(id)
	if err != nil {
		return Handle[R]{}, fmt.Errorf("echomq: job %s: %w", t.spec.Name, err)
	}
	return Handle[R]{ID: id, client: client, queue: queue, job: jobID, name: t.spec.Name, was: t.spec.formerNames(), codec: t.codecs.result}, nil
}
