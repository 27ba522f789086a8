package work

import (
	"context"
	"database/sql"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"time"

	echomq "github.com/echomq/echomq-go/runtime"

	"example.com/cases/mail"
)

type deaf struct {
	db     *sql.DB
	ready  func() bool
	events chan int
}

func (h deaf) HandleWelcome(ctx context.Context, job *echomq.Job[mail.Welcome]) (mail.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return mail.Receipt{}, err
	}
	for { // want `this loop of HandleWelcome has no end and does not heed the handler's context; .* \(E102\)`
		h.ready()
	}
	for !h.ready() { // want `this loop of HandleWelcome sleeps and`
		time.Sleep(time.Second)
	}
	for { // want `receives from a channel`
		if h.ready() {
			break
		}
		<-time.After(time.Second)
	}
	for event := range h.events { // want `receives from a channel`
		_ = event
	}
	for range 3 { // want `sends to a channel`
		h.events <- 1
	}
	for !h.ready() { // want `receives from a channel`
		select {
		case <-h.events:
		case <-time.After(time.Second):
		}
	}
	for range 3 { // want `calls http.Get`
		http.Get("http://example.com")
	}
	for range 3 { // want `calls sql.DB.Exec`
		h.db.Exec("select 1")
	}
	for range 3 { // want `calls exec.Cmd.Run`
		exec.Command("true").Run()
	}
	for range 3 { // want `begins a context of its own`
		h.db.ExecContext(context.Background(), "select 1")
	}
	other := context.Background()
	for range 3 { // want `sleeps`
		h.db.ExecContext(other, "select 1")
		time.Sleep(time.Second)
	}
	users, err := h.users(ctx)
	for range users { // want `sleeps`
		if err != nil {
			break
		}
		for range 3 {
			time.Sleep(time.Second) // of the loop around, too
		}
	}
	for ctx.Err() == nil {
		for { // want `sleeps`
			time.Sleep(time.Second)
		}
	}
	go func() {
		for { // want `has no end`
			h.ready()
		}
	}()
	return mail.Receipt{}, nil
}

func (h deaf) HandleSummary(_ context.Context, jobs []*echomq.Job[mail.Digest]) error {
	for range jobs { // want `this loop of HandleSummary sleeps`
		time.Sleep(time.Second)
	}
	return nil
}

func (deaf) users(context.Context) ([]string, error) { return nil, nil }

type heedful struct {
	deaf
	ctx    context.Context
	client *http.Client
}

func (h heedful) HandleWelcome(ctx context.Context, job *echomq.Job[mail.Welcome]) (mail.Receipt, error) {
	for ctx.Err() == nil {
		time.Sleep(time.Second)
		for range 3 {
			time.Sleep(time.Millisecond) // short, and the loop around heeds
		}
	}
	for {
		select {
		case <-ctx.Done():
			return mail.Receipt{}, ctx.Err()
		case <-time.After(time.Second):
		}
	}
	for range 3 {
		job.Progress(ctx, 1)
		time.Sleep(time.Second)
	}
	shorter, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for range 3 {
		h.db.ExecContext(shorter, "select 1")
		time.Sleep(time.Second)
	}
	done := ctx.Done()
	stopped := func() bool { return ctx.Err() != nil }
	for {
		select {
		case <-done:
			return mail.Receipt{}, nil
		case <-h.events:
		}
	}
	for !stopped() {
		time.Sleep(time.Second)
	}
	request, _ := http.NewRequestWithContext(ctx, "GET", "http://example.com", nil)
	for range 3 {
		h.client.Do(request)
	}
	for range 3 {
		h.db.ExecContext(h.ctx, "select 1") // who knows where it comes from
		time.Sleep(time.Second)
	}
	rest := "a,b"
	for { // it comes to an end
		_, after, found := strings.Cut(rest, ",")
		if !found {
			break
		}
		rest = after
	}
	var header http.Header
	for _, name := range []string{"A", "B"} {
		header.Get(name)
	}
	return h.gather(ctx)
}

func (h heedful) HandleSummary(ctx context.Context, jobs []*echomq.Job[mail.Digest]) error {
	answers := make(chan int, len(jobs))
	var group sync.WaitGroup
	for range jobs {
		group.Add(1)
		go func() {
			defer group.Done()
			_, err := h.users(ctx)
			answers <- len(h.note(err))
		}()
	}
	for range jobs {
		<-answers // of this function, which heeds
	}
	for _, job := range jobs {
		h.note(nil)
		_ = job
	}
	return nil
}

func (heedful) note(error) string { return "" }

func (heedful) gather(context.Context) (mail.Receipt, error) { return mail.Receipt{}, nil }

// other handles nothing that emqgen knows.
type other struct{}

func (other) HandleWelcome(ctx context.Context, user string) error {
	for {
		time.Sleep(time.Second)
	}
}

func (other) HandleNothing(ctx context.Context, job *echomq.Job[mail.Welcome]) error {
	for {
		time.Sleep(time.Second)
	}
}

func loop() {
	for {
		time.Sleep(time.Second)
	}
}
