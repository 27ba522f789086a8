package annotations

import (
	"fmt"
	"go/token"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/echomq/echomq-go/runtime/wire"
)

// Kind is what an item's value is, and how it is read.
type Kind int

// The kinds of value.
const (
	// KindQueueName is a queue's name on the wire.
	KindQueueName Kind = iota
	// KindWireName is a job's name on the wire.
	KindWireName
	// KindGoName is an exported Go identifier, used as it is.
	KindGoName
	// KindTypeName is the name of a type of the same package.
	KindTypeName
	// KindDuration is a duration; see [ParseDuration].
	KindDuration
	// KindInt is a whole number between the item's Min and Max.
	KindInt
	// KindWord is one of the item's Words.
	KindWord
	// KindKeep is one part of a retention: an age or a count.
	KindKeep
	// KindRate is a number of jobs in a length of time.
	KindRate
	// KindField is a field of the payload, or of a struct in it: Address.City.
	KindField
	// KindCron is a cron expression.
	KindCron
	// KindZone is the name of a time zone.
	KindZone
	// KindSchedulerID is the id of a scheduler.
	KindSchedulerID
	// KindWas is a name that a job had, alone or with the queue that it was in.
	KindWas
)

// wants describes the values of item, which is of this kind.
func (k Kind) wants(item *Item) string {
	switch k {
	case KindQueueName:
		return "the name of a queue"
	case KindWireName:
		return "a name"
	case KindGoName:
		return "an exported Go name"
	case KindTypeName:
		return "the name of an exported type of this package"
	case KindDuration:
		return "one duration such as 500ms, 30s, 10m or 14d"
	case KindInt:
		if item.Max == unbounded {
			return fmt.Sprintf("a whole number of at least %d", item.Min)
		}
		return fmt.Sprintf("a whole number from %d to %d", item.Min, item.Max)
	case KindWord:
		return oneOf(item.Words)
	case KindKeep:
		return "an age and a count such as 24h,1000, or one of them"
	case KindRate:
		return "a number of jobs in a duration, such as 100/1s"
	case KindField:
		if item.List > 1 {
			return "fields of the payload such as UserID,Address.City"
		}
		return "a field of the payload such as UserID or Address.City"
	case KindCron:
		return `a cron expression such as "0 9 * * mon-fri"`
	case KindZone:
		return "a time zone such as Europe/Berlin"
	case KindSchedulerID:
		return "an id"
	case KindWas:
		return "names such as Hello,push/Hello"
	}
	return "a value"
}

// Value is one value of an item.
type Value struct {
	Pos, End token.Pos
	// Text is the value as written, without quotes.
	Text string
	// Off is set for the word none where it switches the thing off.
	Off bool
	// Duration is set for durations, the age of a retention and the time of a rate.
	Duration time.Duration
	// Int is set for whole numbers, the count of a retention and the jobs of a rate.
	Int int
}

// read interprets v as a value of item, and returns the rule that it breaks
// with the rule's arguments, or nil.
func (k Kind) read(item *Item, v *Value) (*Rule, []any) {
	switch k {
	case KindQueueName:
		return readQueueName(v)
	case KindWireName:
		return readWireName(v)
	case KindGoName:
		return readGoName(v)
	case KindTypeName:
		return readTypeName(v)
	case KindDuration:
		return readDuration(item, v)
	case KindInt:
		return readInt(item, v)
	case KindWord:
		return readWord(item, v)
	case KindKeep:
		return readKeep(item, v)
	case KindRate:
		return readRate(v)
	case KindField:
		return readField(v)
	case KindCron:
		return readCron(v)
	case KindZone:
		return readZone(v)
	case KindSchedulerID:
		return readSchedulerID(v)
	case KindWas:
		return readWas(v)
	}
	return nil, nil
}

func readQueueName(v *Value) (*Rule, []any) {
	if _, err := wire.ParseQueue(v.Text); err != nil {
		return RuleQueueName, []any{err}
	}
	return nil, nil
}

func readWireName(v *Value) (*Rule, []any) {
	const limit = 255
	reason := ""
	switch {
	case v.Text == "":
		reason = "is empty"
	case len(v.Text) > limit:
		reason = fmt.Sprintf("has %d bytes; the limit is %d", len(v.Text), limit)
	case !utf8.ValidString(v.Text):
		reason = "is not UTF-8"
	case strings.ContainsFunc(v.Text, func(r rune) bool { return !unicode.IsPrint(r) }):
		reason = "has a character that cannot be printed"
	case strings.TrimSpace(v.Text) != v.Text:
		reason = "begins or ends with a space"
	default:
		return nil, nil
	}
	return RuleWireName, []any{v.Text, reason}
}

// readWas reads a name of which the part before the first slash, if there is one,
// names a queue.
func readWas(v *Value) (*Rule, []any) {
	queue, name, moved := strings.Cut(v.Text, "/")
	if !moved {
		return readWireName(v)
	}
	if _, err := wire.ParseQueue(queue); err != nil {
		return RuleQueueName, []any{err}
	}
	return readWireName(&Value{Text: name})
}

func readGoName(v *Value) (*Rule, []any) {
	if token.IsIdentifier(v.Text) && token.IsExported(v.Text) {
		return nil, nil
	}
	var hint Suggestion
	if better := proposeGoName(v.Text); token.IsIdentifier(better) && better[1:] != v.Text {
		hint = DidYouMean(better, better)
	}
	return RuleGoName, []any{quoteOdd(v.Text), hint}
}

