package fleet_test

import (
	"os"
	"testing"

	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

// TestMain runs the tests, or, where a test has started this program again as a
// peer, the peer.
func TestMain(m *testing.M) {
	if fault := os.Getenv(faultVariable); fault != "" {
		os.Exit(servePeer(fault, os.Stdin, os.Stdout))
	}
	enginetest.Main(m)
}
