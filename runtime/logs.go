package echomq

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// logPage is how many log lines are read at once.
const logPage = 1000

// LogLine is a line that a job logged.
type LogLine struct {
	// Number counts the job's lines, from 1, through all of its attempts. Older
	// lines may be gone; one is missing where its call failed.
	Number int
	// Time is when it was recorded, by the server's clock.
	Time time.Time
	// Text is the line.
	Text string
}

// Progress returns how far the job has come, as it said last, in JSON; nil if it
// has said nothing. It works from any process, while the job runs and for as long
// as it is kept. The error is [ErrJobMissing] if the job does not exist, and
// [ErrJobMismatch] if it is of another type. [ReadProgress] decodes it.
func (h Handle[R]) Progress(ctx context.Context) (json.RawMessage, error) {
	if h.client == nil {
		return nil, optionError("use of the zero Handle")
	}
	found, err := h.client.report(ctx, h.queue, h.job, h.name, script.Report{Items: []script.ReportItem{{ID: h.job}}})
	if err != nil || len(found.Progress) == 0 {
		return nil, err
	}
	return found.Progress, nil
}

// Logs returns the job's log lines after the one with the given number, 0 for
// all that are kept, the oldest first and at most 1,000: the number of the last
// one leads to the next page, which is empty when there are no more. It works from
// any process, while the job runs and for as long as it is kept. The errors are
// those of Progress.
func (h Handle[R]) Logs(ctx context.Context, after int) ([]LogLine, error) {
	if h.client == nil {
		return nil, optionError("use of the zero Handle")
	}
	return h.client.logs(ctx, h.queue, h.job, h.name, after)
}

func (c *Client) logs(ctx context.Context, queue wire.Queue, id wire.JobID, name string, after int) ([]LogLine, error) {
	if after < 0 {
		return nil, optionError("logs after line %d: it must not be negative", after)
	}
	found, err := c.report(ctx, queue, id, name, script.Report{
		Limit: logPage, Items: []script.ReportItem{{ID: id, After: int64(after)}},
	})
	if err != nil {
		return nil, err
	}
	lines := make([]LogLine, 0, len(found.Lines))
	for _, entry := range found.Lines {
		if line, ok := parseLogLine(entry); ok && line.Number > after {
			lines = append(lines, line)
		}
	}
	return lines, nil
}

func parseLogLine(entry string) (LogLine, bool) {
	first, rest, _ := strings.Cut(entry, " ")
	second, text, ok := strings.Cut(rest, " ")
	number, err := strconv.Atoi(first)
	ms, errTime := strconv.ParseInt(second, 10, 64)
	if !ok || err != nil || errTime != nil {
		return LogLine{}, false // not of this protocol
	}
	return LogLine{Number: number, Time: time.UnixMilli(ms), Text: text}, true
}

// report reads what a job has told of itself. A job of another name than a given
// one is [ErrJobMismatch].
func (c *Client) report(ctx context.Context, queue wire.Queue, id wire.JobID, name string, call script.Report) (script.ReportResult, error) {
	var none script.ReportResult
	if err := c.meet(ctx, queue); err != nil {
		return none, err
	}
	op := fmt.Sprintf("read what job %q of queue %q reported", id, queue)
	raw, err := c.call(ctx, op, call.Call(queue))
	if errors.Is(err, ErrOutcomeUnknown) { // of a read, which has none
		return none, unreachable(op, err)
	}
	if err != nil {
		return none, err
	}
	reply, err := script.DecodeReport(raw)
	if err != nil {
		return none, err
	}
	switch found := reply.Results[0]; {
	case !found.Known:
		return none, fmt.Errorf("echomq: %s: %w", op, ErrJobMissing)
	case name != "" && found.Name != name:
		return none, fmt.Errorf("echomq: %s: %w: it is %q, not %q", op, ErrJobMismatch, found.Name, name)
	default:
		return found, nil
	}
}
