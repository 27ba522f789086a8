package fleet

// Report is what came of a run.
type Report struct {
	// Protocol is the version of EchoMQ's protocol that was spoken.
	Protocol string `json:"protocol"`
	// Engine is the store, as it describes itself.
	Engine string `json:"engine"`
	// Runtimes are all that the report speaks of, those that did not take part
	// included.
	Runtimes []Runtime `json:"runtimes"`
	// Checks are what each pair is put through.
	Checks []Check `json:"checks"`
	// Pairs are the ordered pairs of those that were to take part.
	Pairs []Pair `json:"pairs"`
	// Verdict sums up.
	Verdict Verdict `json:"verdict"`
}

// Verdict sums up a run.
type Verdict string

// The verdicts.
const (
	// Passed: all that was asked for passed.
	Passed Verdict = "passed"
	// Failed: a check of a pair failed, or a foreign wire met this one.
	Failed Verdict = "failed"
	// Incomplete: nothing failed, and something could not run.
	Incomplete Verdict = "could not run"
)

// Standing says what part a runtime has in a run.
type Standing string

// The standings.
const (
	TookPart     Standing = "took part"
	CouldNotRun  Standing = "could not run"
	NotAvailable Standing = "not available here, not run"
	DoesNotExist Standing = "proposed, does not exist"
	Cannot       Standing = "cannot, by design"
	Meets        Standing = "meets this wire, and must not"
)

// Runtime is one runtime of the report.
type Runtime struct {
	// Name is how the pairs call it.
	Name string `json:"name"`
	// What says what it is: this runtime, a test peer, …
	What string `json:"what"`
	// Version is its platform with that one's version, or the package's.
	Version  string   `json:"version,omitempty"`
	Standing Standing `json:"standing"`
	// Note says more: why it could not run, or what was shown.
	Note string `json:"note,omitempty"`
}

// Check is one thing that each pair is put through.
type Check struct {
	Name  string `json:"name"`
	Title string `json:"title"`
}

// Status says what came of a check.
type Status string

// The statuses.
const (
	CheckPassed Status = "passed"
	CheckFailed Status = "failed"
	CheckNotRun Status = "not run"
)

// Pair is one ordered pair of runtimes.
type Pair struct {
	// From enqueues, and reads the result back.
	From string `json:"from"`
	// To fetches and completes.
	To      string   `json:"to"`
	Results []Result `json:"results"`
}

// Count returns how many checks of the pair have the status.
func (p Pair) Count(status Status) int {
	count := 0
	for _, result := range p.Results {
		if result.Status == status {
			count++
		}
	}
	return count
}

// Result is what came of one check of one pair.
type Result struct {
	Check  string `json:"check"`
	Status Status `json:"status"`
	// Expected and Found tell of a check that failed.
	Expected string `json:"expected,omitempty"`
	Found    string `json:"found,omitempty"`
	// Note tells why a check did not run.
	Note string `json:"note,omitempty"`
}

// judge sums a report up.
func (r *Report) judge() {
	r.Verdict = Passed
	for _, runtime := range r.Runtimes {
		switch runtime.Standing {
		case Meets:
			r.Verdict = Failed
			return
		case CouldNotRun:
			r.Verdict = Incomplete
		}
	}
	for _, pair := range r.Pairs {
		if pair.Count(CheckFailed) > 0 {
			r.Verdict = Failed
			return
		}
		if pair.Count(CheckNotRun) > 0 {
			r.Verdict = Incomplete
		}
	}
}

// absent are runtimes that one might expect to see, and that no run can include.
func absent() []Runtime {
	return []Runtime{
		{Name: "elixir reference", What: "the Elixir implementation of EchoMQ", Standing: NotAvailable},
		{Name: "echomq-node", What: "an EchoMQ library for Node.js", Standing: DoesNotExist},
	}
}
