// Package jobs declares the jobs of the quick start.
//
//emq:queue name=quickstart concurrency=4
package jobs

//go:generate go run github.com/echomq/echomq-go/cmd/emqgen .

// Welcome greets a person and answers with a receipt.
//
//emq:job timeout=30s
//emq:result Receipt
//emq:keep completed=1h,100
type Welcome struct {
	Person string `json:"person"`
}

// Receipt says which message was sent.
type Receipt struct {
	MessageID string `json:"messageId"`
}

// Charge fails twice before it succeeds.
//
//emq:job
//emq:retry attempts=5 backoff=fixed base=200ms jitter=none
type Charge struct {
	Cents int64 `json:"cents"`
}

// Remind waits for a second and a half before it may run.
//
//emq:job delay=1500ms
type Remind struct {
	About string `json:"about"`
}
