package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/echomq/echomq-go/lua"
	"github.com/echomq/echomq-go/runtime/wire"
)

// roundTrip are the scripts without which there is no round trip of a job.
var roundTrip = []string{"add", "pick", "settle"}

// Observe watches a queue that is in use for the given time, or until ctx ends,
// and judges every transition of it, whoever made it. It writes nothing. Point 5
// is judged by what meta.version is before and after.
//
// Traffic in which no job was added, picked and settled shows no round trip, so
// the verdict is then Unknown, unless a point was broken.
func Observe(ctx context.Context, target Target, length time.Duration) *Report {
	o := &observation{target: target, judge: newJudge(target.Queue), report: newReport(target)}
	o.report.Observed = true
	o.report.settle(o.judge, o.run(ctx, length))
	return o.report
}

type observation struct {
	target Target
	judge  *judge
	report *Report
}

func (o *observation) run(ctx context.Context, length time.Duration) error {
	c, err := connect(ctx, o.target.Options)
	if err != nil {
		return err
	}
	defer c.admin.Close()
	if o.report.Engine == "" {
		o.report.Engine = c.engine
	}
	captures, err := watchNodes(ctx, c, o.report, sorter{
		tag: "{" + o.target.Queue.Name() + "}", names: o.target.Bundle.names, tool: c.tool, own: c.own,
	}, o.target.Queue.Key("meta"))
	defer closeAll(captures)
	if err != nil {
		return err
	}
	if err := o.readVersion(ctx, c.admin); err != nil {
		return err
	}
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-captures[0].ended:
	}
	looking, cancel := afterEnd(ctx)
	defer cancel()
	step, err := takeAll(looking, captures)
	step.Name, step.Doc = "observed", "what clients of the queue did"
	for i := range step.Transitions {
		o.judge.transition(&step.Transitions[i])
	}
	o.report.Steps = append(o.report.Steps, step)
	o.report.Ignored = captures[0].ignoredSoFar()
	return errors.Join(err, o.readVersion(ctx, c.admin), shownRoundTrip(step))
}

// afterEnd returns a context for what is still to be read when the time is over.
func afterEnd(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), cleanTimeout)
}

func (o *observation) readVersion(ctx context.Context, admin redis.UniversalClient) error {
	ctx, cancel := afterEnd(ctx)
	defer cancel()
	version, err := admin.HGet(ctx, o.target.Queue.Key("meta"), wire.FieldVersion).Result()
	switch {
	case errors.Is(err, redis.Nil):
		return nil // no job was added yet
	case err != nil:
		return fmt.Errorf("read meta.version: %w", err)
	}
	o.judge.meta(version, nil, nil)
	return nil
}

// baseOf returns the name of the script from which the one called name is derived,
// or its own.
func baseOf(name string) string {
	script, ok := lua.Lookup(name)
	if !ok {
		return name
	}
	return script.Base()
}

// shownRoundTrip returns an error if a part of a round trip was not seen.
func shownRoundTrip(step Step) error {
	missing := slices.DeleteFunc(slices.Clone(roundTrip), func(name string) bool {
		return slices.ContainsFunc(step.Transitions, func(t Transition) bool { return baseOf(t.Script) == name })
	})
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("no round trip was seen: %d transitions, and no %s among them; watch longer, or while there is work",
		len(step.Transitions), strings.Join(missing, ", no "))
}
