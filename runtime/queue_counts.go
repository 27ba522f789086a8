package echomq

import (
	"context"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// Counts is how many jobs of a queue there are, as of one moment.
type Counts struct {
	// Waiting can be taken in order of arrival, Prioritized after them. Those that
	// wait in groups are among the former, whatever their priority: Grouped of
	// them, in Groups groups.
	Waiting     int64 `json:"waiting"`
	Grouped     int64 `json:"grouped"`
	Groups      int64 `json:"groups"`
	Prioritized int64 `json:"prioritized"`
	// Delayed are not due yet: new ones, and those between two attempts.
	Delayed int64 `json:"delayed"`
	// Active are held by workers; Reserved are those of them that have not been
	// started yet.
	Active   int64 `json:"active"`
	Reserved int64 `json:"reserved"`
	// Completed and Failed have ended and are kept.
	Completed int64 `json:"completed"`
	Failed    int64 `json:"failed"`
	// WaitingChildren are parents of flows whose children have not all ended.
	WaitingChildren int64 `json:"waitingChildren"`
	// Quarantined are ids that cannot be run.
	Quarantined int64 `json:"quarantined"`
	// Paused says that the queue gives out no jobs.
	Paused bool `json:"paused"`
}

// In returns how many jobs there are in a state; 0 for [StateMissing].
func (c Counts) In(state State) int64 {
	return map[State]int64{
		StateWaiting: c.Waiting, StatePrioritized: c.Prioritized, StateDelayed: c.Delayed, StateActive: c.Active,
		StateCompleted: c.Completed, StateFailed: c.Failed, StateQuarantined: c.Quarantined, StateWaitingChildren: c.WaitingChildren,
	}[state]
}

// Counts returns how many jobs there are in each state. It costs the same
// however many there are.
func (q *Queue) Counts(ctx context.Context) (Counts, error) {
	raw, err := q.read(ctx, "count the jobs of", script.Counts{}.Call(q.queue))
	if err != nil {
		return Counts{}, err
	}
	reply, err := script.DecodeCounts(raw)
	if err != nil {
		return Counts{}, err
	}
	return Counts{
		Waiting: reply.Waiting + reply.Grouped, Grouped: reply.Grouped, Groups: reply.Groups, Prioritized: reply.Prioritized, Delayed: reply.Delayed,
		Active: reply.Active, Reserved: reply.Reserved, Completed: reply.Completed, Failed: reply.Failed,
		Quarantined: reply.Quarantined, WaitingChildren: reply.WaitingChildren, Paused: reply.Paused,
	}, nil
}

// Queues returns the names of the queues that were ever used in the store, as
// they stand there, in order. One that was obliterated is not among them.
func (c *Client) Queues(ctx context.Context) ([]string, error) {
	const op = "list the queues"
	if c.store == nil {
		return nil, errNoStore
	}
	var names *redis.StringSliceCmd
	err := c.persist(ctx, op, func() error {
		names = c.store.SMembers(ctx, wire.StoreQueuesKey)
		return names.Err()
	})
	if err != nil {
		return nil, err
	}
	return slices.Sorted(slices.Values(names.Val())), nil
}
