package echomq_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

// declaring is the job greet as a program declares it whose contract has a hash.
func (f *fixture) declaring(hash string, replaces ...string) echomq.JobType[greeting, string] {
	return f.greet(func(s *echomq.JobSpec) { s.Contract = echomq.ContractSpec{Hash: hash, Replaces: replaces} })
}

// requireConflict holds that an error is the conflict of two contracts.
func requireConflict(t *testing.T, f *fixture, err error, hash, other string) {
	t.Helper()
	require.ErrorIs(t, err, echomq.ErrContract)
	var conflict *echomq.ContractError
	require.ErrorAs(t, err, &conflict)
	require.Equal(t, &echomq.ContractError{
		Queue: f.spec.Name, Job: "greet", Version: 1, Program: conflict.Program, Hash: hash,
		OtherProgram: conflict.Program, OtherHash: other,
		Key: f.queue.Key("meta"), Field: "contract:1:greet",
	}, conflict)
	require.Equal(t, "github.com/echomq/echomq-go/runtime.test", conflict.Program)
}

// TestContracts has programs that declare a job differently.
func TestContracts(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		first, second := f.declaring("1111"), f.declaring("2222")
		handle, err := echomq.Enqueue(f.ctx, f.producer, first, greeting{"Ada"})
		require.NoError(t, err)
		stands := func() string { return f.store.HGet(f.ctx, f.queue.Key("meta"), "contract:1:greet").Val() }
		require.Equal(t, "1111 github.com/echomq/echomq-go/runtime.test", stands())

		_, err = echomq.Enqueue(f.ctx, f.producer, second, greeting{"Ada"}, echomq.ID("second"))
		requireConflict(t, f, err, "2222", "1111")
		_, err = echomq.EnqueueBatch(f.ctx, f.producer, second, make([]echomq.Item[greeting], 3))
		requireConflict(t, f, err, "2222", "1111")
		_, err = echomq.UpsertSchedule(f.ctx, f.producer, second, echomq.ScheduleSpec{Cron: "0 9 * * *"}, greeting{"Ada"})
		requireConflict(t, f, err, "2222", "1111")
		prepared, err := echomq.Prepare(f.producer, second, greeting{"Ada"})
		require.NoError(t, err, "which asks nobody")
		child, err := echomq.Prepare(f.producer, second, greeting{"Ada"})
		require.NoError(t, err)
		_, err = echomq.SendFlow(f.ctx, f.client, second, echomq.NewFlow(prepared, echomq.Child(child)))
		requireConflict(t, f, err, "2222", "1111")
		require.Empty(t, f.hash(t, "second"))

		w, err := echomq.NewWorker(f.client, nil, echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(second, hello)}))
		require.NoError(t, err)
		requireConflict(t, f, w.Run(f.ctx), "2222", "1111")

		// A program that declares it as the first one did, or does not say how.
		f.serve(t, []echomq.Route{echomq.RouteTo(first, hello)})
		require.Equal(t, "hello Ada", await(t, f, handle))
		enqueueAs(t, f, f.declaring(""), greeting{"Grace"})

		// One that broke the contract on purpose; after it the first is refused, once
		// it asks.
		third := f.declaring("3333", "0000", "1111")
		_, err = echomq.Enqueue(f.ctx, f.producer, third, greeting{"Ada"})
		require.NoError(t, err)
		require.Equal(t, "3333 github.com/echomq/echomq-go/runtime.test", stands())
		newcomer := echomq.NewProducer(f.newClient(t, f.programStore(t)), f.spec)
		_, err = echomq.Enqueue(f.ctx, newcomer, first, greeting{"Ada"})
		requireConflict(t, f, err, "1111", "3333")
	})
}

// TestContractsOfVersions holds that each version of a job has a contract of its own,
// and each job.
func TestContractsOfVersions(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		for version, hash := range []string{"", "1111", "2222"} {
			spec := f.jobSpec("greet")
			spec.Version, spec.Contract = version, echomq.ContractSpec{Hash: hash}
			enqueueAs(t, f, echomq.NewJobType[greeting, string](spec), greeting{"Ada"})
		}
		spec := f.jobSpec("2:greet")
		spec.Contract.Hash = "3333"
		enqueueAs(t, f, echomq.NewJobType[greeting, string](spec), greeting{"Ada"})
		meta := f.store.HGetAll(f.ctx, f.queue.Key("meta")).Val()
		for field, hash := range map[string]string{"contract:1:greet": "1111", "contract:2:greet": "2222", "contract:1:2:greet": "3333"} {
			require.Contains(t, meta[field], hash+" ", field)
		}
	})
}

// TestContractsWithLostAnswers holds that a comparison that is cut off is made again,
// and that a program agrees with itself then.
func TestContractsWithLostAnswers(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		enqueueAs(t, f, f.greet(func(s *echomq.JobSpec) { s.Version, s.Contract.Hash = 2, "1111" }), greeting{"Ada"}) // which loads the script
		proxy := enginetest.NewProxy(t, f.engine)
		lossy := *f
		lossy.client = f.newClient(t, proxy.Store(t))
		lossy.producer = echomq.NewProducer(lossy.client, f.spec)
		lost, unanswered := proxy.CutBeforeRequest(first(1, calls("declare"))), proxy.CutBeforeReply(first(2, calls("declare")))
		handle := enqueueAs(t, &lossy, lossy.declaring("2222"), greeting{"Ada"})
		require.Equal(t, []int{1, 2}, []int{lost.Hits(), unanswered.Hits()})
		_, err := echomq.Enqueue(f.ctx, f.producer, f.declaring("3333"), greeting{"Ada"})
		requireConflict(t, f, err, "3333", "2222")
		f.serve(t, []echomq.Route{echomq.RouteTo(f.declaring("2222"), hello)})
		require.Equal(t, "hello Ada", await(t, f, handle))
	})
}

// TestContractOfAPreparedJob holds that a job that was prepared elsewhere is compared
// when it is sent.
func TestContractOfAPreparedJob(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		prepared, err := echomq.Prepare(f.producer, f.declaring("2222", "0000"), greeting{"Ada"})
		require.NoError(t, err)
		kept, err := json.Marshal(prepared)
		require.NoError(t, err)
		var again echomq.Prepared
		require.NoError(t, json.Unmarshal(kept, &again))
		require.Equal(t, prepared, again)

		enqueueAs(t, f, f.declaring("1111"), greeting{"Ada"})
		sent, err := f.client.Send(f.ctx, again)
		requireConflict(t, f, err, "2222", "1111")
		require.ErrorIs(t, sent[0].Err, echomq.ErrContract)
		require.False(t, errors.Is(err, echomq.ErrOutcomeUnknown))
	})
}
