package model_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/internal/model"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	sound := func() *model.State {
		s := model.New()
		for _, id := range []string{"w", "p", "d", "a", "r", "c", "q"} {
			s.Jobs[id] = &model.Job{Fields: map[string]string{"name": "mail"}}
		}
		s.Jobs["s"] = &model.Job{Stub: true}
		s.Wait = []string{"w"}
		s.Prioritized["p"], s.Delayed["d"], s.Completed["c"], s.Quarantine["q"] = 1, 1, 1, 1
		s.Active["a"], s.Active["r"] = 1, 1
		s.Locks["a"], s.Reserved["r"] = "w:1", "w:1"
		s.Marker["w"] = 0
		return s
	}
	require.NoError(t, sound().Check())
	for name, spoil := range map[string]func(*model.State){
		"a job stands nowhere":           func(s *model.State) { delete(s.Delayed, "d") },
		"a job stands twice":             func(s *model.State) { s.Failed["c"] = 1 },
		"a stub stands somewhere":        func(s *model.State) { s.Failed["s"] = 1 },
		"an id has no hash":              func(s *model.State) { s.Delayed["x"] = 1 },
		"an active job has no lock":      func(s *model.State) { delete(s.Locks, "a") },
		"a reserved job has a lock":      func(s *model.State) { s.Locks["r"] = "w:1" },
		"a lock has no lease":            func(s *model.State) { s.Locks["w"] = "w:1" },
		"a reservation has no lease":     func(s *model.State) { s.Reserved["w"] = "w:1" },
		"work without a marker":          func(s *model.State) { delete(s.Marker, "w") },
		"a marker without work":          func(s *model.State) { s.Wait, s.Prioritized = nil, model.ZSet{} },
		"a job is missing from its list": func(s *model.State) { s.Wait = nil },
	} {
		s := sound()
		spoil(s)
		require.Error(t, s.Check(), name)
	}
}

func TestStoreText(t *testing.T) {
	t.Parallel()
	store := model.Store{
		"wait": model.List{"b", "a b", ""}, "a": model.Hash{"name": "mail", "lst": `w:1 "x"`}, "s": model.Stub{"name": "x=y"},
		"active": model.ZSet{"a": 1000}, "k": model.Set{"x"}, "a:lock": model.Text("w:1"),
		"events": model.Stream{{Name: "added", ID: "a"}},
	}
	read, err := model.ParseStore(store.String())
	require.NoError(t, err)
	require.True(t, store.Equal(read), model.Diff(store.String(), read.String()))
	require.Contains(t, store.Relative(900), "active zset a=now+100")
	read["active"] = model.ZSet{"a": 1001}
	require.False(t, store.Equal(read))
	require.Equal(t, "- active zset a=1000\n+ active zset a=1001\n", model.Diff(store.String(), read.String()))
	for _, text := range []string{"a", "a strange", `a hash "x`, "a zset b=x"} {
		_, err := model.ParseStore(text)
		require.Error(t, err, text)
	}
}
