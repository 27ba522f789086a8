package gen_test

// This file is a second reading of the grammar, written from docs/directives.md
// and docs/guide, without a look at package annotations: what a package says
// whose directives are these lines, or which of them are wrong.

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/echomq/echomq-go/gen/ir"
)

// reading is what lines of directives say about one queue and its one job.
type reading struct {
	queue ir.Queue
	job   ir.Job
	// jobQueue and retiredQueue are the queues that are named.
	jobQueue, retiredQueue string
	// wrong are the lines of which at least one is to be complained about.
	wrong map[int]string
	// unsure are lines with a value of which this reading does not know whether it
	// is right.
	unsure map[int]bool
	// said are the items of each directive, and where directives stand.
	said  map[string]map[string]bool
	lines map[string]int
}

// text is a value.
type text struct {
	string
	quoted bool
}

// writtenItem is an item before its directive is asked about it.
type writtenItem struct {
	key    string
	values []text
}

// readDirectives reads the lines of one package, all in their places.
func readDirectives(lines []string) *reading {
	r := &reading{wrong: map[int]string{}, unsure: map[int]bool{}, said: map[string]map[string]bool{}, lines: map[string]int{}}
	r.job.Version = 1
	for at, line := range lines {
		name, rest, _ := strings.Cut(strings.TrimPrefix(strings.ReplaceAll(line, "\t", " "), "//emq:"), " ")
		items, reason := splitItems(rest)
		if reason == "" {
			reason = r.directive(at, name, items)
		}
		if reason != "" {
			r.wrong[at] = reason
		}
	}
	if len(r.wrong) == 0 {
		r.together()
	}
	return r
}

// The parts of an item. A bare value has no space, comma or quote in it.
var (
	keyPart    = regexp.MustCompile("^([^\\s=,\"`]+)=")
	barePart   = regexp.MustCompile("^[^\\s,\"`]+")
	quotedPart = regexp.MustCompile("^(\"(\\\\.|[^\"\\\\])*\"|`[^`]*`)")
)

func splitItems(rest string) (items []writtenItem, reason string) {
	for {
		rest = strings.TrimLeft(rest, " ")
		if rest == "" || strings.HasPrefix(rest, "//") {
			return items, ""
		}
		var item writtenItem
		if m := keyPart.FindStringSubmatch(rest); m != nil {
			item.key, rest = m[1], rest[len(m[0]):]
		} else if rest[0] == '=' {
			return nil, "no key"
		}
		for more := true; more; {
			value := text{string: barePart.FindString(rest)}
			length := len(value.string)
			if q := quotedPart.FindString(rest); q != "" {
				unquoted, err := strconv.Unquote(q)
				if err != nil {
					return nil, "escape"
				}
				value, length = text{unquoted, true}, len(q)
			}
			if length == 0 {
				return nil, "no value"
			}
			item.values = append(item.values, value)
			rest, more = strings.CutPrefix(rest[length:], ",")
		}
		if rest != "" && rest[0] != ' ' {
			return nil, "something behind a value"
		}
		items = append(items, item)
	}
}

// directive reads the items of one directive.
func (r *reading) directive(at int, name string, items []writtenItem) string {
	takes, required := r.vocabulary(name, at)
	if takes == nil {
		return "no directive " + name
	}
	said := map[string]bool{}
	for _, item := range items {
		read := takes[item.key]
		switch {
		case read == nil:
			return "no item " + item.key
		case said[item.key]:
			return "twice " + item.key
		case !read(item.values):
			return "value of " + item.key
		}
		said[item.key] = true
	}
	for _, key := range required {
		if !said[key] {
			return "lacks " + key
		}
	}
	if len(said) == 0 && (name == "retry" || name == "keep") {
		return "says nothing"
	}
	if _, again := r.said[name]; again {
		return "directive twice"
	}
	r.said[name], r.lines[name] = said, at
	return ""
}

// values reads the values of an item, and reports whether they are right.
type values = func([]text) bool

