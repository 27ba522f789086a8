package main

import (
	"context"
	"errors"
	"testing"

	echomq "github.com/echomq/echomq-go/runtime"

	"example.com/shop/jobs"
)

// brokenMail is a mail service that is down.
type brokenMail struct{}

func (brokenMail) Send(context.Context, string, string, string) (string, error) {
	return "", errors.New("the mail service is down")
}

// A handler needs no store to be tested: a job is a struct.
func TestHandleConfirm(t *testing.T) {
	job := &echomq.Job[jobs.Confirm]{Payload: jobs.Confirm{OrderID: 7, Email: "ada@example.com"}}
	job.ID = "confirm-7"

	confirmation, err := handler{mail: logMail{}}.HandleConfirm(t.Context(), job)
	if err != nil || confirmation.MessageID != "message-confirm-7" {
		t.Errorf("confirmed with %+v, %v", confirmation, err)
	}
	if _, err := (handler{mail: brokenMail{}}).HandleConfirm(t.Context(), job); err == nil {
		t.Error("a confirmation that was not sent is no error")
	}
}
