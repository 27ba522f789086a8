package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/script"
)

// process lets a worker run one job: it is started, and stopped as soon as the
// job is settled. What it took beyond that it gives back, as any worker that
// stops does.
func (p *goPeer) process(ctx context.Context, request Request) (Answer, error) {
	run := &oneJob{request: request}
	p.tap.begin(request.Lose)
	worker, err := echomq.NewWorker(p.client,
		[]echomq.WorkerOption{echomq.Concurrency(1), echomq.WorkerName(workerName())},
		echomq.Serve(echomq.QueueSpec{Name: request.Queue}, []echomq.Route{echomq.RouteTo(jobType(request), run.handle)}))
	if err != nil {
		return Answer{}, err
	}
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(ctx) }()

	settled, err := p.await(ctx, request, ended)
	hurry, cancel := context.WithCancel(ctx)
	cancel()
	_ = worker.Stop(hurry)
	if err != nil {
		return Answer{}, err
	}
	if settled == nil {
		// It may have been settled while the worker stopped.
		settled = p.tap.lastSettle()
	}
	if settled == nil {
		return Answer{Lost: p.tap.lostAnswers()}, nil
	}
	job, err := run.taken()
	return Answer{
		Job: job, Outcome: settled.Outcome, Verdict: string(settled.Verdict), Lost: p.tap.lostAnswers(),
	}, err
}

// await waits until a job was settled, or none is there.
func (p *goPeer) await(ctx context.Context, request Request, ended <-chan error) (*script.SettleResult, error) {
	var idle <-chan struct{}
	var patience <-chan time.Time
	if request.Wait == 0 {
		idle = p.tap.idle
	} else {
		timer := time.NewTimer(milliseconds(request.Wait))
		defer timer.Stop()
		patience = timer.C
	}
	select {
	case <-p.tap.settled:
		return p.tap.lastSettle(), nil
	case <-idle:
		return nil, nil
	case <-patience:
		return nil, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case err := <-ended:
		if err == nil {
			err = errors.New("it stopped by itself")
		}
		return nil, fmt.Errorf("worker: %w", err)
	}
}

// oneJob handles the first job in the way that was asked for.
type oneJob struct {
	request Request
	first   *echomq.Envelope // set by the worker's only slot; read when it has stopped
}

func (o *oneJob) handle(ctx context.Context, job *echomq.Job[json.RawMessage]) (json.RawMessage, error) {
	if o.first != nil {
		// One more was taken before the worker was stopped: it goes back.
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	o.first = &job.Envelope
	switch o.request.Behaviour {
	case behaveEcho:
		return job.Payload, nil
	case behaveReturn:
		return json.RawMessage(o.request.Result), nil
	case behaveFail:
		return nil, errors.New(o.request.Reason)
	}
	return nil, echomq.Fail(fmt.Errorf("no such behaviour: %q", o.request.Behaviour))
}

// taken returns the job under its long names: those of the envelope's JSON, with
// bytes as strings.
func (o *oneJob) taken() (Job, error) {
	if o.first == nil {
		return nil, errors.New("a job was settled that no handler was given")
	}
	encoded, err := json.Marshal(o.first)
	if err != nil {
		return nil, err
	}
	var job Job
	if err := json.Unmarshal(encoded, &job); err != nil {
		return nil, err
	}
	job["data"], err = json.Marshal(string(o.first.Data))
	delete(job, "returnvalue")
	return job, err
}
