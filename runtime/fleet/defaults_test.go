package fleet_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/fleet"
)

func TestRepository(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs(repository)
	require.NoError(t, err)
	here, err := os.Getwd()
	require.NoError(t, err)
	require.Equal(t, root, fleet.Repository(here))
	require.Empty(t, fleet.Repository(t.TempDir()))
}

func TestTestPeersWithoutTheirLanguages(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	peers, stock := fleet.TestPeers(t.Context(), repository)
	require.Len(t, peers, 2)
	require.ErrorContains(t, peers[0].Err, "install Node.js 20")
	require.ErrorContains(t, peers[1].Err, "apt-get install elixir")
	require.Error(t, stock.Err)
}
