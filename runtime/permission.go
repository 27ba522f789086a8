package echomq

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// isPermission reports whether err is of the store's access rules. Refused
// commands of a client have a word of their own; those of a script have not, and
// the engines tell them in words of their own.
func isPermission(err error) bool {
	if !isReply(err) {
		return false
	}
	text := err.Error()
	return hasWord(err, "NOPERM") ||
		strings.Contains(text, "ACL failure in script") || // Valkey
		strings.Contains(text, "The user executing the script can't") // Redis
}

// notPermitted returns the error for a call that the store's access rules
// refused, which names what was refused and the rule that grants it. Other
// errors it returns as they are.
func notPermitted(call script.Call, err error) error {
	if err == nil || !isPermission(err) {
		return err
	}
	queue := queueOf(call)
	return &StoreError{
		Kind:   ErrPermission,
		Op:     fmt.Sprintf("%s in queue %q", call.Script.Base(), queue),
		Err:    &refusedRight{what: refusedInScript(call, queue, err.Error()), err: err},
		Advice: adviceOf(call.Script.Base(), queue),
	}
}

// notPermittedPlain is the same for commands that are of no script.
func notPermittedPlain(queue wire.Queue, commands []redis.Cmder, err error) error {
	if err == nil || !isPermission(err) {
		return err
	}
	refused := &refusedRight{what: "a command", err: err}
	for _, command := range commands {
		if failed := command.Err(); failed != nil && isPermission(failed) {
			refused.what = plainly(command, failed.Error())
			refused.err = failed
			break
		}
	}
	return &StoreError{
		Kind:   ErrPermission,
		Op:     fmt.Sprintf("use queue %q", queue),
		Err:    refused,
		Advice: eitherAdvice(queue.Name()),
	}
}

func ruleAdvice(role, queue string) string {
	return fmt.Sprintf("`emq acl %s --queue %s` prints the rule that a user needs", role, queue)
}

// eitherAdvice is for what both producers and workers do.
func eitherAdvice(queue string) string {
	return ruleAdvice("producer", queue) + "; for a worker it is `emq acl worker`"
}

func adviceOf(script, queue string) string {
	if script == "declare" {
		return eitherAdvice(queue)
	}
	return ruleAdvice(roleOf(script), queue)
}

// roleOf returns the role, as emq acl calls it, of those who call a script.
func roleOf(name string) string {
	switch name {
	case "add", "cancel", "change", "heal", "inspect", "replace", "report", "schedule":
		return "producer"
	case "override", "pause", "resume", "counts", "list", "view", "remove", "retry", "drain", "erase", "obliterate":
		return "operator"
	}
	return "worker"
}

// queueOf returns the name of the queue that a call is for.
func queueOf(call script.Call) string {
	if len(call.Keys) == 0 {
		return ""
	}
	return wire.HashTag(call.Keys[0])
}

// refusedRight is a reply of the store that refuses a right, with what it is.
type refusedRight struct {
	what string
	err  error
}

func (e *refusedRight) Error() string {
	return fmt.Sprintf("no right to %s: %v", e.what, e.err)
}

func (e *refusedRight) Unwrap() error { return e.err }

var (
	refusedCommand = regexp.MustCompile(`run the '([^']+)' command`)
	refusedLine    = regexp.MustCompile(`@user_script:([0-9]+)`)
	calledCommand  = regexp.MustCompile(`redis\.p?call\('([A-Z]+)'(?:, ([^,()]+))?`)
)

// refusedInScript says what was refused to a call. Neither engine tells the key,
// and Redis not even the command. Both tell the line of the script, unless the
// script caught the error and handed it on.
func refusedInScript(call script.Call, queue, text string) string {
	command := "a command"
	if named := refusedCommand.FindStringSubmatch(text); named != nil {
		command = strings.ToUpper(named[1])
	}
	if strings.HasPrefix(text, "NOPERM") {
		if command == "a command" {
			return fmt.Sprintf("touch the keys emq:{%s}:*", queue)
		}
		return "run " + command
	}
	where := " (" + call.Script.Name + ".lua)"
	if line := refusedLine.FindStringSubmatch(text); line != nil {
		number, _ := strconv.Atoi(line[1])
		where = fmt.Sprintf(" (line %d of %s.lua)", number, call.Script.Name)
		command = commandsAt(call.Script.Source, number)
	}
	switch {
	case strings.Contains(text, "channel"):
		return "publish to the channel of " + command + where
	case strings.Contains(text, "access"):
		return "touch the key of " + command + where
	}
	return "run " + command + where
}

// commandsAt returns the commands, with their first operand, that a line of a
// script calls.
func commandsAt(source string, number int) string {
	lines := strings.Split(source, "\n")
	if number < 1 || number > len(lines) {
		return "a command"
	}
	var found []string
	for _, match := range calledCommand.FindAllStringSubmatch(lines[number-1], -1) {
		found = append(found, strings.TrimSpace(match[1]+" "+match[2]))
	}
	if len(found) == 0 {
		return "a command"
	}
	return strings.Join(found, " or ")
}

// plainly says what was refused to a command. It may be another command, of the
// connection's beginning.
func plainly(command redis.Cmder, text string) string {
	if other := refusedCommand.FindStringSubmatch(text); other != nil {
		return "run " + strings.ToUpper(other[1])
	}
	name, args := strings.ToUpper(command.Name()), command.Args()
	if len(args) < 2 {
		return "run " + name
	}
	return fmt.Sprintf("%s the key %v", name, args[1])
}

// explained returns an error of the access rules that tells already what was
// refused, as one of op; nil if err is none.
func explained(op string, err error) *StoreError {
	var told *StoreError
	if !errors.As(err, &told) || told.Kind != ErrPermission {
		return nil
	}
	again := *told
	again.Op = op
	return &again
}
