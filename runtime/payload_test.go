package echomq_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

var errInvalid = errors.New("it must have a name")

// byValue and byPointer validate themselves.
type (
	byValue   struct{ Name string }
	byPointer struct{ Name string }
	panicking struct{}
)

func (v byValue) Validate() error {
	if v.Name == "" {
		return errInvalid
	}
	return nil
}

func (v *byPointer) Validate() error { return byValue(*v).Validate() }
func (panicking) Validate() error    { panic("hostile") }

// refuse requires that a payload cannot be sent.
func refuse[T any](t *testing.T, f *fixture, payload T) error {
	t.Helper()
	job := echomq.NewJobType[T, string](f.jobSpec("greet"))
	_, err := echomq.Enqueue(f.ctx, f.producer, job, payload)
	require.ErrorIs(t, err, echomq.ErrPayload)
	_, batchErr := echomq.EnqueueBatch(f.ctx, f.producer, job, echomq.Items(payload))
	require.ErrorIs(t, batchErr, echomq.ErrPayload)
	var bad *echomq.BatchError
	require.ErrorAs(t, batchErr, &bad)
	require.Empty(t, f.keys(t), "nothing was written")
	return err
}

func TestPayloadThatDoesNotValidate(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		require.ErrorIs(t, refuse(t, f, byValue{}), errInvalid)
		require.ErrorIs(t, refuse(t, f, &byValue{}), errInvalid)
		require.ErrorIs(t, refuse(t, f, byPointer{}), errInvalid)
		require.ErrorIs(t, refuse(t, f, &byPointer{}), errInvalid)
		require.ErrorIs(t, refuse[any](t, f, byValue{}), errInvalid)
		require.ErrorIs(t, refuse[echomq.Validator](t, f, &byPointer{}), errInvalid)
		require.ErrorContains(t, refuse(t, f, panicking{}), "hostile")
		require.ErrorContains(t, refuse(t, f, (*byValue)(nil)), "panicked")
		job := echomq.NewJobType[byPointer, string](f.jobSpec("greet"))
		_, err := echomq.Enqueue(f.ctx, f.producer, job, byPointer{"Ada"})
		require.NoError(t, err)
	})
}

func TestPayloadThatCannotBeEncoded(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		refuse(t, f, make(chan int))
		refuse(t, f, math.NaN())
		refuse[any](t, f, func() {})
		require.ErrorContains(t, refuse(t, f, hostile{}), "hostile")
		type loop struct{ Next *loop }
		endless := &loop{}
		endless.Next = endless
		refuse(t, f, endless)
	})
}

func TestPayloadOverTheLimit(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		require.ErrorContains(t, refuse(t, f, strings.Repeat("x", echomq.DefaultPayloadLimit)), "limit")
		f.producer = echomq.NewProducer(f.client, f.spec, echomq.PayloadLimit(10))
		refuse(t, f, strings.Repeat("x", 9))
		job := echomq.NewJobType[string, string](f.jobSpec("greet"))
		_, err := echomq.Enqueue(f.ctx, f.producer, job, strings.Repeat("x", 8))
		require.NoError(t, err, "two quotes and eight letters are ten bytes")
	})
}

func TestResultThatCannotBeEncoded(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		numbers := echomq.NewJobType[int, float64](f.jobSpec("number"))
		panics := echomq.NewJobType[int, hostile](f.jobSpec("panics"))
		runs := make(chan int, 10)
		f.serve(t, []echomq.Route{
			echomq.RouteTo(numbers, func(_ context.Context, job *echomq.Job[int]) (float64, error) {
				runs <- job.Payload
				return math.NaN(), nil
			}),
			echomq.RouteTo(panics, func(_ context.Context, job *echomq.Job[int]) (hostile, error) {
				runs <- job.Payload
				return hostile{}, nil
			}),
		})
		number, err := echomq.Enqueue(f.ctx, f.producer, numbers, 1)
		require.NoError(t, err)
		failure := awaitFailure(t, f, number)
		require.Contains(t, failure.Reason, "result cannot be encoded")
		require.Equal(t, 1, failure.Attempts, "its effect has happened")
		panicked, err := echomq.Enqueue(f.ctx, f.producer, panics, 2)
		require.NoError(t, err)
		require.Contains(t, awaitFailure(t, f, panicked).Reason, "hostile")
		require.Len(t, runs, 2)
	})
}
