package lint

import (
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

// TestAllowedCommandsAreEmbedded holds that the embedded server knows every
// command that a script may use.
func TestAllowedCommandsAreEmbedded(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { client.Close() })
	for name, c := range commands {
		if !c.allowed {
			continue
		}
		if err := client.Do(t.Context(), name).Err(); err != nil && strings.Contains(err.Error(), "unknown command") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
