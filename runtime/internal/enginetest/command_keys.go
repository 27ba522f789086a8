package enginetest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

// commandKeys tells which arguments of a command are keys, by what the server
// itself says about the command.
type commandKeys struct {
	client    *redis.Client
	positions map[string]keyPositions
	confirmed map[shape]bool
}

// keyPositions says where a command has its keys.
type keyPositions struct {
	// ask means that it depends on the arguments (ZMPOP, XREAD, subcommands).
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

func newCommandKeys(client *redis.Client) *commandKeys {
	return &commandKeys{client: client, positions: map[string]keyPositions{}, confirmed: map[shape]bool{}}
}

// of returns the keys of the command on line. Where the table of COMMAND INFO
// is enough, the server is asked once for each shape, and must agree with it.
func (c *commandKeys) of(ctx context.Context, line monitorLine) ([]string, error) {
	name, err := line.arguments(1)
	if err != nil {
		return nil, err
	}
	positions, err := c.lookUp(ctx, strings.ToLower(name[0]))
	if err != nil {
		return nil, err
	}
	if !positions.ask && positions.last >= 0 && c.confirmed[shape{name: name[0]}] {
		// The number of arguments does not matter, so neither does the rest.
		arguments, err := line.arguments(positions.last + 1)
		return positions.pick(arguments), err
	}
	arguments, err := line.arguments(-1)
	if err != nil {
		return nil, err
	}
	this := shape{name: name[0], count: len(arguments)}
	if positions.last >= 0 {
		this.count = 0
	}
	if !positions.ask && c.confirmed[this] {
		return positions.pick(arguments), nil
	}
	answer, err := c.askServer(ctx, arguments)
	if err != nil || positions.ask {
		return answer, err
	}
	if picked := positions.pick(arguments); !slices.Equal(picked, answer) {
		return nil, fmt.Errorf("COMMAND INFO says that the keys of %s are %q, COMMAND GETKEYSANDFLAGS says %q", name[0], picked, answer)
	}
	c.confirmed[this] = true
	return answer, nil
}

// pick returns the keys among the arguments of a command.
func (p keyPositions) pick(arguments []string) []string {
	if p.first == 0 {
		return nil
	}
	last := p.last
	if last < 0 {
		last += len(arguments)
	}
	var keys []string
	for i := p.first; i <= last && i < len(arguments); i += p.step {
		keys = append(keys, arguments[i])
	}
	return keys
}

// lookUp returns where the command called name has its keys, by COMMAND INFO.
func (c *commandKeys) lookUp(ctx context.Context, name string) (keyPositions, error) {
	if positions, known := c.positions[name]; known {
		return positions, nil
	}
	reply, err := c.client.Do(ctx, "COMMAND", "INFO", name).Slice()
	if err != nil {
		return keyPositions{}, fmt.Errorf("COMMAND INFO %s: %w", name, err)
	}
	positions, err := parseCommandInfo(reply)
	if err != nil {
		return keyPositions{}, fmt.Errorf("COMMAND INFO %s: %w", name, err)
	}
	c.positions[name] = positions
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
func (c *commandKeys) askServer(ctx context.Context, arguments []string) ([]string, error) {
	if len(arguments) == 1 {
		return nil, nil // a command without arguments, which Redis 7.0 refuses to answer for
	}
	question := []any{"COMMAND", "GETKEYSANDFLAGS"}
	for _, argument := range arguments {
		question = append(question, argument)
	}
	reply, err := c.client.Do(ctx, question...).Slice()
	switch {
	case err != nil && strings.Contains(err.Error(), "no key arguments"):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("COMMAND GETKEYSANDFLAGS %s: %w", arguments[0], err)
	}
	var keys []string
	for _, item := range reply {
		entry, ok := item.([]any)
		if !ok || len(entry) == 0 {
			return nil, fmt.Errorf("COMMAND GETKEYSANDFLAGS %s: unexpected reply %v", arguments[0], reply)
		}
		keys = append(keys, fmt.Sprint(entry[0]))
	}
	return keys, nil
}
