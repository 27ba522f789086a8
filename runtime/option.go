package echomq

import (
	"log/slog"
	"time"
)

// Options are functions on a private config, and of several types: an option
// can only be given where it makes sense. One that is of two types can be given
// in both places.
type (
	// ClientOption is an option of [NewClient].
	ClientOption interface{ applyClient(*clientConfig) }
	// ProducerOption is an option of a producer's constructor.
	ProducerOption interface{ applyProducer(*producerConfig) }
	// EnqueueOption is an option of one job.
	EnqueueOption interface{ applyEnqueue(*enqueueConfig) }
	// BatchOption is an option of a batch. One that is an EnqueueOption too
	// holds for every item that does not say otherwise.
	BatchOption interface{ applyBatch(*batchConfig) }
	// QueueOption is an option of one queue that a worker serves.
	QueueOption interface{ applyQueue(*queueConfig) }
	// WorkerOption is an option of a worker.
	WorkerOption interface{ applyWorker(*workerConfig) }
	// HandleOption is an option of [JobType.Handle].
	HandleOption interface{ applyHandle(*handleConfig) }
)

type (
	clientOption func(*clientConfig)
	workerOption func(*workerConfig)
	queueOption  func(*queueConfig)
)

func (o queueOption) applyQueue(c *queueConfig) { o(c) }

func (o clientOption) applyClient(c *clientConfig) { o(c) }
func (o workerOption) applyWorker(c *workerConfig) { o(c) }

// WithLogger sets the logger of a client and of the workers made with it;
// default slog.Default().
func WithLogger(log *slog.Logger) ClientOption {
	return clientOption(func(c *clientConfig) {
		if log != nil {
			c.log = log
		}
	})
}

// NameQueues maps the names of all queues that a client touches, for instance
// to give each environment or tenant its own: a producer or worker for queue
// "mail" uses the queue that rename("mail") names.
func NameQueues(rename func(string) string) ClientOption {
	return clientOption(func(c *clientConfig) { c.rename = rename })
}

// LegacyPrefixes says under which prefixes queues of the v1 line may stand in the
// same store; default "bull". A client refuses a queue of which there is one
// with [ErrLegacyQueue].
func LegacyPrefixes(prefixes ...string) ClientOption {
	return clientOption(func(c *clientConfig) { c.legacy = prefixes })
}

// WithReplicaAck makes every call that adds jobs, or settles them, wait until n
// replicas have acknowledged it, so that a fail-over to one of them does not lose
// it; default 0, which waits for none. With a single replica n is 1; with several
// only as many as there are make it certain that the one which takes over has it.
//
// What fewer replicas acknowledged in time is [ErrNotReplicated] for who adds; it
// is waited for as long as an answer that was lost. A worker settles such a job
// again for some seconds, and then leaves it at that: at worst the job runs
// again. The price is the way to the replicas and back in every call, and that
// nothing can be added while too few of them are there.
//
// It needs a [*redis.Client], also one of Sentinel, or a [*redis.ClusterClient];
// with another store these calls fail with [ErrOption].
func WithReplicaAck(n int) ClientOption {
	return clientOption(func(c *clientConfig) { c.replicas = n })
}

// QueueNameOption is the option [QueueName].
type QueueNameOption string

// QueueName runs the contract of a queue under another name.
func QueueName(name string) QueueNameOption { return QueueNameOption(name) }

func (o QueueNameOption) applyProducer(c *producerConfig) { c.name = string(o) }
func (o QueueNameOption) applyQueue(c *queueConfig)       { c.name = string(o) }
func (o QueueNameOption) applyHandle(c *handleConfig)     { c.name = string(o) }

// PayloadLimitOption is the option [PayloadLimit].
type PayloadLimitOption int

// PayloadLimit is how many bytes an encoded payload may have; default 1 MiB. A
// producer refuses a larger one with [ErrPayload]; a worker fails a job with a
// larger one without having it sent, and one whose encoded result is larger.
func PayloadLimit(bytes int) PayloadLimitOption { return PayloadLimitOption(bytes) }

func (o PayloadLimitOption) applyProducer(c *producerConfig) { c.payloadLimit = int(o) }
func (o PayloadLimitOption) applyQueue(c *queueConfig)       { c.payloadLimit = int(o) }

// EventsOption is the option [Events].
type EventsOption EventLevel

// Events says which transitions become events. Producers and workers of one
// queue usually have the same level, from its directive.
func Events(level EventLevel) EventsOption { return EventsOption(level) }

func (o EventsOption) applyProducer(c *producerConfig) { c.events = EventLevel(o) }
func (o EventsOption) applyQueue(c *queueConfig)       { c.events = EventLevel(o) }
func (o EventsOption) applyWorker(c *workerConfig)     { c.queues = append(c.queues, o.applyQueue) }

// QueueWorkerOption is an option that can be given for one queue or for a
// worker as a whole, where it holds for every queue that does not say otherwise.
type QueueWorkerOption func(*queueConfig)

