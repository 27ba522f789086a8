package annotations

import "strings"

// synonym is an item by the words that other toolkits have for it, or that a
// person may use who does not look it up.
type synonym struct {
	item string
	// words are in lower case, without hyphens and underscores.
	words string
	// but says in what the item differs from what the words say. It is then not
	// for a tool to write the one in the place of the other.
	but string
}

// synonyms are those of the items of each directive. A word may stand for several
// items.
var synonyms = map[string][]synonym{
	"queue": {
		{item: "name", words: "queue queuename channel topic"},
		{item: "go", words: "goname identifier"},
		{item: "concurrency", words: "workers maxworkers numworkers workercount threads parallel parallelism processes slots poolsize prefetch"},
		{item: "limit", words: "maxactive maxinflight maxconcurrency globalconcurrency globallimit"},
		{item: "rate", words: "ratelimit limiter throttle maxrate"},
		{item: "lease", words: "lock lockduration locktimeout visibility visibilitytimeout ackwait ackdeadline reservefor"},
		{item: "events", words: "publish notify notifications"},
	},
	"retired": {
		{item: "name", words: "jobname old oldname was"},
		{item: "to", words: "action then become becomes"},
	},
	"job": {
		{item: "queue", words: "queuename channel topic"},
		{item: "name", words: "type kind jobname jobtype task taskname"},
		{item: "go", words: "goname identifier"},
		{item: "timeout", words: "timelimit deadline maxduration maxruntime runtime jobtimeout executiontimeout"},
		{item: "priority", words: "prio"},
		{item: "priority", words: "weight importance rank", but: "where 0 runs first"},
		{item: "delay", words: "after countdown defer startafter processin enqueuein runin"},
		{item: "codec", words: "encoding format serializer serialization encoder"},
		{item: "version", words: "v schema revision schemaversion"},
		{item: "oldest", words: "minversion oldestversion since"},
		{item: "was", words: "formerly oldname previously alias aliases aka renamedfrom"},
	},
	"retry": {
		{item: "attempts", words: "tries times maxattempts maxtries"},
		{item: "attempts", words: "retries maxretries maxretry retrycount retrylimit retry maxfails", but: "which counts the first one too"},
		{item: "backoff", words: "strategy policy curve"},
		{item: "base", words: "delay wait initial initialdelay interval min mindelay minbackoff retrydelay backoffdelay every"},
		{item: "cap", words: "max maxdelay maxwait maxinterval maxbackoff maximum ceiling"},
		{item: "jitter", words: "random randomize randomness noise"},
		{item: "stalls", words: "stalled maxstalled maxstalledcount maxstalls crashes losses"},
	},
	"result": {
		{words: "type result returns value"},
	},
	"progress": {
		{words: "type progress value"},
	},
	"keep": {
		{item: "completed", words: "success succeeded successful done finished removeoncomplete results"},
		{item: "completed", words: "ttl retention age expiry expires for max count"},
		{item: "failed", words: "failure failures error errors dead archived removeonfail"},
		{item: "failed", words: "ttl retention age expiry expires for max count"},
		{item: "logs", words: "loglines keeplogs maxlogs output"},
	},
	"unique": {
		{item: "by", words: "key keys field fields on args uniqueby per"},
		{item: "until", words: "scope lock while release till"},
		{item: "for", words: "ttl period window lockttl expiry expires within"},
		{item: "conflict", words: "onconflict mode policy strategy duplicate duplicates onduplicate ifexists"},
	},
	"group": {
		{item: "by", words: "key field on per name id"},
		{item: "limit", words: "concurrency max maxactive maxconcurrency parallel"},
	},
	"batch": {
		{item: "size", words: "max maxsize count limit batchsize maxcount"},
		{item: "wait", words: "delay linger maxwait maxdelay interval window timeout flush flushinterval within graceperiod"},
	},
	"cron": {
		{words: "schedule spec expr expression cron at"},
		{item: "every", words: "interval each period repeat"},
		{item: "id", words: "name key scheduler"},
		{item: "tz", words: "timezone zone location loc"},
		{item: "misfire", words: "catchup missed onmiss backfill"},
	},
}