// vocabulary returns the items of a directive and those that it needs.
func (r *reading) vocabulary(name string, at int) (takes map[string]values, required []string) {
	q, j := &r.queue, &r.job
	switch name {
	case "queue":
		return map[string]values{
			"name": queueName(&q.Name), "go": matching(goName, &q.GoName), "concurrency": number(1, 1<<20, &q.Concurrency, nil),
			"limit": number(1, 1<<31-1, &q.Limit, nil), "rate": rate(&q.Rate), "lease": duration(&q.Lease, nil), "events": words(&q.Events, "none", "final", "all"),
		}, []string{"name"}
	case "retired":
		q.Retired = []ir.Retired{{}}
		d := &q.Retired[0]
		return map[string]values{"name": wireName(&d.Name), "to": words(&d.To, "failed", "discard"), "queue": queueName(&r.retiredQueue)}, []string{"name", "to"}
	case "job":
		return map[string]values{
			"queue": queueName(&r.jobQueue), "name": wireName(&j.Name), "go": matching(goName, &j.GoName), "timeout": duration(&j.Timeout, &j.NoLimit),
			"priority": number(0, 1<<21-1, &j.Priority, nil), "delay": duration(&j.Delay, nil), "codec": words(&j.Codec, "json", "msgpack"),
			"version": number(1, 1<<31-1, &j.Version, nil), "oldest": number(1, 1<<31-1, &j.Oldest, nil), "was": r.was,
		}, nil
	case "retry":
		return map[string]values{
			"attempts": number(1, 1<<31-1, &j.Retry.Attempts, nil), "backoff": words(&j.Retry.Backoff, "fixed", "exponential"), "base": duration(&j.Retry.Base, nil),
			"cap": duration(&j.Retry.Cap, nil), "jitter": words(&j.Retry.Jitter, "full", "none"), "stalls": number(1, 1<<31-1, &j.Retry.Stalls, &j.Retry.NoStalls),
		}, nil
	case "result":
		j.Result = &ir.Result{}
		return map[string]values{"": typeName(&j.Result.Type)}, []string{""}
	case "progress":
		j.Progress = &ir.Result{}
		return map[string]values{"": typeName(&j.Progress.Type)}, []string{""}
	case "keep":
		return map[string]values{"completed": retention(&j.Keep.Completed), "failed": retention(&j.Keep.Failed), "logs": number(1, 10_000, &j.Keep.Logs, &j.Keep.NoLogs)}, nil
	case "unique":
		j.Unique = &ir.Unique{Fields: []ir.UniqueField{}}
		u := j.Unique
		return map[string]values{
			"by": fields(&u.Fields, 32, true), "until": words(&u.Until, "started", "finished", "removed"), "for": duration(&u.For, nil),
			"conflict": words(&u.Conflict, "existing", "replace", "error"),
		}, []string{"by"}
	case "group":
		return map[string]values{"by": r.group, "limit": number(1, 1<<31-1, &q.GroupLimit, nil)}, []string{"by"}
	case "batch":
		j.Batch = &ir.Batch{}
		return map[string]values{"size": number(1, 10_000, &j.Batch.Size, nil), "wait": duration(&j.Batch.Wait, nil)}, nil
	case "cron":
		j.Schedules = []ir.Schedule{{}}
		s := &j.Schedules[0]
		return map[string]values{
			"": r.known(at, &s.Cron, knownCrons), "every": duration(&s.Every, nil), "id": schedulerID(&s.ID),
			"tz": r.known(at, &s.Zone, knownZones), "misfire": words(&s.Misfire, "once", "skip"),
		}, nil
	}
	return nil, nil
}

func one(read func(text) bool) values {
	return func(v []text) bool { return len(v) == 1 && read(v[0]) }
}

