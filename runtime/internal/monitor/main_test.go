package monitor_test

import (
	"testing"

	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }
