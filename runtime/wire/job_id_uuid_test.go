package wire_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/wire"
)

func TestUUIDJobID(t *testing.T) {
	for range 100 {
		id := uuid.Must(uuid.NewV7())
		job := wire.UUIDJobID(id)
		require.Equal(t, id.String(), job.String())
		parsed, err := wire.ParseJobID(job.String())
		require.NoError(t, err)
		require.Equal(t, parsed, job)
	}
	require.EqualValues(t, 1, testing.AllocsPerRun(100, func() { _ = wire.UUIDJobID(uuid.Nil).String() }))
}