func readTypeName(v *Value) (*Rule, []any) {
	if token.IsIdentifier(v.Text) {
		return nil, nil
	}
	var hint Suggestion
	switch bare := strings.TrimLeft(v.Text, "*"); {
	case bare != v.Text && token.IsIdentifier(bare):
		hint = DidYouMean(bare, bare)
	case strings.HasPrefix(v.Text, "[") || strings.HasPrefix(v.Text, "map["):
		hint.Message = "; declare one, as in type Result " + v.Text
	case strings.Contains(v.Text, "."):
		hint.Message = "; declare one, as in type Result = " + v.Text
	}
	return RuleTypeName, []any{quoteOdd(v.Text), hint}
}

func readWord(item *Item, v *Value) (*Rule, []any) {
	for _, word := range item.Words {
		if v.Text == word {
			return nil, nil
		}
	}
	return RuleWord, []any{quoteOdd(v.Text), item.title(), item.wants(), didYouMean(v.Text, item.Words, "")}
}

func readInt(item *Item, v *Value) (*Rule, []any) {
	n, err := strconv.Atoi(v.Text)
	if err == nil && n == 0 && item.None {
		return zero(item)
	}
	if err != nil || n < item.Min || n > item.Max {
		return RuleNumber, []any{quoteOdd(v.Text), item.title(), item.wants()}
	}
	v.Int = n
	return nil, nil
}

func readDuration(item *Item, v *Value) (*Rule, []any) {
	d, err := ParseDuration(v.Text)
	if err == nil && d == 0 {
		return zero(item)
	}
	v.Duration = d
	guess := guessDuration(v.Text)
	reason := quoteOdd(v.Text) + " is not a duration"
	switch {
	case err == nil:
		return nil, nil
	case err == errNoUnit && guess != "":
		return RuleNoUnit, []any{v.Text, guess}
	case err == errTooLong:
		reason = v.Text + " is longer than 292 years"
	case err == errTooFine:
		reason = v.Text + " is finer than a millisecond, which the wire cannot carry"
	case err == errNegative:
		reason = v.Text + " is negative"
	case guess != "":
		hint := DidYouMean(guess, guess)
		hint.Message = reason + hint.Message
		return RuleDuration, []any{hint}
	}
	return RuleDuration, []any{reason + "; " + item.title() + " takes " + item.wants()}
}

// readField reads the path to a field. Whether there is one is for whoever knows
// the types.
func readField(v *Value) (*Rule, []any) {
	if v.Text == none {
		return RuleFieldPath, []any{"none stands alone, and"}
	}
	for name := range strings.SplitSeq(v.Text, ".") {
		if !token.IsIdentifier(name) {
			return RuleFieldPath, []any{quoteOdd(v.Text)}
		}
	}
	return nil, nil
}

// readKeep reads an age, or, where there is no unit, a count.
func readKeep(item *Item, v *Value) (*Rule, []any) {
	if v.Text == none {
		return RuleKeep, []any{item.title(), "none stands alone"}
	}
	if !isNumber(v.Text) {
		return readDuration(item, v)
	}
	n, err := strconv.Atoi(v.Text)
	switch {
	case err == nil && n == 0:
		return zero(item)
	case err != nil || n < 0 || n > 1<<31-1:
		return RuleKeep, []any{item.title(), v.Text + " is not a count"}
	}
	v.Int = n
	return nil, nil
}

// The bounds of a rate, which are those of the protocol.
const (
	maxRateJobs = 1_000_000
	maxRatePer  = 31 * day
)

func readRate(v *Value) (*Rule, []any) {
	many, span, parted := strings.Cut(v.Text, "/")
	jobs, err := strconv.Atoi(many)
	per, perErr := ParseDuration(span)
	reason := ""
	switch {
	case !parted:
		reason = "it has no slash"
	case err != nil || jobs < 1 || jobs > maxRateJobs:
		reason = fmt.Sprintf("%s is not a whole number from 1 to %d", quoteOdd(many), maxRateJobs)
	case perErr == errNoUnit:
		reason = span + " has no unit"
	case perErr == errTooFine:
		reason = span + " is finer than a millisecond, which the wire cannot carry"
	case perErr != nil:
		reason = quoteOdd(span) + " is not a duration"
	case per <= 0 || per > maxRatePer:
		reason = span + " is not from 1ms to 31d"
	default:
		v.Int, v.Duration = jobs, per
		return nil, nil
	}
	hint := Suggestion{Message: "; write jobs, a slash and a duration, such as 100/1s"}
	if guess := guessSpan(span); parted && guess != "" && err == nil && perErr != nil && perErr != errTooFine && isRateSpan(guess) {
		hint = DidYouMean(many+"/"+guess, many+"/"+guess)
		if perErr == errNoUnit {
			hint.Replacement = "" // it could be another one
		}
	}
	hint.Message = reason + hint.Message
	return RuleRate, []any{quoteOdd(v.Text), hint}
}

func isRateSpan(text string) bool {
	per, err := ParseDuration(text)
	return err == nil && per <= maxRatePer
}

// guessSpan returns the duration that the time of a rate most likely means: a
// unit alone is one of it.
func guessSpan(span string) string {
	if guess := guessDuration(span); guess != "" {
		return guess
	}
	return guessDuration("1" + span)
}

// zero refuses a zero and says how to write what it may have meant.
func zero(item *Item) (*Rule, []any) {
	cure := "leave it out"
	if item.None {
		cure = "write " + item.title() + "=none"
	}
	return RuleZero, []any{item.title(), cure}
}

// quoteOdd quotes text that would be hard to see in a message.
func quoteOdd(text string) string {
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return r == ' ' || !unicode.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}

// upperFirst returns name with its first letter in upper case.
func upperFirst(name string) string {
	r, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(r)) + name[size:]
}
