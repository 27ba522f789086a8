package childserver

import (
	"strings"
	"sync"
)

// tail is a writer that keeps the last bytes written to it.
type tail struct {
	limit int

	mu    sync.Mutex
	bytes []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bytes = append(t.bytes, p...)
	if excess := len(t.bytes) - t.limit; excess > 0 {
		t.bytes = append(t.bytes[:0], t.bytes[excess:]...)
	}
	return len(p), nil
}

// String returns what was kept, without white space around it.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.bytes))
}
