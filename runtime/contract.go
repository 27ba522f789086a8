package echomq

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// ErrContract is a job that another program declares differently at the same
// version; see [ContractError].
var ErrContract = errors.New("programs declare the job differently")

// ContractSpec tells one contract of a job from another. emqgen writes it; a job
// type without a Hash is compared with nothing.
//
// The first program that adds or serves jobs of a type enters its hash, for the
// payload's version, into the queue. Any other is compared with that when it first
// adds such a job or starts a worker, and gets a [*ContractError] if it differs.
type ContractSpec struct {
	// Hash is of the names and types of all fields that are always there, of payload
	// and result. So a field that may be absent, which any program survives, does
	// not change it.
	Hash string
	// Replaces are the hashes of contracts of the same version that were broken on
	// purpose, as emq.lock says.
	Replaces []string
}

// ContractError is an [ErrContract]: a job that this program and another one declare
// differently, at the same version. Nothing was written.
type ContractError struct {
	// Queue is the queue's name, Job the job's wire name, and Version that of its
	// payload.
	Queue   string
	Job     string
	Version int
	// Program is this program: the import path of its main package, and its version
	// if it has one. Hash is that of the contract as it knows it.
	Program string
	Hash    string
	// OtherProgram is the first one that declared the job, and OtherHash that of its
	// contract.
	OtherProgram string
	OtherHash    string
	// Key and Field are where OtherHash stands, in a hash.
	Key   string
	Field string
}

func (e *ContractError) Error() string {
	return fmt.Sprintf("echomq: queue %q: job %q, version %d: %v: %s (this program) has contract %s, and %s had declared %s"+
		" (build both from the same declaration, or raise version in the one that changed; if nothing of the other is left, delete field %q of hash %q; nothing was written)",
		e.Queue, e.Job, e.Version, ErrContract, e.Program, e.Hash, e.OtherProgram, e.OtherHash, e.Field, e.Key)
}

// Unwrap returns [ErrContract].
func (e *ContractError) Unwrap() error { return ErrContract }

// contract is one version of a job as this program declares it.
type contract struct {
	name    string
	version int
	ContractSpec
}

// contractOf returns the contract of a job type.
func contractOf(spec JobSpec) contract {
	return contract{name: spec.Name, version: max(spec.Version, 1), ContractSpec: spec.Contract}
}

func (p *Prepared) contractOf() contract {
	return contract{name: p.name, version: p.version, ContractSpec: p.contract}
}

// agreement is a contract that was found to be the one of its queue.
type agreement struct {
	queue   wire.Queue
	name    string
	version int
	hash    string
}

// agreements are what a client need not compare again.
type agreements struct {
	mu   sync.RWMutex
	made map[agreement]struct{}
}

func (a *agreements) has(queue wire.Queue, c contract) bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	_, made := a.made[agreement{queue, c.name, c.version, c.Hash}]
	return made
}

func (a *agreements) add(queue wire.Queue, contracts []contract) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.made == nil {
		a.made = make(map[agreement]struct{})
	}
	for _, c := range contracts {
		a.made[agreement{queue, c.name, c.version, c.Hash}] = struct{}{}
	}
}

// admit makes the contact with a queue and agrees on the contracts of the jobs that
// are about to be added to it.
func (c *Client) admit(ctx context.Context, queue wire.Queue, jobs ...Prepared) error {
	if err := c.meet(ctx, queue); err != nil {
		return err
	}
	var contracts []contract
	for i := range jobs {
		one := jobs[i].contractOf()
		if i > 0 && jobs[i-1].name == one.name && jobs[i-1].version == one.version && jobs[i-1].contract.Hash == one.Hash {
			continue
		}
		if one.Hash != "" && !c.agreements.has(queue, one) {
			contracts = append(contracts, one)
		}
	}
	return c.declare(ctx, queue, contracts)
}

// declare compares contracts with those of the queue, and enters those that are new.
func (c *Client) declare(ctx context.Context, queue wire.Queue, contracts []contract) error {
	for len(contracts) > 0 {
		n := min(len(contracts), maxBatch)
		if err := c.declareSome(ctx, queue, contracts[:n]); err != nil {
			return err
		}
		contracts = contracts[n:]
	}
	return nil
}

func (c *Client) declareSome(ctx context.Context, queue wire.Queue, contracts []contract) error {
	program := programName()
	var call script.Declare
	for _, one := range contracts {
		call.Items = append(call.Items, script.DeclareItem{
			Name: one.name, Version: int64(one.version), Hash: one.Hash, Program: program, Replaces: strings.Join(one.Replaces, " "),
		})
	}
	raw, err := c.call(ctx, fmt.Sprintf("compare contracts of queue %q", queue), call.Call(queue))
	if errors.Is(err, ErrFull) {
		return nil // workers drain what is there; what is to be added is refused itself
	}
	if err != nil {
		return err
	}
	reply, err := script.DecodeDeclare(raw)
	if err != nil {
		return err
	}
	for i, result := range reply.Results {
		if one := contracts[i]; result.Verdict == script.DeclareVerdictConflict {
			return &ContractError{
				Queue: queue.Name(), Job: one.name, Version: one.version, Program: program, Hash: one.Hash,
				OtherProgram: result.Program, OtherHash: result.Hash,
				Key: queue.Key("meta"), Field: fmt.Sprintf("contract:%d:%s", one.version, one.name),
			}
		}
	}
	c.agreements.add(queue, contracts)
	return nil
}

// contracts are those of the jobs that the runner handles, by the names they have now.
func (r *runner) contracts() []contract {
	var found []contract
	for name, route := range r.routes {
		if name == route.spec.Name && route.spec.Contract.Hash != "" && !r.client.agreements.has(r.queue, contractOf(route.spec)) {
			found = append(found, contractOf(route.spec))
		}
	}
	slices.SortFunc(found, func(a, b contract) int { return strings.Compare(a.name, b.name) })
	return found
}

// programName is how people know this program.
var programName = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Path == "" {
		return filepath.Base(os.Args[0])
	}
	if version := info.Main.Version; version != "" && version != "(devel)" {
		return info.Path + "@" + version
	}
	return info.Path
})
