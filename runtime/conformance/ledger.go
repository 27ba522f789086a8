package conformance

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/echomq/echomq-go/lua"
)

// ledger is a hook of the probe's own client. It puts the scripts under test in
// the place of the build's, and keeps account of every call that was sent: each
// must be seen in the engine's stream, and no other counts as the probe's.
type ledger struct {
	instead map[string]lua.Script // by the digest of the build's script
	names   map[string]string     // of the scripts under test, by digest

	mu      sync.Mutex
	due     map[digest]int // calls that were executed and not seen yet
	allowed map[digest]int // calls that were sent and not seen yet
	keys    map[string]bool
	waiting map[string]chan struct{} // closed when a script has been executed
	last    error                    // the last error that the engine answered
	refused func(error)              // is told what a script or the engine refuses
}

// digest identifies a call by all its arguments.
type digest [sha256.Size]byte

func newLedger(bundle *Bundle) *ledger {
	return &ledger{
		instead: bundle.instead, names: bundle.names,
		due: map[digest]int{}, allowed: map[digest]int{},
		keys: map[string]bool{}, waiting: map[string]chan struct{}{},
		refused: func(error) {},
	}
}

// DialHook passes on.
func (l *ledger) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook enters one command.
func (l *ledger) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		l.send(cmd)
		err := next(ctx, cmd)
		l.answered(cmd, err) // the command itself does not have it yet
		return err
	}
}

// ProcessPipelineHook enters the commands of a pipeline.
func (l *ledger) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		for _, cmd := range cmds {
			l.send(cmd)
		}
		err := next(ctx, cmds)
		for _, cmd := range cmds {
			l.answered(cmd, cmd.Err())
		}
		return err
	}
}

// send enters a call before it is sent.
func (l *ledger) send(cmd redis.Cmder) {
	l.substitute(cmd.Args())
	id, keys, ok := callOf(cmd.Args())
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.allowed[id]++
	for _, key := range keys {
		l.keys[key] = true
	}
}

// substitute puts the scripts under test in the place of the build's.
func (l *ledger) substitute(args []any) {
	if len(args) < 2 {
		return
	}
	switch strings.ToLower(wireText(args[0])) {
	case "evalsha":
		if script, ok := l.instead[wireText(args[1])]; ok {
			args[1] = script.SHA1
		}
	case "script":
		if len(args) == 3 && strings.EqualFold(wireText(args[1]), "load") {
			for own, script := range l.instead {
				if build, ok := lua.Lookup(script.Name); ok && build.SHA1 == own && build.Source == args[2] {
					args[2] = script.Source
				}
			}
		}
	}
}

// answered enters that a call has an answer. One that the engine refused before
// it ran anything need not appear in its stream.
func (l *ledger) answered(cmd redis.Cmder, err error) {
	id, _, ok := callOf(cmd.Args())
	if !ok {
		return
	}
	l.mu.Lock()
	executed := err == nil || errors.Is(err, redis.Nil)
	if executed {
		l.due[id]++
	}
	name := l.names[wireText(cmd.Args()[1])]
	if ch := l.waiting[name]; executed && ch != nil {
		close(ch)
		delete(l.waiting, name)
	}
	tell := false
	var reply redis.Error
	if !executed && errors.As(err, &reply) && !redis.HasErrorPrefix(err, "NOSCRIPT") {
		err = fmt.Errorf("%s.lua was answered: %w", name, err)
		l.last, tell = err, true
	}
	l.mu.Unlock()
	if tell {
		l.refused(err)
	}
}

// seen takes a call from the account. It reports whether it was sent.
func (l *ledger) seen(args []string) bool {
	id := digestOf(args)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.allowed[id] == 0 {
		return false
	}
	l.allowed[id]--
	l.due[id]--
	return true
}

// unseen counts the calls that were executed and were not seen.
func (l *ledger) unseen() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	count := 0
	for _, due := range l.due {
		count += max(due, 0)
	}
	return count
}

// declared returns every key that a call was sent with.
func (l *ledger) declared() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var keys []string
	for key := range l.keys {
		keys = append(keys, key)
	}
	return distinct(keys)
}

// lastError returns the last error that the engine answered to a call.
func (l *ledger) lastError() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// next returns a channel that is closed when the script called name is executed.
func (l *ledger) next(name string) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting[name] == nil {
		l.waiting[name] = make(chan struct{})
	}
	return l.waiting[name]
}

// callOf returns what identifies the call of a script, and its KEYS.
func callOf(args []any) (id digest, keys []string, ok bool) {
	if len(args) < 3 {
		return digest{}, nil, false
	}
	switch strings.ToLower(wireText(args[0])) {
	case "evalsha", "eval":
	default:
		return digest{}, nil, false
	}
	texts := make([]string, len(args))
	for i, arg := range args {
		texts[i] = wireText(arg)
	}
	count, err := strconv.Atoi(texts[2])
	if err != nil || count < 0 || 3+count > len(texts) {
		return digest{}, nil, false
	}
	return digestOf(texts), texts[3 : 3+count], true
}

func digestOf(args []string) digest {
	hash := sha256.New()
	for i, arg := range args {
		if i == 0 {
			arg = strings.ToLower(arg)
		}
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(arg)))
		hash.Write(size[:])
		hash.Write([]byte(arg))
	}
	return digest(hash.Sum(nil))
}

// wireText is an argument as it is sent.
func wireText(arg any) string {
	switch arg := arg.(type) {
	case string:
		return arg
	case []byte:
		return string(arg)
	case bool:
		if arg {
			return "1"
		}
		return "0"
	default:
		return fmt.Sprint(arg)
	}
}
