package echomq

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

const (
	// cleanEvery is how often, about, the ended jobs of a queue are looked at, by
	// one of its workers.
	cleanEvery = 5 * time.Second
	// cleanPage is how many ended jobs are looked at, and deleted, at a time.
	cleanPage = 200
	// cleanBarren is how many pages are looked at, in one turn, of which nothing
	// is to be deleted: behind jobs that are kept for long there may be others.
	cleanBarren = 20
	// cleanTurn is for how long a worker has the turn if it is not heard of again.
	cleanTurn = 10 * time.Second
	// cleanBusy is how many pages with something to delete make the next turn
	// come sooner, so that jobs are deleted as fast as they end.
	cleanBusy = 5
	// enrolRest is after how many times that long the queue is entered into the
	// store's list again: 30 seconds with the default.
	enrolRest = 6
	// prunePage is how many unique keys are released at a time.
	prunePage = 500
)

// fieldOpts is the field of a job that holds its settings.
var fieldOpts, _ = wire.WireName("opts")

// cleanLoop deletes ended jobs that are kept no longer, and releases unique keys
// whose time is over, in small steps beside the work of the queue, whenever it is this worker's turn. The workers of a
// queue, in whatever process, have one turn after the other.
func (r *runner) cleanLoop() {
	pause := r.clean
	enrolled := time.Now()
	for {
		if sleep(r.store, pause/2+rand.N(pause)) != nil {
			return
		}
		pause = r.clean
		rest := r.clean / 2
		mine := false
		for _, set := range []script.SweepSet{script.SweepSetCompleted, script.SweepSetFailed} {
			s := &sweep{runner: r, set: set, step: script.SweepStepResume}
			err := s.run()
			if err != nil && r.store.Err() == nil {
				r.log.Warn("cleaning up ended jobs failed; trying again later", "set", set, "error", err)
			}
			mine = mine || s.mine
			if s.fruitful >= cleanBusy {
				pause, rest = max(r.clean/10, time.Millisecond), max(r.clean/20, time.Millisecond)
			}
			if !s.mine {
				break // it is another's turn, or there is no answer
			}
		}
		if mine {
			if err := r.prune(); err != nil && r.store.Err() == nil {
				r.log.Warn("releasing unique keys whose time is over failed; trying again later", "error", err)
			}
			if time.Since(enrolled) > enrolRest*r.clean {
				enrolled = time.Now()
				if err := r.enrol(); err != nil && r.store.Err() == nil {
					r.log.Warn("entering the queue into the store's list failed; trying again later", "error", err)
				}
			}
			r.giveTurn(rest)
		}
	}
}

// enrol enters the queue and the version into the store's own keys once more, if
// the queue is in use: the store may have been emptied under a program that met it
// long ago.
func (r *runner) enrol() error {
	var meta *redis.SliceCmd
	err := r.plainly(func() error {
		meta = r.client.store.HMGet(r.store, r.queue.Key("meta"), wire.FieldVersion)
		return notPermittedPlain(r.queue, []redis.Cmder{meta}, meta.Err())
	})
	if err != nil || meta.Val()[0] != wire.Version {
		return err
	}
	return r.client.register(r.store, fmt.Sprintf("enter queue %q", r.queue), r.queue)
}

// prune releases unique keys whose time is over and that nobody asked for since.
func (r *runner) prune() error {
	for more := true; more && r.store.Err() == nil; {
		a := r.exchange(script.Prune{Limit: prunePage}.Call(r.queue))[0]
		if a.err != nil {
			return a.err
		}
		reply, err := script.DecodePrune(a.reply)
		if err != nil {
			return err
		}
		more = reply.Freed == prunePage
	}
	return nil
}

// giveTurn gives the turn back. If that fails it runs out.
func (r *runner) giveTurn(rest time.Duration) {
	call := script.Sweep{
		Worker: r.id, Set: script.SweepSetCompleted, Step: script.SweepStepRest, Limit: 1, Hold: rest.Milliseconds(),
	}
	_ = r.exchange(call.Call(r.queue))
}

// sweep is a turn at one of the two sets of ended jobs, a page at a time: the page at
// which the last turn stopped, then the oldest jobs for as long as there is anything
// to delete, which under load is nearly all of it, and then on from where it was.
type sweep struct {
	*runner
	set      script.SweepSet
	step     script.SweepStep
	from     int64 // the rank at which the next page begins
	mine     bool
	fruitful int // pages of which something was deleted
	barren   int // pages of which nothing was
	gone     int64
}

// run looks at pages as long as that pays.
func (s *sweep) run() error {
	more, err := s.page()
	if err != nil || !s.mine {
		return err
	}
	if err := s.oldest(); err != nil {
		return err
	}
	for more && s.store.Err() == nil && s.barren < cleanBarren {
		if more, err = s.page(); err != nil {
			return err
		}
	}
	return nil
}

// oldest looks at the oldest jobs until a page has nothing to delete, and goes back to
// where the sweep was.
func (s *sweep) oldest() error {
	at, gone := s.from, s.gone
	s.from, s.step = 0, script.SweepStepLook
	for s.store.Err() == nil {
		fruitful := s.fruitful
		if more, err := s.page(); err != nil || !more {
			return err
		}
		if s.fruitful == fruitful {
			break
		}
	}
	s.from = max(at-(s.gone-gone), 0)
	return nil
}

