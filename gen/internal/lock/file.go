package lock

import (
	"cmp"
	"slices"
	"strings"

	"github.com/echomq/echomq-go/gen/ir"
)

// File is the content of a lock.
type File struct {
	// Jobs are sorted by queue, name and version.
	Jobs []Job
	// Ended are the jobs that are no longer declared, sorted by queue and name.
	Ended []Ended
}

// ID names a job: a queue and a wire name.
type ID struct{ Queue, Name string }

func (id ID) String() string { return id.Queue + "/" + id.Name }

func (id ID) compare(other ID) int {
	return cmp.Or(strings.Compare(id.Queue, other.Queue), strings.Compare(id.Name, other.Name))
}

// Job is one version of a job.
type Job struct {
	ID
	Version int
	// Was are the names under which the job may also be enqueued.
	Was []ID
	// Accepted are the breaks of this version's contract that were deliberate.
	Accepted []Accepted
	Contract ir.Contract
	// Line is where the block begins.
	Line int
}

// Accepted is a break of a contract that somebody wanted.
type Accepted struct {
	// From is the [Hash] of the contract that was broken.
	From   string
	Reason string
}

// replaced returns the hashes of contracts of the version that were broken on
// purpose, other than the one that holds.
func (j *Job) replaced(now string) []string {
	var found []string
	for _, accepted := range j.Accepted {
		if !strings.Contains(accepted.From, ":") && accepted.From != now && !slices.Contains(found, accepted.From) {
			found = append(found, accepted.From)
		}
	}
	return found
}

// Ended is a job that is no longer declared.
type Ended struct {
	ID
	// To says what becomes of jobs that are still enqueued; it is empty where
	// nobody serves them.
	To string
	// Accepted says why nobody serves them.
	Accepted []Accepted
	Line     int
}

// IsEmpty reports whether the lock remembers nothing.
func (f *File) IsEmpty() bool { return len(f.Jobs)+len(f.Ended) == 0 }

// sort brings everything into its order.
func (f *File) sort() {
	slices.SortStableFunc(f.Jobs, func(a, b Job) int {
		return cmp.Or(a.compare(b.ID), cmp.Compare(a.Version, b.Version))
	})
	slices.SortStableFunc(f.Ended, func(a, b Ended) int { return a.compare(b.ID) })
}

// Versions returns the blocks of a job, the oldest first.
func (f *File) Versions(id ID) []Job {
	var found []Job
	for _, job := range f.Jobs {
		if job.ID == id {
			found = append(found, job)
		}
	}
	return found
}

// ended returns what is known about a job that is no longer declared, or nil.
func (f *File) ended(id ID) *Ended {
	for i := range f.Ended {
		if f.Ended[i].ID == id {
			return &f.Ended[i]
		}
	}
	return nil
}

// knows reports whether a job of the name was ever in the lock. A nil File knows
// none.
func (f *File) knows(id ID) bool {
	return f != nil && (f.ended(id) != nil ||
		slices.ContainsFunc(f.Jobs, func(job Job) bool { return job.ID == id || slices.Contains(job.Was, id) }))
}

// IDs returns the jobs that have blocks, sorted.
func (f *File) IDs() []ID {
	var ids []ID
	for _, job := range f.Jobs {
		ids = append(ids, job.ID)
	}
	slices.SortFunc(ids, ID.compare)
	return slices.Compact(ids)
}
