package main

import (
	"context"
	"fmt"
	"log"

	echomq "github.com/echomq/echomq-go/runtime"

	"example.com/shop/jobs"
)

// mail sends messages to customers.
type mail interface {
	// Send sends a text, and returns the id of the message. The same key twice is
	// one message: a job may run again after a crash.
	Send(ctx context.Context, key, address, text string) (id string, err error)
}

// handler handles the jobs of the shop. Without one of its methods the call of
// NewOrdersWorker does not compile.
type handler struct{ mail mail }

// HandleConfirm returns an error when the mail cannot be sent; the job is then
// tried again, as its directive says.
func (h handler) HandleConfirm(ctx context.Context, job *echomq.Job[jobs.Confirm]) (jobs.Confirmation, error) {
	order := job.Payload
	text := fmt.Sprintf("We have your order %d of %d articles.", order.OrderID, len(order.Items))
	id, err := h.mail.Send(ctx, job.ID, order.Email, text)
	if err != nil {
		return jobs.Confirmation{}, fmt.Errorf("send the confirmation of order %d: %w", order.OrderID, err)
	}
	return jobs.Confirmation{MessageID: id}, nil
}

func (h handler) HandleAskForReview(ctx context.Context, job *echomq.Job[jobs.AskForReview]) error {
	_, err := h.mail.Send(ctx, job.ID, job.Payload.Email, "How do you like what you bought?")
	return err
}

// logMail stands where a mail service would.
type logMail struct{}

func (logMail) Send(_ context.Context, key, _, text string) (string, error) {
	log.Printf("mail %s: %s", key, text)
	return "message-" + key, nil
}