// page looks at one page. more says that there may be another.
func (s *sweep) page() (more bool, err error) {
	a := s.exchange(script.Sweep{
		Worker: s.id, Set: s.set, Step: s.step, From: s.from, Limit: cleanPage, Hold: cleanTurn.Milliseconds(),
	}.Call(s.queue))[0]
	if a.err != nil {
		return false, a.err
	}
	reply, err := script.DecodeSweep(a.reply)
	if err != nil {
		return false, err
	}
	if reply.Flows && s.step == script.SweepStepResume {
		s.runErrands()
	}
	s.mine, s.from = reply.Mine, reply.From
	if !s.mine || len(reply.IDs) == 0 {
		return false, nil
	}
	items, odd, err := s.expired(reply)
	if err != nil {
		return false, err
	}
	gone := int64(0)
	if len(odd) > 0 {
		if gone, err = s.expel(odd); err != nil {
			return false, err
		}
	}
	if len(items) > 0 {
		trimmed, err := s.trim(items)
		if err != nil {
			return false, err
		}
		gone += trimmed
	}
	s.gone += gone
	if gone > 0 {
		s.fruitful++
	} else {
		s.barren++
	}
	s.step = script.SweepStepLook
	s.from += int64(len(reply.IDs)) - gone
	return true, nil
}

// expired returns the jobs of a page that seem to be kept no longer, and ids that
// no job can have. The script judges for itself.
func (s *sweep) expired(page script.SweepReply) (items []script.TrimItem, odd []string, err error) {
	var jobs []wire.JobID
	var keys []string
	var ranks []int64
	var ends []int64
	for i, each := range page.IDs {
		job, err := wire.ParseStoredJobID(each.ID)
		if err != nil {
			odd = append(odd, each.ID)
			continue
		}
		jobs = append(jobs, job)
		keys = append(keys, s.queue.Job(job))
		ranks = append(ranks, page.From+int64(i))
		ends = append(ends, each.Ended)
	}
	read, err := s.readSettings(keys)
	if err != nil {
		return nil, nil, err
	}
	for i, job := range jobs {
		keep := read[i].keepCompleted
		if s.set == script.SweepSetFailed {
			keep = read[i].keepFailed
		}
		item := script.TrimItem{ID: job, Age: bound(keep.Age), Newer: bound(int64(keep.Count))}
		if keep.None { // it was only kept because it had children
			item.Age = 0
		}
		newer := page.Size - 1 - ranks[i]
		if item.Age >= 0 && ends[i]+item.Age <= page.Now || item.Newer >= 0 && newer >= item.Newer {
			items = append(items, item)
		}
	}
	return items, odd, nil
}

// readSettings reads the settings of jobs. Those of one that is gone, or broken,
// are the defaults; but not of one for which the store just did not answer.
func (r *runner) readSettings(keys []string) ([]settings, error) {
	opts := make([]*redis.StringCmd, len(keys))
	ended := r.plainly(func() error {
		_, _ = r.client.store.Pipelined(r.store, func(pipe redis.Pipeliner) error {
			for i, key := range keys {
				opts[i] = pipe.HGet(r.store, key, fieldOpts)
			}
			return nil
		})
		return nil
	})
	if ended != nil {
		return nil, ended
	}
	read := make([]settings, len(keys))
	for i, cmd := range opts {
		if err := cmd.Err(); err != nil && !errors.Is(err, redis.Nil) && !hasWord(err, "WRONGTYPE") {
			return nil, err
		}
		read[i], _ = decodeSettings(cmd.Val())
	}
	return read, nil
}

// bound returns what stands for no bound as the script takes it.
func bound(n int64) int64 {
	if n <= 0 {
		return -1
	}
	return n
}

func (s *sweep) trim(items []script.TrimItem) (trimmed int64, err error) {
	a := s.exchange(script.Trim{Set: script.TrimSet(s.set), Items: items}.Call(s.queue))[0]
	if a.err != nil {
		return 0, a.err
	}
	reply, err := script.DecodeTrim(a.reply)
	if err != nil {
		return 0, err
	}
	for _, verdict := range reply.Results {
		if verdict.Verdict == script.TrimVerdictTrimmed {
			trimmed++
		}
	}
	return trimmed, nil
}

// expel puts ids into quarantine that no job can have and that somebody put into
// the queue by hand, and returns how many there were.
func (r *runner) expel(ids []string) (expelled int64, err error) {
	call := script.Expel{
		Events: script.ExpelEvents(r.config.events.word()), History: DefaultEventHistory, To: script.ExpelToQuarantine,
	}
	for _, id := range ids {
		call.Items = append(call.Items, script.ExpelItem{Member: id})
	}
	a := r.exchange(call.Call(r.queue))[0]
	if a.err != nil {
		return 0, a.err
	}
	reply, err := script.DecodeExpel(a.reply)
	if err != nil {
		return 0, err
	}
	for i, result := range reply.Results {
		if result.Verdict == script.ExpelVerdictExpelled {
			r.log.Error("an id that no job can have was put into quarantine", "id", ids[i])
			expelled++
		}
	}
	return expelled, nil
}
