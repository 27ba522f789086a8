package echomq

import "github.com/echomq/echomq-go/runtime/wire"

// JobOutcome is what became of one job of several.
type JobOutcome struct {
	ID string
	// Err says why nothing was done about the job; nil if it was done.
	Err error
}

// outcomesOf returns an outcome for each id: [ErrName] for one that no job can
// have, and [ErrNotSent] until something is known of the others, which are
// returned with their places.
func outcomesOf(ids []string) (outcomes []JobOutcome, jobs []placed) {
	outcomes = make([]JobOutcome, len(ids))
	for i, id := range ids {
		outcomes[i] = JobOutcome{ID: id, Err: ErrNotSent}
		job, err := wire.ParseStoredJobID(id)
		if err != nil {
			outcomes[i].Err = err
			continue
		}
		jobs = append(jobs, placed{i, job})
	}
	return outcomes, jobs
}

// placed is a job with its place among the outcomes.
type placed struct {
	at int
	id wire.JobID
}
