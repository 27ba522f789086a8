package echomq

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// Overrides are the limits that an operator has set for a queue. What is zero is
// not overridden; [NoLimit] switches off what the directive says.
type Overrides struct {
	// Limit is how many of the queue's jobs may be active at once.
	Limit int
	// Rate is how many may start in a length of time; {NoLimit, 0} for any number.
	Rate RateSpec
	// GroupLimit is how many jobs of each group may be active at once.
	GroupLimit int
}

// SetLimit overrides how many of the queue's jobs may be active at once, on all
// workers together; [NoLimit] for any number. It holds from the next pick of every
// worker on, for those without an option of their own, and outlasts restarts. What
// is active above the new limit goes on. The error is [ErrOption] if n is out of
// range.
func (q *Queue) SetLimit(ctx context.Context, n int) error {
	if n == NoLimit {
		return q.override(ctx, script.Override{Limit: wordNone})
	}
	if err := checkLimit("limit", n); err != nil {
		return err
	}
	return q.override(ctx, script.Override{Limit: strconv.Itoa(n)})
}

// SetRate overrides how many of the queue's jobs may start in a length of time,
// as [RateSpec] describes; SetRate(ctx, NoLimit, 0) for any number. It holds from
// the next pick of every worker on, for those without an option of their own, and
// outlasts restarts. The tokens that are left stay, as far as they fit: a change
// gives no second burst. The error is [ErrOption] if a number is out of range.
func (q *Queue) SetRate(ctx context.Context, jobs int, per time.Duration) error {
	rate := RateSpec{jobs, per}
	if rate.off() {
		return q.override(ctx, script.Override{Rate: wordNone})
	}
	if err := rate.check(); err != nil {
		return err
	}
	return q.override(ctx, script.Override{Rate: fmt.Sprintf("%d/%d", jobs, per.Milliseconds())})
}

// SetGroupLimit overrides how many jobs of each of the queue's groups may be
// active at once, on all workers together; [NoLimit] for any number. It holds from
// the next pick of every worker on, for those without an option of their own, and
// outlasts restarts. What is active above the new limit goes on. The error is
// [ErrOption] if n is out of range.
func (q *Queue) SetGroupLimit(ctx context.Context, n int) error {
	if n == NoLimit {
		return q.override(ctx, script.Override{GroupLimit: wordNone})
	}
	if err := checkLimit("group limit", n); err != nil {
		return err
	}
	return q.override(ctx, script.Override{GroupLimit: strconv.Itoa(n)})
}

// ClearOverrides takes back what SetLimit, SetRate and SetGroupLimit have set: the
// directives hold again.
func (q *Queue) ClearOverrides(ctx context.Context) error {
	return q.override(ctx, script.Override{Limit: wordClear, Rate: wordClear, GroupLimit: wordClear})
}

func (q *Queue) override(ctx context.Context, call script.Override) error {
	raw, err := q.call(ctx, "set the limits of", call.Call(q.queue))
	if err != nil {
		return err
	}
	_, err = script.DecodeOverride(raw)
	return err
}

// Overrides returns what is set by SetLimit, SetRate and SetGroupLimit.
func (q *Queue) Overrides(ctx context.Context) (Overrides, error) {
	if err := q.client.meet(ctx, q.queue); err != nil {
		return Overrides{}, err
	}
	return readOverrides(ctx, q.client, q.queue)
}

func readOverrides(ctx context.Context, client *Client, queue wire.Queue) (Overrides, error) {
	var set Overrides
	err := client.persist(ctx, fmt.Sprintf("look at queue %q", queue), func() error {
		cmd := client.store.HMGet(ctx, queue.Key("meta"), wire.FieldLimit, wire.FieldRate, wire.FieldGroupLimit)
		if fields := cmd.Val(); len(fields) == 3 {
			limit, _ := fields[0].(string)
			rate, _ := fields[1].(string)
			group, _ := fields[2].(string)
			set = Overrides{Limit: parseLimit(limit), Rate: parseRate(rate), GroupLimit: parseLimit(group)}
		}
		return notPermittedPlain(queue, []redis.Cmder{cmd}, cmd.Err())
	})
	return set, err
}

// parseLimit reads an override; what is not of its form counts as none, as it
// does in the scripts.
func parseLimit(text string) int {
	n, err := strconv.Atoi(text)
	switch {
	case text == wordNone:
		return NoLimit
	case err != nil || checkLimit("limit", n) != nil:
		return 0
	}
	return n
}

func parseRate(text string) RateSpec {
	many, span, _ := strings.Cut(text, "/")
	jobs, err := strconv.Atoi(many)
	per, err2 := strconv.ParseInt(span, 10, 64)
	rate := RateSpec{Jobs: jobs, Per: milliseconds(per)}
	switch {
	case text == wordNone:
		return RateSpec{Jobs: NoLimit}
	case err != nil || err2 != nil || rate.check() != nil:
		return RateSpec{}
	}
	return rate
}
