package echomq_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	echomq "github.com/echomq/echomq-go/runtime"
)

// The contracts of this example: a report whose pages are made by other workers,
// in a queue of their own.
type Page struct {
	Number int `json:"number"`
}

type Report struct {
	Title string `json:"title"`
}

func PagesSpec() echomq.QueueSpec   { return echomq.QueueSpec{Name: "pages"} }
func ReportsSpec() echomq.QueueSpec { return echomq.QueueSpec{Name: "reports"} }

func PageJob() echomq.JobType[Page, string] {
	return echomq.NewJobType[Page, string](echomq.JobSpec{Queue: "pages", Name: "Page"})
}

func ReportJob() echomq.JobType[Report, string] {
	return echomq.NewJobType[Report, string](echomq.JobSpec{Queue: "reports", Name: "Report"})
}

// A report runs when its pages have been made, and has their results. It can do
// without the last one.
func ExampleSendFlow() {
	ctx := context.Background()
	client, end := connect(ctx)
	defer end()

	makePage := func(_ context.Context, job *echomq.Job[Page]) (string, error) {
		if job.Payload.Number == 3 {
			return "", echomq.Fail(errors.New("no ink"))
		}
		return fmt.Sprintf("page %d", job.Payload.Number), nil
	}
	bind := func(ctx context.Context, job *echomq.Job[Report]) (string, error) {
		pages, err := echomq.ChildResults(ctx, job, PageJob())
		if err != nil {
			return "", err
		}
		text := job.Payload.Title + ":"
		for _, page := range pages {
			if errors.Is(page.Err, echomq.ErrChildFailed) {
				text += " (missing)"
				continue
			}
			text += " " + page.Result
		}
		return text, nil
	}
	worker, err := echomq.NewWorker(client, nil,
		echomq.Serve(PagesSpec(), []echomq.Route{echomq.RouteTo(PageJob(), makePage)}),
		echomq.Serve(ReportsSpec(), []echomq.Route{echomq.RouteTo(ReportJob(), bind)}))
	if err != nil {
		log.Fatal(err)
	}
	done := make(chan error, 1)
	running, stop := context.WithCancel(ctx)
	go func() { done <- worker.Run(running) }()

	pages := echomq.NewProducer(client, PagesSpec())
	page := func(number int, opts ...echomq.ChildOption) echomq.FlowChild {
		prepared, err := echomq.Prepare(pages, PageJob(), Page{Number: number})
		if err != nil {
			log.Fatal(err)
		}
		return echomq.Child(prepared, opts...)
	}
	report, err := echomq.Prepare(echomq.NewProducer(client, ReportsSpec()), ReportJob(), Report{Title: "Travels"})
	if err != nil {
		log.Fatal(err)
	}
	flow := echomq.NewFlow(report, page(1), page(2), page(3, echomq.OnFailure(echomq.IgnoreFailure)))
	handle, err := echomq.SendFlow(ctx, client, ReportJob(), flow)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(handle.Await(ctx))
	stop()
	if err := <-done; err != nil {
		log.Fatal(err)
	}
	// Output: Travels: page 1 page 2 (missing) <nil>
}