var (
	goName      = regexp.MustCompile(`^[A-Z][A-Za-z0-9_]*$`)
	queueChars  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)
	idChars     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$`)
	wholeNumber = regexp.MustCompile(`^[+-]?[0-9]+$`)
	plainName   = regexp.MustCompile(`^[a-z][a-z0-9]*$`)
)

func matching(form *regexp.Regexp, into *string) values {
	return one(func(v text) bool { *into = v.string; return form.MatchString(v.string) })
}

// named reads a name, which may be none only in quotes.
func named(into *string, right func(string) bool) values {
	return one(func(v text) bool {
		*into = v.string
		return right(v.string) && (v.quoted || v.string != "none")
	})
}

func isQueueName(name string) bool { return queueChars.MatchString(name) && name != "emq" }

func isWireName(name string) bool {
	return name != "" && len(name) <= 255 && utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f })
}

func queueName(into *string) values   { return named(into, isQueueName) }
func wireName(into *string) values    { return named(into, isWireName) }
func schedulerID(into *string) values { return named(into, idChars.MatchString) }

func words(into *string, choice ...string) values {
	return one(func(v text) bool {
		*into = v.string
		for _, word := range choice {
			if v.string == word {
				return true
			}
		}
		return false
	})
}

// number reads a whole number; none is allowed where there is a place for it.
func number(least, most int64, into *int, none *bool) values {
	return one(func(v text) bool {
		if v.string == "none" && none != nil {
			*none = true
			return true
		}
		n, ok := new(big.Int).SetString(strings.TrimPrefix(v.string, "+"), 10)
		if !ok || !wholeNumber.MatchString(v.string) || n.Cmp(big.NewInt(least)) < 0 || n.Cmp(big.NewInt(most)) > 0 {
			return false
		}
		*into = int(n.Int64())
		return true
	})
}

func duration(into *ir.Duration, none *bool) values {
	return one(func(v text) bool {
		if v.string == "none" && none != nil {
			*none = true
			return true
		}
		d, ok := length(v.string)
		*into = d
		return ok
	})
}

var (
	durationForm = regexp.MustCompile(`^(?:([0-9]+)d)?((?:[0-9]+\.?[0-9]*(?:ns|us|ms|s|m|h)|\.[0-9]+(?:ns|us|ms|s|m|h))*)$`)
	durationPart = regexp.MustCompile(`([0-9.]+)(ns|us|ms|s|m|h)`)
	units        = map[string]int64{"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9, "h": 3600e9}
)

// length reads a duration: as in Go, with days in front; whole milliseconds,
// longer than nothing, and with room in 64 bits.
func length(s string) (ir.Duration, bool) {
	m := durationForm.FindStringSubmatch(s)
	if m == nil && !strings.Contains(s, "d") {
		m = durationForm.FindStringSubmatch(strings.TrimPrefix(s, "+"))
	}
	if m == nil || s == "" {
		return 0, false
	}
	total := new(big.Rat)
	if days, ok := new(big.Rat).SetString(m[1]); ok {
		total.Mul(days, big.NewRat(24*3600e9, 1))
	}
	for _, part := range durationPart.FindAllStringSubmatch(m[2], -1) {
		n, _ := new(big.Rat).SetString(strings.TrimSuffix(part[1], "."))
		total.Add(total, n.Mul(n, big.NewRat(units[part[2]], 1)))
	}
	milliseconds := new(big.Rat).Quo(total, big.NewRat(1e6, 1))
	if total.Sign() <= 0 || !milliseconds.IsInt() || !total.Num().IsInt64() {
		return 0, false
	}
	return ir.Duration(total.Num().Int64()), true
}

func rate(into *ir.Rate) values {
	return one(func(v text) bool {
		jobs, span, parted := strings.Cut(v.string, "/")
		per, ok := length(span)
		into.Per = per
		return parted && ok && time.Duration(per) <= 31*24*time.Hour && number(1, 1_000_000, &into.Jobs, nil)([]text{{jobs, false}})
	})
}

// retention reads an age, a count, or both, or none.
func retention(into *ir.Retention) values {
	return func(v []text) bool {
		if len(v) == 1 && v[0].string == "none" {
			into.None = true
			return true
		}
		for _, part := range v {
			var count int
			if number(1, 1<<31-1, &count, nil)([]text{part}) && into.Count == 0 {
				into.Count = count
			} else if age, ok := length(part.string); ok && into.Age == 0 {
				into.Age = age
			} else {
				return false
			}
		}
		return len(v) <= 2
	}
}

// fieldPaths are the fields of the payload that can be part of a key.
var fieldPaths = []string{"UserID", "Tenant", "Address.City", "Address.Zip"}

func fields(into *[]ir.UniqueField, most int, none bool) values {
	return func(v []text) bool {
		if len(v) == 1 && v[0].string == "none" && none {
			return true
		}
		seen := map[string]bool{}
		for _, field := range v {
			known := false
			for _, path := range fieldPaths {
				known = known || path == field.string
			}
			if !known || seen[field.string] {
				return false
			}
			seen[field.string] = true
			*into = append(*into, ir.UniqueField{Path: strings.Split(field.string, ".")})
		}
		return len(v) <= most
	}
}

func (r *reading) group(v []text) bool {
	var found []ir.UniqueField
	if !fields(&found, 1, false)(v) {
		return false
	}
	r.job.Group = &found[0]
	return true
}

func typeName(into *string) values {
	return one(func(v text) bool {
		*into = v.string
		return v.string == "Welcome" || v.string == "Address" || v.string == "Receipt" || v.string == "Percent"
	})
}

// knownCrons and knownZones are right; others may be.
var (
	knownCrons = []string{"0 9 * * mon-fri", "*/5 * * * *", "30 0 9 1 * *", "@daily"}
	knownZones = []string{"UTC", "Europe/Berlin", "America/New_York"}
)

func (r *reading) known(at int, into *string, right []string) values {
	return one(func(v text) bool {
		*into = v.string
		sure := false
		for _, known := range right {
			sure = sure || known == v.string
		}
		if !sure {
			r.unsure[at] = true
		}
		return v.string != ""
	})
}

func (r *reading) was(v []text) bool {
	for _, name := range v {
		queue, job, moved := strings.Cut(name.string, "/")
		if !moved {
			queue, job = "", name.string
		}
		if moved && !isQueueName(queue) || !isWireName(job) || !name.quoted && name.string == "none" {
			return false
		}
		r.job.Was = append(r.job.Was, ir.Former{Queue: queue, Name: job})
	}
	return len(v) <= 16
}
