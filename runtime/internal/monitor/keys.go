package monitor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Key is an operand of a command that is a key.
type Key struct {
	// Name is the key.
	Name string
	// Write says that the command may change it.
	Write bool
}

// Asker sends a command to the server and returns its reply. [redis.Client] is
// one; it must speak RESP2.
type Asker interface {
	Do(ctx context.Context, args ...any) *redis.Cmd
}

// Keys tells which arguments of a command are keys, by what the server itself
// says about the command. It is for one goroutine.
type Keys struct {
	server    Asker
	positions map[string]keyPositions
	confirmed map[shape]bool // whether they are written
}

// keyPositions says where a command has its keys.
type keyPositions struct {
	// ask means that it depends on the arguments (ZMPOP, XREAD, subcommands),
	// or that some keys are written and some are read (COPY).
	ask bool
	// first, last and step are those of COMMAND INFO; a negative last counts
	// from the end. A zero first means no keys.
	first, last, step int
}

// shape is what the positions of keys depend on in a command that does not need
// to ask: its name and number of arguments.
type shape struct {
	name  string
	count int
}

// NewKeys returns the knowledge of the given server, which it asks when a
// command is new.
func NewKeys(server Asker) *Keys {
	return &Keys{server: server, positions: map[string]keyPositions{}, confirmed: map[shape]bool{}}
}

// Of returns the keys of the command on line. Where the table of COMMAND INFO
// is enough, the server is asked once for each shape, and must agree with it.
func (k *Keys) Of(ctx context.Context, line Line) ([]Key, error) {
	name, err := line.Arguments(1)
	if err != nil {
		return nil, err
	}
	lower := strings.ToLower(name[0])
	positions, err := k.lookUp(ctx, lower)
	if err != nil {
		return nil, err
	}
	if !positions.ask && positions.last >= 0 {
		if write, known := k.confirmed[shape{name: lower}]; known {
			// The number of arguments does not matter, so neither does the rest.
			arguments, err := line.Arguments(positions.last + 1)
			return positions.pick(arguments, write), err
		}
	}
	arguments, err := line.Arguments(-1)
	if err != nil {
		return nil, err
	}
	return k.OfCommand(ctx, arguments)
}

// OfCommand returns the keys of a command.
func (k *Keys) OfCommand(ctx context.Context, arguments []string) ([]Key, error) {
	lower := strings.ToLower(arguments[0])
	positions, err := k.lookUp(ctx, lower)
	if err != nil {
		return nil, err
	}
	this := shape{name: lower, count: len(arguments)}
	if positions.last >= 0 {
		this.count = 0
	}
	if write, known := k.confirmed[this]; known && !positions.ask {
		return positions.pick(arguments, write), nil
	}
	answer, err := k.askServer(ctx, arguments)
	if err != nil || positions.ask {
		return answer, err
	}
	write := len(answer) > 0 && answer[0].Write
	if slices.ContainsFunc(answer, func(key Key) bool { return key.Write != write }) {
		positions.ask = true
		k.positions[lower] = positions
		return answer, nil
	}
	if picked := positions.pick(arguments, write); !slices.Equal(picked, answer) {
		return nil, fmt.Errorf("COMMAND INFO says that the keys of %s are %v, COMMAND GETKEYSANDFLAGS says %v", arguments[0], picked, answer)
	}
	k.confirmed[this] = write
	return answer, nil
}

// pick returns the keys among the arguments of a command.
func (p keyPositions) pick(arguments []string, write bool) []Key {
	if p.first == 0 {
		return nil
	}
	last := p.last
	if last < 0 {
		last += len(arguments)
	}
	var keys []Key
	for i := p.first; i <= last && i < len(arguments); i += p.step {
		keys = append(keys, Key{Name: arguments[i], Write: write})
	}
	return keys
}

// lookUp returns where the command called name has its keys, by COMMAND INFO.
func (k *Keys) lookUp(ctx context.Context, name string) (keyPositions, error) {
	if positions, known := k.positions[name]; known {
		return positions, nil
	}
	reply, err := k.server.Do(ctx, "COMMAND", "INFO", name).Slice()
	if err != nil {
		return keyPositions{}, fmt.Errorf("COMMAND INFO %s: %w", name, err)
	}
	positions, err := parseCommandInfo(reply)
	if err != nil {
		return keyPositions{}, fmt.Errorf("COMMAND INFO %s: %w", name, err)
	}
	k.positions[name] = positions
	return positions, nil
}

// parseCommandInfo reads [[name, arity, flags, first, last, step, categories,
// tips, key specifications, subcommands]].
func parseCommandInfo(reply []any) (keyPositions, error) {
	unknown := fmt.Errorf("unexpected reply %v", reply)
	if len(reply) != 1 {
		return keyPositions{}, unknown
	}
	entry, ok := reply[0].([]any)
	if !ok || len(entry) < 10 {
		return keyPositions{}, unknown
	}
	flags, okFlags := entry[2].([]any)
	first, okFirst := entry[3].(int64)
	last, okLast := entry[4].(int64)
	step, okStep := entry[5].(int64)
	subcommands, okSub := entry[9].([]any)
	if !okFlags || !okFirst || !okLast || !okStep || !okSub {
		return keyPositions{}, unknown
	}
	return keyPositions{
		ask:   slices.Contains(flags, any("movablekeys")) || len(subcommands) > 0 || first > 0 && step <= 0,
		first: int(first), last: int(last), step: int(step),
	}, nil
}

// askServer returns the keys of a command by COMMAND GETKEYSANDFLAGS.
func (k *Keys) askServer(ctx context.Context, arguments []string) ([]Key, error) {
	if len(arguments) == 1 {
		return nil, nil // a command without arguments, which Redis 7.0 refuses to answer for
	}
	question := []any{"COMMAND", "GETKEYSANDFLAGS"}
	for _, argument := range arguments {
		question = append(question, argument)
	}
	reply, err := k.server.Do(ctx, question...).Slice()
	switch {
	case err != nil && strings.Contains(err.Error(), "no key arguments"):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("COMMAND GETKEYSANDFLAGS %s: %w", arguments[0], err)
	}
	var keys []Key
	for _, item := range reply {
		key, ok := parseKeyAndFlags(item)
		if !ok {
			return nil, fmt.Errorf("COMMAND GETKEYSANDFLAGS %s: unexpected reply %v", arguments[0], reply)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// parseKeyAndFlags reads [key, [flag, …]], of whose flags one is RO, RW, OW or
// RM.
func parseKeyAndFlags(item any) (Key, bool) {
	entry, ok := item.([]any)
	if !ok || len(entry) != 2 {
		return Key{}, false
	}
	flags, ok := entry[1].([]any)
	return Key{Name: fmt.Sprint(entry[0]), Write: !slices.Contains(flags, any("RO"))}, ok
}
