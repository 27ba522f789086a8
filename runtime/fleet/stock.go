package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// stockView is what stock BullMQ sees of a queue.
type stockView struct {
	Available bool   `json:"available"`
	Version   string `json:"version"`
	Jobs      int    `json:"jobs"`
	Found     bool   `json:"found"`
}

// lookThroughStock shows that stock BullMQ does not meet this wire: of a queue
// that holds a job it sees none.
func (f *fleet) lookThroughStock(ctx context.Context) Runtime {
	runtime := Runtime{
		Name: "bullmq", What: "stock BullMQ, whose wire 2.0 left", Standing: Cannot,
		Note: "not run: it comes with the Node test peer",
	}
	if f.config.Stock == nil || f.config.Stock.Err != nil {
		return runtime
	}
	self := f.peers[0]
	b := f.bench(ctx, "stock", self, self)
	defer func() { _ = b.clean(f.store) }()
	b.enqueue(self, Request{ID: "unseen", Payload: `1`})
	if b.err != nil {
		runtime.Note = "not run: " + b.err.Error()
		return runtime
	}
	view, err := f.stockView(ctx, b.queue, "unseen")
	switch {
	case err != nil:
		runtime.Note = "not run: " + err.Error()
	case !view.Available:
		runtime.Note = "not run: the package bullmq is not installed"
	case view.Jobs > 0 || view.Found:
		runtime.Version, runtime.Standing = view.Version, Meets
		runtime.Note = fmt.Sprintf("it saw %d job(s) of a queue of this protocol", view.Jobs)
	default:
		runtime.Version, runtime.Note = view.Version, "shown: with its usual settings it sees none of a queue that holds a job"
	}
	return runtime
}

func (f *fleet) stockView(ctx context.Context, queue, id string) (stockView, error) {
	stock := f.config.Stock
	ctx, cancel := context.WithTimeout(ctx, f.config.HelloTimeout)
	defer cancel()
	command := exec.CommandContext(ctx, stock.Args[0], append(stock.Args[1:len(stock.Args):len(stock.Args)], queue, id)...)
	command.Env = append(append(os.Environ(), stock.Env...), "EMQ_ADDRESS="+f.config.Address)
	stderr := &tail{limit: 2 << 10}
	command.Stderr = stderr
	command.WaitDelay = time.Second
	output, err := command.Output()
	if err != nil {
		return stockView{}, fmt.Errorf("%w: %s", err, brief(stderr.String()))
	}
	var view stockView
	if err := json.Unmarshal(output, &view); err != nil {
		return stockView{}, fmt.Errorf("%q: %w", brief(string(output)), err)
	}
	return view, nil
}
