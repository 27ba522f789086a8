package echomq

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/echomq/echomq-go/runtime/wire"
)

// maxYear is the last year in which a job can be due: what RFC 3339 can write.
const maxYear = 9999

// enqueueConfig is what the options of one job come to.
type enqueueConfig struct {
	spec   JobSpec
	unique bool // the job is to have a unique key
	// group is of the option; without it the payload says.
	group      GroupKey
	groupGiven bool
	id         string
	idGiven    bool
	in         bool
	at         time.Time
	err        error // of an option
}

// settle checks the options and enters the settings that they come to into the job.
func (c *enqueueConfig) settle(p *Prepared) error {
	if c.err != nil {
		return c.err
	}
	if err := c.spec.check(); err != nil {
		return err
	}
	if c.in && !c.at.IsZero() {
		return optionError("In and At exclude each other")
	}
	if c.at.Year() > maxYear {
		return optionError("time %v: its year must be at most %d", c.at, maxYear)
	}
	p.opts = encodeOpts(c.spec)
	p.priority = c.spec.Priority
	p.delay, p.due = c.spec.Delay, c.at
	if !c.at.IsZero() {
		p.delay = 0
	}
	return nil
}

// identify gives the job the id of the options, or a new one.
func (c *enqueueConfig) identify(p *Prepared) error {
	if !c.idGiven {
		p.id, p.fresh = newJobID(), true
		return nil
	}
	id, err := wire.ParseJobID(c.id)
	if err != nil {
		return fmt.Errorf("echomq: %w: %w", ErrOption, err)
	}
	p.id, p.fresh = id, false
	return nil
}

// newJobID mints an id: a UUIDv7, so that ids sort by creation.
func newJobID() wire.JobID { return wire.UUIDJobID(uuid.Must(uuid.NewV7())) }

// preparer makes jobs of one type ready to be sent through one producer. What is the
// same for all of them is checked and computed once.
type preparer[T, R any] struct {
	producer *Producer
	job      *JobType[T, R]
	shared   enqueueConfig // what the options for all jobs come to
	common   Prepared      // what jobs without options of their own have
	err      error         // what is wrong with those options
}

// newPreparer returns a preparer of jobs that have the given options. The error is of
// the producer or the job type.
func newPreparer[T, R any](p *Producer, job *JobType[T, R], opts []EnqueueOption) (made preparer[T, R], err error) {
	name := job.spec.Name
	if p == nil || p.client == nil {
		return made, optionError("job %s: the producer has no client", name)
	}
	if job.spec.Queue != p.spec.Name {
		return made, optionError("job %s belongs to queue %q and this producer to %q", name, job.spec.Queue, p.spec.Name)
	}
	if err := p.config.check(); err != nil {
		return made, fmt.Errorf("%w (job %s)", err, name)
	}
	if err := job.codecs.check(); err != nil {
		return made, fmt.Errorf("%w (job %s)", err, name)
	}
	if p.err != nil {
		return made, fmt.Errorf("echomq: job %s: %w", name, p.err)
	}
	made.producer, made.job = p, job
	made.shared = enqueueConfig{spec: job.spec, unique: job.unique != nil || job.spec.Unique != (UniqueSpec{})}
	if len(opts) > 0 {
		made.shared = *made.shared.with(opts)
	}
	made.common = Prepared{
		queue:    p.queue,
		name:     name,
		version:  max(job.spec.Version, 1),
		contract: job.spec.Contract,
		codec:    job.codecs.name(),
		events:   p.config.events,
	}
	made.err = made.shared.settle(&made.common)
	return made, nil
}

// prepare makes one job ready. Options of its own win over those for all jobs. The
// payload's own code gets the pointer.
func (p *preparer[T, R]) prepare(prepared *Prepared, payload *T, opts []EnqueueOption) error {
	limit := p.producer.config.payloadLimit
	data, err := encodePayload(p.job.codecs.payload, payload, limit)
	if err != nil {
		return p.about(err)
	}
	*prepared = p.common
	config := &p.shared
	if err = p.err; len(opts) > 0 {
		config = p.shared.with(opts)
		err = config.settle(prepared)
	}
	if err == nil {
		err = config.identify(prepared)
	}
	if err != nil {
		return fmt.Errorf("%w (job %s)", err, p.job.spec.Name)
	}
	if prepared.unique, err = uniqueOf(p.job, payload, config); err != nil {
		return p.about(err)
	}
	if prepared.group, err = groupOf(p.job, payload, config); err != nil {
		return p.about(err)
	}
	if err := prepared.seal(p.producer.client.transforms, data, limit); err != nil {
		return p.about(err)
	}
	return nil
}

// about says of which job type an error is.
func (p *preparer[T, R]) about(err error) error {
	return fmt.Errorf("echomq: job %s: %w", p.job.spec.Name, err)
}

// with returns a copy of the config with more options.
func (c *enqueueConfig) with(opts []EnqueueOption) *enqueueConfig {
	changed := *c // on the heap, which jobs without options are spared
	for _, opt := range opts {
		opt.applyEnqueue(&changed)
	}
	return &changed
}

// prepare makes one job ready to be sent.
func prepare[T, R any](p *Producer, job JobType[T, R], payload T, opts []EnqueueOption) (prepared Prepared, err error) {
	preparer, err := newPreparer(p, &job, opts)
	if err == nil {
		err = preparer.prepare(&prepared, &payload, nil)
	}
	if err != nil {
		return Prepared{}, err
	}
	return prepared, nil
}
