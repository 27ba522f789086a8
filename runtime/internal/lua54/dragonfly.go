package lua54

import (
	"fmt"
	"slices"
	"strings"
)

// Dragonfly runs scripts under the rules that Dragonfly has without flags.
type Dragonfly struct {
	// Interpreter is the sandbox.
	Interpreter *Interpreter
	// Keys returns the keys of a command.
	Keys func(command []string) ([]string, error)
	// Do executes a command under RESP2 and returns its reply: string, int64,
	// []any, nil, or an error, which is an error reply of the engine.
	Do func(command []string) (any, error)
	// Sites has every place from which a command was sent.
	Sites map[Site]bool
}

// Call calls a script and returns what a client gets.
func (d *Dragonfly) Call(source string, keys, args []string) (any, error) {
	value, err := d.Interpreter.run(source, keys, args, func(site Site, command []string) any {
		if d.Sites != nil {
			d.Sites[site] = true
		}
		return d.command(keys, command)
	})
	if err != nil {
		return nil, err
	}
	return reply(value)
}

// forbidden are commands that Dragonfly does not let a script run.
var forbidden = []string{
	"KEYS", "SCAN", "FLUSHALL", "FLUSHDB", "BLPOP", "BRPOP", "BZPOPMIN", "BZPOPMAX", "MULTI", "EXEC", "WATCH",
	"EVAL", "EVALSHA", "SCRIPT", "SUBSCRIBE", "SAVE", "SHUTDOWN",
}

// command executes a command of a script. A key that is not, literally, one of
// KEYS is refused; what the script did before stays.
func (d *Dragonfly) command(declared, command []string) any {
	name := strings.ToUpper(command[0])
	if slices.Contains(forbidden, name) {
		return Failure("ERR This Redis command is not allowed from script")
	}
	keys, err := d.Keys(command)
	if err != nil {
		return Failure("ERR " + err.Error())
	}
	for _, key := range keys {
		if !slices.Contains(declared, key) {
			return Failure(fmt.Sprintf("ERR script tried accessing undeclared key, key: %s", key))
		}
	}
	answer, err := d.Do(command)
	if err != nil {
		return Failure(err.Error())
	}
	return toLua(name, command, answer)
}

// statuses are commands whose reply OK is a status.
var statuses = []string{"MSET", "SET", "HMSET", "LSET", "LTRIM", "RENAME"}

// toLua is the reply to a command as Dragonfly gives it to a script: scores and
// the parts of the time are numbers.
func toLua(name string, command []string, answer any) any {
	list, _ := answer.([]any)
	text, isText := answer.(string)
	switch {
	case isText && slices.Contains(statuses, name):
		return Status(text)
	case isText && (name == "ZSCORE" || name == "ZINCRBY"):
		return number(text)
	case name == "TIME" && len(list) == 2:
		seconds, micros := number(fmt.Sprint(list[0])), number(fmt.Sprint(list[1]))
		if micros, ok := micros.(int64); ok {
			return []any{seconds, micros - micros%1000} // it counts in milliseconds
		}
	case name == "ZMSCORE":
		return every(list, 0, 1)
	case name == "ZPOPMIN", name == "ZPOPMAX", slices.ContainsFunc(command, func(word string) bool { return strings.EqualFold(word, "WITHSCORES") }):
		return every(list, 1, 2)
	}
	return answer
}

// every turns the elements from first on, in steps, into numbers.
func every(list []any, first, step int) []any {
	result := slices.Clone(list)
	for i := first; i < len(result); i += step {
		if text, ok := result[i].(string); ok {
			result[i] = number(text)
		}
	}
	return result
}