// directiveSynonyms are the words for directives.
var directiveSynonyms = map[string]string{
	"queue":    "channel topic",
	"retired":  "removed deleted gone dropped",
	"job":      "task work payload message",
	"retry":    "retries",
	"result":   "returns return output response reply answer",
	"progress": "percent",
	"keep":     "retention retain ttl expire expiry expires",
	"unique":   "dedupe dedup deduplicate deduplication once singleton idempotent",
	"group":    "partition tenant fair fairness",
	"batch":    "bulk",
	"cron":     "schedule scheduled periodic recurring repeat repeatable",
}

// valueSynonyms are words for the values of items, by directive and key.
var valueSynonyms = map[string]map[string]string{
	"queue events":    {"none": "off no false never nothing disabled", "final": "end finished done", "all": "on yes true every everything verbose"},
	"retired to":      {"failed": "error dead", "discard": "delete drop ignore remove complete completed"},
	"job timeout":     {"none": "off no false never disabled unlimited infinite forever"},
	"job codec":       {"msgpack": "messagepack mpack"},
	"retry backoff":   {"fixed": "constant static same", "exponential": "double doubling"},
	"retry jitter":    {"full": "on yes true random", "none": "off no false never"},
	"keep completed":  {"none": "off no false never disabled"},
	"keep failed":     {"none": "off no false never disabled"},
	"keep logs":       {"none": "off no false never disabled"},
	"unique until":    {"started": "running executing processing", "finished": "done end ended completed success succeeded", "removed": "deleted gone expired"},
	"unique conflict": {"existing": "ignore keep skip drop old", "replace": "overwrite update new newest", "error": "fail reject raise refuse"},
	"cron misfire":    {"once": "latest last run one", "skip": "ignore drop none no"},
}

// fieldTagSynonyms are words for the values of the struct tag.
var fieldTagSynonyms = map[string]string{
	TagRedact: "redacted secret sensitive private hidden hide mask masked pii",
	TagPublic: "visible safe show",
}

// folded returns a word as synonyms are written: MaxRetries and max_retries are
// one.
func folded(word string) string {
	return strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(word))
}

// hasWord reports whether word is one of those in a list.
func hasWord(list, word string) bool {
	for candidate := range strings.FieldsSeq(list) {
		if candidate == word {
			return true
		}
	}
	return false
}

// meantItems returns the items of the directive for which word is a synonym.
func (s *Spec) meantItems(word string) []synonym {
	word = folded(word)
	var found []synonym
	for _, candidate := range synonyms[s.Name] {
		if hasWord(candidate.words, word) {
			found = append(found, candidate)
		}
	}
	return found
}

// nearSynonym returns the synonym of an item of the directive that a person who
// typed word most likely meant, or "".
func (s *Spec) nearSynonym(word string) string {
	const short = 3
	if word = folded(word); len(word) <= short {
		return ""
	}
	var words []string
	for _, candidate := range synonyms[s.Name] {
		for w := range strings.FieldsSeq(candidate.words) {
			if len(w) > short {
				words = append(words, w)
			}
		}
	}
	return Nearest(word, words)
}

// meantValue returns the value of an item of the directive for which word is a
// synonym, or "".
func meantValue(spec *Spec, item *Item, word string) string {
	for value, words := range valueSynonyms[spec.Name+" "+item.Key] {
		if hasWord(words, folded(word)) {
			return value
		}
	}
	return ""
}

// MeantDirective returns the name of the directive that a person who typed word
// most likely meant, or "".
func MeantDirective(word string) string {
	for name, words := range directiveSynonyms {
		if hasWord(words, folded(word)) {
			return name
		}
	}
	return Nearest(word, names())
}

// instead returns the rule that a value breaks for which another one is proposed,
// with the rule's arguments.
func instead(item *Item, v Value, meant string) (*Rule, []any) {
	hint := DidYouMean(meant, meant)
	switch item.Kind {
	case KindDuration:
		hint.Message = quoteOdd(v.Text) + " is not a duration" + hint.Message
		return RuleDuration, []any{hint}
	case KindInt:
		hint.Message = item.wants() + hint.Message
		return RuleNumber, []any{quoteOdd(v.Text), item.title(), hint}
	case KindKeep:
		hint.Message = "did you mean " + item.title() + "=" + meant + "?"
		return RuleKeep, []any{item.title(), hint}
	}
	return RuleWord, []any{quoteOdd(v.Text), item.title(), item.wants(), hint}
}
