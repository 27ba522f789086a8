package echomq_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

func TestOperatorSeesGroups(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		queue := f.admin(t)
		names := slices.Concat(namesOf("a", 7), namesOf("b", 3), namesOf("c", 1))
		handles := f.enqueueGrouped(t, names...)
		alone := f.enqueueGrouped(t, "alone 1", "alone 2")
		f.enqueue(t, "ranked", echomq.Priority(1))
		counts := f.counts(t)
		require.Equal(t, echomq.Counts{Waiting: 13, Grouped: 11, Groups: 3, Prioritized: 1}, counts)
		require.EqualValues(t, 13, counts.In(echomq.StateWaiting))
		want := []string{alone[0].ID, alone[1].ID}
		for _, handle := range handles {
			want = append(want, handle.ID)
		}
		for _, size := range []int{1, 2, 3, 5, 13, 100} {
			require.Equal(t, want, f.ids(t, echomq.StateWaiting, echomq.PageSize(size)), "in pages of %d", size)
		}
		info, err := queue.Get(f.ctx, handles[0].ID)
		require.NoError(t, err)
		require.Equal(t, echomq.StateWaiting, info.State)
		require.Equal(t, "a", info.Group)
		require.Equal(t, echomq.StateWaiting, state(t, f, handles[0]))

		outcomes, err := queue.Remove(f.ctx, handles[10].ID, handles[0].ID, handles[0].ID)
		require.NoError(t, err)
		require.NoError(t, outcomes[0].Err)
		require.NoError(t, outcomes[1].Err)
		require.ErrorIs(t, outcomes[2].Err, echomq.ErrJobMissing)
		counts = f.counts(t)
		require.EqualValues(t, 9, counts.Grouped)
		require.EqualValues(t, 2, counts.Groups, "a group without work is gone")

		require.NoError(t, handles[1].Cancel(f.ctx, "not wanted"))
		f.work(t, func(context.Context, *echomq.Job[greeting]) (string, error) { return "", echomq.Fail(errFlaky) }, echomq.GroupLimit(1))
		eventually(t, func() bool { return f.counts(t).Failed == 12 }, "all have failed")
		f.requireNoGroups(t)
	})
}

func TestRetriedJobGoesToItsGroup(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		handles := f.enqueueGrouped(t, "a/0", "b/0")
		w := f.work(t, func(context.Context, *echomq.Job[greeting]) (string, error) { return "", echomq.Fail(errFlaky) })
		for _, handle := range handles {
			awaitFailure(t, f, handle)
		}
		w.halt(t)
		for _, handle := range handles {
			require.NoError(t, handle.Retry(f.ctx))
		}
		f.enqueueGrouped(t, "a/1")
		require.EqualValues(t, 3, f.counts(t).Grouped)
		require.Equal(t, []string{"a/0", "b/0", "a/1"}, f.order(t, 3))
		f.requireNoGroups(t)
	})
}

func TestGroupsAreDrainedAndObliterated(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		queue := f.admin(t)
		fill := func() {
			var names []string
			for n := range 600 {
				names = append(names, fmt.Sprintf("g%d/%d", n%7, n))
			}
			f.enqueueGrouped(t, names...)
		}
		fill()
		removed, err := queue.Drain(f.ctx)
		require.NoError(t, err)
		require.EqualValues(t, 600, removed)
		f.requireNoGroups(t)

		fill()
		gate := make(chan struct{})
		w, running := f.gated(t, gate, echomq.Concurrency(4), echomq.GroupLimit(1))
		for range 4 {
			receive(t, running, "a job")
		}
		removed, err = queue.Obliterate(f.ctx, echomq.Force())
		require.NoError(t, err)
		require.EqualValues(t, 600, removed)
		f.requireNoGroups(t)
		close(gate)
		w.halt(t)
		require.Empty(t, slices.DeleteFunc(f.keys(t), func(key string) bool { return strings.HasSuffix(key, ":events") }))
	})
}
