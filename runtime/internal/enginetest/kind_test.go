package enginetest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/internal/childserver"
)

func TestParseSelection(t *testing.T) {
	t.Parallel()
	for list, want := range map[string][]Kind{
		"":                {Miniredis, Valkey, Redis},
		"embedded":        {Miniredis},
		"miniredis":       {Miniredis},
		"valkey, redis":   {Valkey, Redis},
		"valkey,valkey":   {Valkey},
		"embedded,valkey": {Miniredis, Valkey},
		"cluster":         {ValkeyCluster},
		"dragonfly=redis://localhost:6379/0,redis": {"dragonfly", Redis},
	} {
		choice, err := parseSelection(list)
		require.NoError(t, err, list)
		assert.Equal(t, want, choice.kinds, list)
	}
	for _, list := range []string{"memcached", "valkey,", ",", "dragonfly=localhost:6379", "=redis://localhost"} {
		_, err := parseSelection(list)
		assert.ErrorContains(t, err, "EMQ_ENGINES", list)
	}
}

func TestMissingEngineSaysHowToInstallIt(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, kind := range []Kind{Valkey, Redis} {
		_, err := start(t.Context(), kind)
		require.Error(t, err)
		for _, advice := range []string{string(kind) + "-server", "apt-get install", "make test", "EMQ_ENGINES=embedded"} {
			assert.ErrorContains(t, err, advice)
		}
	}
	_, err := start(t.Context(), Valkey)
	assert.ErrorContains(t, err, "bookworm-backports")
}

func TestOldEngineIsRefused(t *testing.T) {
	t.Parallel()
	assert.NoError(t, checkVersion(Valkey, childserver.Info{Name: "valkey", Version: "8.0.1"}))
	assert.NoError(t, checkVersion(Valkey, childserver.Info{Name: "valkey", Version: "10.1.0"}))
	assert.NoError(t, checkVersion(Redis, childserver.Info{Name: "redis", Version: "7.0.15"}))
	assert.ErrorContains(t, checkVersion(Valkey, childserver.Info{Name: "valkey", Version: "7.2.5"}), "valkey 8 or later")
	assert.ErrorContains(t, checkVersion(Redis, childserver.Info{Name: "redis", Version: "6.0.16"}), "redis 7 or later")
	assert.Error(t, checkVersion(Valkey, childserver.Info{Name: "redis", Version: "8.0.0"}))
	assert.Error(t, checkVersion(Valkey, childserver.Info{Name: "valkey", Version: strings.Repeat("?", 3)}))
}
