package main

import (
	"bytes"
	"strings"
	"testing"
)

// run executes the command and returns its exit status and what it printed.
func run(t *testing.T, args ...string) (status int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status = execute(t.Context(), args, strings.NewReader(""), &stdout, &stderr)
	return status, stdout.String(), stderr.String()
}
