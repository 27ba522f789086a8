package echomq_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

func TestJobOptionsThatMakeNoSense(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		for name, opts := range map[string][]echomq.EnqueueOption{
			"negative priority":    {echomq.Priority(-1)},
			"huge priority":        {echomq.Priority(echomq.MaxPriority + 1)},
			"negative delay":       {echomq.In(-time.Second)},
			"in and at":            {echomq.In(time.Second), echomq.At(time.Now())},
			"in nothing and at":    {echomq.In(0), echomq.At(time.Now())},
			"year 10000":           {echomq.At(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC))},
			"negative timeout":     {echomq.Timeout(-time.Second)},
			"tiny timeout":         {echomq.Timeout(time.Microsecond)},
			"negative attempts":    {echomq.Retry(echomq.RetrySpec{Attempts: -1})},
			"negative stalls":      {echomq.Retry(echomq.RetrySpec{Stalls: -2})},
			"negative base":        {echomq.Retry(echomq.RetrySpec{Base: -1})},
			"negative cap":         {echomq.Retry(echomq.RetrySpec{Cap: -1})},
			"tiny base":            {echomq.Retry(echomq.RetrySpec{Base: time.Microsecond})},
			"tiny cap":             {echomq.Retry(echomq.RetrySpec{Cap: time.Microsecond})},
			"unknown backoff":      {echomq.Retry(echomq.RetrySpec{Backoff: 3})},
			"unknown jitter":       {echomq.Retry(echomq.RetrySpec{Jitter: -1})},
			"keep none and count":  {echomq.Retain(echomq.KeepSpec{Completed: echomq.Keep{None: true, Count: 1}})},
			"keep none and age":    {echomq.Retain(echomq.KeepSpec{Failed: echomq.Keep{None: true, Age: time.Hour}})},
			"keep a negative age":  {echomq.Retain(echomq.KeepSpec{Failed: echomq.Keep{Age: -2}})},
			"keep a tiny age":      {echomq.Retain(echomq.KeepSpec{Completed: echomq.Keep{Age: time.Microsecond}})},
			"keep a negative many": {echomq.Retain(echomq.KeepSpec{Completed: echomq.Keep{Count: -2}})},
		} {
			_, err := echomq.Enqueue(f.ctx, f.producer, f.greet(), greeting{}, opts...)
			require.ErrorIs(t, err, echomq.ErrOption, name)
			_, err = echomq.Prepare(f.producer, f.greet(), greeting{}, opts...)
			require.ErrorIs(t, err, echomq.ErrOption, name)
		}
		require.Empty(t, f.keys(t), "nothing was written")
	})
}

func TestJobSpecThatMakesNoSense(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		for _, change := range []func(*echomq.JobSpec){
			func(s *echomq.JobSpec) { s.Priority = -1 },
			func(s *echomq.JobSpec) { s.Timeout = -time.Hour },
			func(s *echomq.JobSpec) { s.Retry.Attempts = -1 },
		} {
			_, err := echomq.Enqueue(f.ctx, f.producer, f.greet(change), greeting{})
			require.ErrorIs(t, err, echomq.ErrOption)
		}
	})
}

func TestWorkerOptionsThatMakeNoSense(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		routes := []echomq.Route{echomq.RouteTo(f.greet(), hello)}
		for name, opts := range map[string][]echomq.QueueOption{
			"no concurrency":        {echomq.Concurrency(0)},
			"negative concurrency":  {echomq.Concurrency(-1)},
			"no lease":              {echomq.Lease(0)},
			"tiny lease":            {echomq.Lease(time.Millisecond)},
			"huge lease":            {echomq.Lease(25 * time.Hour)},
			"no payload limit":      {echomq.PayloadLimit(0)},
			"negative limit":        {echomq.PayloadLimit(-1)},
			"unknown level":         {echomq.Events(17)},
			"a negative level":      {echomq.Events(-1)},
			"name of no queue":      {echomq.QueueName("")},
			"the name of the store": {echomq.QueueName("emq")},
		} {
			_, err := echomq.NewWorker(f.client, nil, echomq.Serve(f.spec, routes, opts...))
			require.ErrorIs(t, err, echomq.ErrOption, name)
		}
		served := echomq.Serve(f.spec, routes)
		for name, opts := range map[string][]echomq.WorkerOption{
			"negative stop timeout": {echomq.StopTimeout(-1)},
			"no concurrency":        {echomq.Concurrency(0)},
			"tiny lease":            {echomq.Lease(time.Millisecond)},
		} {
			_, err := echomq.NewWorker(f.client, opts, served)
			require.ErrorIs(t, err, echomq.ErrOption, name)
		}
		for name, served := range map[string][]echomq.Served{
			"no queue":       nil,
			"a queue twice":  {served, served},
			"two handlers":   {echomq.Serve(f.spec, append(routes, routes...))},
			"the zero Route": {echomq.Serve(f.spec, []echomq.Route{{}})},
			"a job with no name": {echomq.Serve(f.spec, []echomq.Route{
				echomq.RouteTo(echomq.NewJobType[greeting, string](f.jobSpec("")), hello)})},
		} {
			_, err := echomq.NewWorker(f.client, nil, served...)
			require.ErrorIs(t, err, echomq.ErrOption, name)
		}
	})
}

func TestProducerOptionsThatMakeNoSense(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		for name, opts := range map[string][]echomq.ProducerOption{
			"no payload limit": {echomq.PayloadLimit(0)},
			"negative limit":   {echomq.PayloadLimit(-1)},
			"unknown level":    {echomq.Events(17)},
		} {
			_, err := echomq.Enqueue(f.ctx, echomq.NewProducer(f.client, f.spec, opts...), f.greet(), greeting{})
			require.ErrorIs(t, err, echomq.ErrOption, name)
		}
		require.Empty(t, f.keys(t))
	})
}

func TestQueueOptionWinsOverWorkerOption(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		served := echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(f.greet(), hello)}, echomq.Lease(time.Minute))
		_, err := echomq.NewWorker(f.client, []echomq.WorkerOption{echomq.Lease(1)}, served)
		require.NoError(t, err)
	})
}

func TestJobTypeTellsItsContract(t *testing.T) {
	t.Parallel()
	job := echomq.NewJobType[greeting, string](echomq.JobSpec{Queue: "mail", Name: "greet", Version: 3})
	require.Equal(t, "greet", job.Name())
	require.Equal(t, "mail", job.Queue())
	require.Equal(t, 3, job.Version())
	require.Equal(t, 1, echomq.NewJobType[greeting, string](echomq.JobSpec{}).Version())
}
