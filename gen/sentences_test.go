package gen_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/echomq/echomq-go/annotations"
)

// vocabulary are values of each item, by directive and key. The table of
// directives says which items there are; a test holds that none is missing here.
// A few are wrong, beyond what chance finds.
var vocabulary = map[string][]string{
	"queue name": often("mail", "post2", "mail-eu"), "queue go": {"Post", "MailEu"}, "queue concurrency": often("200", "32", "1048576", "1048577"), "queue limit": {"1", "50"},
	"queue rate": often("100/1s", "1/31d", "1000000/500ms", "1000001/1s", "1/745h"), "queue lease": {"30s", "1m30s"}, "queue events": {"none", "final", "all"},
	"retired name": {"Hello", "old job"}, "retired to": {"failed", "discard"}, "retired queue": often("mail", "post2"),
	"job queue": often("mail", "post2"), "job name": {"greeting", "Welcome", "two words"}, "job go": {"Greeting"}, "job timeout": {"30s", "none", "1h", "1d12h"},
	"job priority": often("10", "0", "2097151", "2097152"), "job delay": {"500ms", "1.5s"}, "job codec": {"json", "msgpack"}, "job version": {"1", "2", "7"}, "job oldest": often("1", "2"),
	"job was":        {"Hi", "Hi,mail/Bye", "mail/Hi", "Hi", "Hi,Bye"},
	"retry attempts": {"1", "5"}, "retry backoff": {"fixed", "exponential"}, "retry base": {"2s", "10m"}, "retry cap": {"10m", "2h"}, "retry jitter": {"full", "none"}, "retry stalls": {"none", "3"},
	"result ": {"Receipt", "Address"}, "progress ": {"Percent"},
	"keep completed": {"24h,1000", "1000,24h", "none", "14d", "10", "14d", "10", "24h,48h", "10,20"}, "keep failed": {"7d", "none", "1h,5"}, "keep logs": often("50", "none", "10000", "10001"),
	"unique by": {"UserID", "UserID,Tenant", "Address.City,UserID,Tenant", "none"}, "unique until": {"started", "finished", "removed"}, "unique for": {"1h"},
	"unique conflict": {"existing", "replace", "error"},
	"group by":        {"Tenant", "Address.Zip"}, "group limit": {"2", "10"}, "batch size": {"10", "100"}, "batch wait": {"500ms", "10s"},
	"cron ": {"0 9 * * mon-fri", "*/5 * * * *", "30 0 9 1 * *", "@daily"}, "cron every": {"10m", "1d"}, "cron id": {"morning", "m.2"}, "cron tz": {"UTC", "Europe/Berlin"}, "cron misfire": {"once", "skip"},
}

// often returns choices of which the first is taken mostly.
func often(first string, others ...string) []string {
	return append(slices.Repeat([]string{first}, 4*len(others)), others...)
}

// sentences writes directives by the table, at random.
type sentences struct{ *rand.Rand }

// write returns the directives of a package with one queue and one job, first
// those above the package clause. They may contradict each other.
func (s sentences) write() (lines []string, above int) {
	var top, below []string
	for _, spec := range annotations.Directives() {
		if spec.Name != "queue" && spec.Name != "job" && s.IntN(5) > 1 {
			continue
		}
		if spec.Name == "cron" && strings.Contains(strings.Join(below, "\n"), "//emq:unique") && s.IntN(5) > 0 {
			continue // they exclude each other
		}
		if line := s.line(&spec); spec.On == annotations.OnPackage {
			top = append(top, line)
		} else if line != "//emq:retry" && line != "//emq:keep" {
			below = append(below, line)
		}
	}
	s.Shuffle(len(top), func(i, j int) { top[i], top[j] = top[j], top[i] })
	s.Shuffle(len(below), func(i, j int) { below[i], below[j] = below[j], below[i] })
	return slices.Concat(top, below), len(top)
}

func (s sentences) line(spec *annotations.Spec) string {
	var items []string
	for i := range spec.Items {
		item := &spec.Items[i]
		if !item.Required && s.IntN(3) > 0 {
			continue
		}
		choice := vocabulary[spec.Name+" "+item.Key]
		written := s.value(choice[s.IntN(len(choice))])
		if item.Key != "" {
			written = item.Key + "=" + written
		}
		items = append(items, written)
	}
	s.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	line := strings.Join(append([]string{"//emq:" + spec.Name}, items...), " ")
	if s.IntN(10) == 0 && len(items) > 0 {
		line += " // why: so=it, is"
	}
	return line
}

// value writes values as they are, or in quotes.
func (s sentences) value(list string) string {
	parts := strings.Split(list, ",")
	for i, part := range parts {
		switch {
		case strings.Contains(part, " ") && s.IntN(4) == 0:
			parts[i] = "`" + part + "`"
		case strings.Contains(part, " ") || s.IntN(10) == 0:
			parts[i] = strconv.Quote(part)
		}
	}
	return strings.Join(parts, ",")
}

// damage drops, doubles, exchanges or misspells a part of a line: an item or the
// name, or a word or sign of one.
func (s sentences) damage(line string) string {
	parts := wholeParts.FindAllString(strings.TrimPrefix(line, "//emq:"), -1)
	if s.IntN(2) == 0 {
		parts = smallParts.FindAllString(strings.TrimPrefix(line, "//emq:"), -1)
	}
	at, other := s.IntN(len(parts)), s.IntN(len(parts))
	switch s.IntN(4) {
	case 0:
		parts = slices.Delete(parts, at, at+1)
	case 1:
		parts = slices.Insert(parts, other, parts[at])
	case 2:
		parts[at], parts[other] = parts[other], parts[at]
	default:
		parts[at] = s.misspell(parts[at])
	}
	return "//emq:" + strings.Join(parts, "")
}

// misspell leaves out a character, adds one, replaces one or exchanges two.
func (s sentences) misspell(word string) string {
	const alphabet = "abcdefgimnorstuyABGRW0123456789 =,.-_/:+\"`\\"
	at, letter := s.IntN(len(word)), string(alphabet[s.IntN(len(alphabet))])
	switch s.IntN(4) {
	case 0:
		return word[:at] + word[at+1:]
	case 1:
		return word[:at] + letter + word[at:]
	case 2:
		return word[:at] + letter + word[at+1:]
	default:
		next := (at + 1) % len(word)
		swapped := []byte(word)
		swapped[at], swapped[next] = word[next], word[at]
		return string(swapped)
	}
}