func (o QueueWorkerOption) applyQueue(c *queueConfig)   { o(c) }
func (o QueueWorkerOption) applyWorker(c *workerConfig) { c.queues = append(c.queues, o) }

// Concurrency is how many jobs of a queue the worker runs at once; default
// 10 × GOMAXPROCS. Short ones it takes in advance, by [Prefetch].
func Concurrency(n int) QueueWorkerOption {
	return func(c *queueConfig) { c.concurrency = n }
}

// Weight is a queue's part of the slots that [TotalConcurrency] gives all queues
// of a worker, where several have work; default 1.
func Weight(n int) QueueOption {
	return queueOption(func(c *queueConfig) { c.weight = n })
}

// TotalConcurrency is how many jobs of all its queues together the worker runs at
// once. A queue that has work can use every slot that the others leave; where
// several have, each gets slots by its [Weight]. Slots are not taken back from
// jobs that run. Without it each queue has slots of its own, by [Concurrency],
// which is still the most that one queue gets.
func TotalConcurrency(n int) WorkerOption {
	return workerOption(func(c *workerConfig) { c.total, c.totalGiven = n, true })
}

// Lease is for how long the worker holds a job without renewing it, and so the
// time after which the jobs of a worker that died run again; default 15 s, at
// least 100 ms. It is renewed three times as often.
func Lease(d time.Duration) QueueWorkerOption {
	return func(c *queueConfig) { c.lease = d }
}

// StuckAfter is for how long a handler may go on after its context has ended,
// because of its timeout, a cancellation or a lost lease, before it counts as
// stuck; default 30 s. At the next renewal of leases after that (they come three
// times in a lease) it is logged as an error and is the event "stuck", the job's
// lease ends, so that another worker can take it, and what the handler returns
// counts only if none has. Its slot stays taken until it returns.
func StuckAfter(d time.Duration) QueueWorkerOption {
	return func(c *queueConfig) { c.stuckAfter = d }
}

// WorkerName is the worker's name in the jobs that it ran; default the host's
// name and the process id.
func WorkerName(name string) WorkerOption {
	return workerOption(func(c *workerConfig) { c.name = name })
}

// StopTimeout is how long a worker whose Run context ends waits for its
// running jobs before it cancels them; default 25 s.
func StopTimeout(d time.Duration) WorkerOption {
	return workerOption(func(c *workerConfig) { c.stopTimeout = d })
}

// IDOption is the option [ID].
type IDOption string

// ID gives a job an id of the caller's choice. A job whose id is taken is not
// added again: the handle's Existing is set. An id has 1 to 255 letters,
// digits, '.', '_' and '-' and begins with a letter or digit; the names of the
// queue's own keys, such as "wait", are refused.
func ID(id string) IDOption { return IDOption(id) }

func (o IDOption) applyEnqueue(c *enqueueConfig) { c.id = string(o); c.idGiven = true }

// JobOption is an option of one job that can also be given to a batch, where
// it holds for every item that does not say otherwise.
type JobOption func(*enqueueConfig)

func (o JobOption) applyEnqueue(c *enqueueConfig) { o(c) }
func (o JobOption) applyBatch(c *batchConfig)     { c.shared = append(c.shared, o) }

// In delays a job: it runs d after it was added, by the server's clock.
func In(d time.Duration) TimeOption { return TimeOption{in: d} }

// At schedules a job: it runs at t, by the server's clock, or at once if t is
// past.
func At(t time.Time) TimeOption { return TimeOption{at: t, by: true} }

// Priority orders the queue's jobs: 0, the default, runs first, then 1 to
// [MaxPriority].
func Priority(n int) JobOption {
	return func(c *enqueueConfig) { c.spec.Priority = n }
}

// Timeout is for how long an attempt may run; default 5 minutes, [NoTimeout]
// for ever.
func Timeout(d time.Duration) JobOption {
	return func(c *enqueueConfig) {
		c.spec.Timeout = d
		if d == 0 {
			c.err = optionError("timeout 0: it must be positive, or NoTimeout")
		}
	}
}

// Retry says what follows a failed attempt. Zero fields leave the directive's
// values as they are.
func Retry(retry RetrySpec) JobOption {
	return func(c *enqueueConfig) { c.spec.Retry = retry.over(c.spec.Retry) }
}

// Retain says for how long the ended job is kept. Zero fields leave the
// directive's values as they are.
func Retain(keep KeepSpec) JobOption {
	return func(c *enqueueConfig) {
		if keep.Completed != (Keep{}) {
			c.spec.Keep.Completed = keep.Completed
		}
		if keep.Failed != (Keep{}) {
			c.spec.Keep.Failed = keep.Failed
		}
		if keep.Logs != 0 {
			c.spec.Keep.Logs = keep.Logs
		}
	}
}

type chunkOption int

func (o chunkOption) applyBatch(c *batchConfig) { c.chunk = int(o) }

// ChunkSize is how many jobs of a batch are added in one atomic step; default
// and limit 500. A chunk is also cut at 4 MiB.
func ChunkSize(jobs int) BatchOption { return chunkOption(jobs) }
