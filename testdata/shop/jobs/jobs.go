// Package jobs declares what the services of the shop ask each other to do: the
// one place that both of them import. After a change here, run
//
//	go generate ./jobs
//
// and commit emq_gen.go and emq.lock with it. In CI, "go tool emqgen -check ./..."
// finds what was forgotten.
//
//emq:queue name=orders concurrency=8
package jobs

//go:generate go tool emqgen .

// Confirm sends the confirmation of an order. However often the customer presses
// the button, and the web service enqueues it, an order is confirmed once.
//
//emq:job timeout=30s
//emq:retry attempts=5 backoff=exponential base=1s cap=1m
//emq:unique by=OrderID until=removed
//emq:result Confirmation
//emq:keep completed=24h,10000
type Confirm struct {
	OrderID int64  `json:"orderId"`
	Email   string `json:"email" emq:"redact"` // shown in no log and on no page
	Items   []Item `json:"items,omitempty"`
}

// Item is one line of an order.
type Item struct {
	Article string `json:"article"`
	Count   int    `json:"count"`
}

// Confirmation is what comes of Confirm.
type Confirmation struct {
	MessageID string `json:"messageId"`
}

// AskForReview asks the customer two weeks later what the articles are like.
// Everything else comes first, and nobody is asked twice.
//
//emq:job delay=14d priority=10
//emq:unique by=OrderID until=removed
type AskForReview struct {
	OrderID int64  `json:"orderId"`
	Email   string `json:"email" emq:"redact"`
}
