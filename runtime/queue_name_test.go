package echomq_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

func TestHostileQueueNames(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		for _, name := range []string{
			"", "emq", "{mail}", "a:b", "a b", "-a", "_a", "a\n", "é", "a*", "../a", strings.Repeat("a", 129),
		} {
			spec := echomq.QueueSpec{Name: name}
			job := echomq.NewJobType[greeting, string](echomq.JobSpec{Queue: name, Name: "greet"})
			_, err := echomq.Enqueue(f.ctx, echomq.NewProducer(f.client, spec), job, greeting{})
			require.ErrorIs(t, err, echomq.ErrName, "queue %q", name)
			_, err = echomq.NewWorker(f.client, nil, echomq.Serve(spec, []echomq.Route{echomq.RouteTo(job, hello)}))
			require.ErrorIs(t, err, echomq.ErrName, "queue %q", name)
			_, err = job.Handle(f.client, "a")
			require.ErrorIs(t, err, echomq.ErrName, "queue %q", name)
			_, err = echomq.Enqueue(f.ctx, echomq.NewProducer(f.client, f.spec, echomq.QueueName(name)), f.greet(), greeting{})
			require.ErrorIs(t, err, echomq.ErrName, "queue %q", name)
		}
	})
}

func TestQueueNameRunsTheContractUnderAnotherName(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		contract := echomq.QueueSpec{Name: "mail"}
		job := echomq.NewJobType[greeting, string](echomq.JobSpec{Queue: "mail", Name: "greet"})
		name := echomq.QueueName(f.spec.Name)
		served := echomq.Serve(contract, []echomq.Route{echomq.RouteTo(job, hello)}, name)
		f.run(t, nil, served)
		sent, err := echomq.Enqueue(f.ctx, echomq.NewProducer(f.client, contract, name), job, greeting{"Ada"})
		require.NoError(t, err)
		require.Equal(t, f.spec.Name, sent.Queue())
		found, err := job.Handle(f.client, sent.ID, name)
		require.NoError(t, err)
		require.Equal(t, "hello Ada", await(t, f, found))
	})
}

func TestNameQueuesMapsAllNamesOfAClient(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		client := f.newClient(t, f.store, echomq.NameQueues(func(name string) string { return f.spec.Name + "." + name }))
		contract := echomq.QueueSpec{Name: "mail"}
		job := echomq.NewJobType[greeting, string](echomq.JobSpec{Queue: "mail", Name: "greet"})
		sent, err := echomq.Enqueue(f.ctx, echomq.NewProducer(client, contract), job, greeting{"Ada"})
		require.NoError(t, err)
		require.Equal(t, f.spec.Name+".mail", sent.Queue())
		f.client = client
		f.run(t, nil, echomq.Serve(contract, []echomq.Route{echomq.RouteTo(job, hello)}))
		found, err := job.Handle(client, sent.ID)
		require.NoError(t, err)
		require.Equal(t, "hello Ada", await(t, f, found))
	})
}

func TestNameQueuesThatMapsToNonsense(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		client := f.newClient(t, f.store, echomq.NameQueues(func(string) string { return "{}" }))
		_, err := echomq.Enqueue(f.ctx, echomq.NewProducer(client, f.spec), f.greet(), greeting{})
		require.ErrorIs(t, err, echomq.ErrName)
		_, err = echomq.NewWorker(client, nil, echomq.Serve(f.spec, nil))
		require.ErrorIs(t, err, echomq.ErrName)
	})
}
