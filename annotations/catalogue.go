package annotations

import (
	"slices"
	"strings"
)

// Rules returns the catalogue of everything that can be wrong, by code.
func Rules() []*Rule {
	return slices.SortedFunc(slices.Values(catalogue), func(a, b *Rule) int { return strings.Compare(a.Code, b.Code) })
}

// RuleByCode returns the rule with the given code, or nil.
func RuleByCode(code string) *Rule {
	for _, r := range catalogue {
		if r.Code == code {
			return r
		}
	}
	return nil
}

// catalogue holds every rule. A rule that is retired leaves its code unused.
var catalogue []*Rule

func rule(code, title, format, explanation string) *Rule {
	r := &Rule{Code: code, Title: title, format: format, Explanation: explanation}
	catalogue = append(catalogue, r)
	return r
}

// Where a directive stands, and what it is called.
var (
	RuleNearMiss = rule("E001", "not quite a directive",
		"%q is not a directive and would be ignored; write //emq:%s",
		"A directive begins directly after the slashes with emq: in small letters, without a space anywhere before its name. Go takes anything else for an ordinary comment, so the job would silently not exist.")
	RuleUnknownDirective = rule("E002", "unknown directive",
		"unknown directive //emq:%s; there are %s%s",
		"The name after //emq: is not one of the directives of this version. Nothing that begins with //emq: is ignored.")
	RuleDetached = rule("E003", "directive attached to nothing",
		"//emq:%s is attached to nothing; put it directly above %s, with no blank line between",
		"A directive belongs to the declaration that follows it in the next line. With a blank line between, Go does not connect them.")
	RuleWrongPlace = rule("E004", "directive on the wrong declaration",
		"//emq:%s stands on %s; it belongs directly above %s",
		"Each directive has one place: queues are declared above the package clause, and everything about a job above the struct type that is its payload.")
	RuleOnGroup = rule("E005", "directive above a group of types",
		"//emq:%s stands above a group of types; put it above one type inside the parentheses",
		"A comment above type ( ... ) belongs to the group, so it is not known which type is meant.")
	RuleDuplicateDirective = rule("E006", "directive written twice",
		"//emq:%s stands twice on %s; the first is in line %d",
		"One declaration carries a directive once. Write all its items in one line.")
	RuleNeedsJob = rule("E007", "directive without a job",
		"//emq:%s says something about a job, but %s has no //emq:job; write that above it too",
		"A type becomes a job by //emq:job. The other directives only add to it.")
	RuleInTest = rule("E008", "directive in a test file",
		"//emq:%s stands in a test file; declare queues and jobs in files that are part of the package",
		"Generated code is part of the package, where types of test files do not exist.")
	RuleInConstrained = rule("E009", "directive in a file with build constraints",
		"//emq:%s stands in a file with build constraints (%s); move it to a file that is always built",
		"The generated file is built everywhere. A payload that exists only in some builds would break the others, or be left out without a word.")
)

// What stands after the name of a directive.
var (
	RuleSyntax = rule("E010", "items that cannot be read",
		"%s",
		"Items are separated by spaces. Each is key=value or a plain value, with no space around = and commas; a value with a space, comma or quote in it is written as a Go string.")
	RuleUnknownItem = rule("E011", "unknown item",
		"unknown item %s of //emq:%s, which takes %s%s",
		"Each directive takes the items of its row in the table, and nothing else.")
	RuleDuplicateItem = rule("E012", "item written twice",
		"%s is given twice; the first is at column %d",
		"Each item is given once, as it would not be known which one holds.")
	RuleMissingItem = rule("E013", "required item missing",
		"//emq:%s needs %s",
		"The directive means nothing without this item.")
	RuleEmptyDirective = rule("E014", "directive says nothing",
		"//emq:%s has no items, so it says nothing; it takes %s",
		"The directive only carries settings. Without one it has no effect, which is hardly what was meant.")
	RuleOneValue = rule("E015", "too many values",
		"%s takes %s, not %d values",
		"Only the items that say so take a list.")
	RuleZero = rule("E016", "zero used for off",
		"0 does not switch %s off; %s",
		"Zero could mean at once, never or the default. The only way to switch something off is the word none, where the table allows it.")
	RuleNotOff = rule("E017", "cannot be switched off",
		"%s cannot be none; it takes %s",
		"This item has no off. Leave it out to have its default.")
	RuleNoUnit = rule("E018", "duration without a unit",
		"%s has no unit; did you mean %s?",
		"A bare number could be milliseconds, seconds or minutes.")
	RuleDuration = rule("E019", "duration that cannot be used",
		"%s",
		"Durations are written as in Go, and with d for days: 500ms, 30s, 1h30m, 14d. They are whole milliseconds, because the wire carries milliseconds, and not negative.")
	RuleNumber = rule("E020", "not a whole number in range",
		"%s is not right for %s, which takes %s",
		"The item takes a whole number within the limits that the message gives.")
	RuleWord = rule("E021", "unknown word",
		"unknown value %s of %s, which takes %s%s",
		"The item takes one of a few words.")
	RuleQueueName = rule("E022", "queue name that the protocol does not allow",
		"%s",
		"A queue's name has 1 to 128 characters: letters, digits, '.', '_' and '-', of which the first is a letter or a digit.")
	RuleWireName = rule("E023", "job name that cannot be used",
		"job name %q %s",
		"A job's wire name has 1 to 255 bytes of printable UTF-8.")
	RuleGoName = rule("E024", "not an exported Go name",
		"%s is not an exported Go identifier, which begins with an upper-case letter%s",
		"The name becomes a part of generated identifiers, exactly as it is written.")
	RuleTypeName = rule("E025", "not the name of a type",
		"%s is not the name of an exported type of this package%s",
		"A result, and a progress, is one exported type of the same package, without stars, brackets or dots. For a type of another package declare an alias: type Receipt = other.Receipt.")
	RuleKeep = rule("E026", "unclear retention",
		"%s takes one age and one count, such as 24h,1000; %s",
		"A retention is an age, a count, or both in either order; both then hold. A number without a unit is a count of jobs: 24 hours are 24h.")
	RuleRate = rule("E027", "rate that cannot be used",
		"%s is not a rate: %s",
		"A rate is a whole number of jobs, at most 1,000,000, that may start in a length of time of at most 31 days.")
	RuleCron = rule("E028", "time that cannot be read",
		"%s",
		"A cron expression has minute, hour, day of month, month and day of week, or before them a second; or it is @yearly, @monthly, @weekly, @daily or @hourly. It must come at least once in five years. A time zone is one of the IANA database, which is looked up where the generator runs and again where the program does; Local is none, because machines differ in it.")
	RuleSchedulerID = rule("E029", "id of a schedule that cannot be used",
		"%s",
		"The id of a schedule has 1 to 200 characters: letters, digits, '.', '_' and '-', of which the first is a letter or a digit. By default it is the job's wire name.")
)

// How queues and jobs fit together.
var (
	RuleQueueFiles = rule("E030", "queues in several files",
		"the queues of a package stand in one package comment; there are others in %s",
		"With all queues in one place a reader finds them, and two people who add one see each other's.")
	RuleDuplicateQueue = rule("E031", "queue declared twice",
		"queue %q is declared twice; the first is in line %d",
		"One directive declares a queue.")
	RuleNeedsGoName = rule("E032", "queue without a Go name",
		"queue %q needs a Go name: add go=%s, or what suits better",
		"Only a name of the form [a-z][a-z0-9]* is turned into a Go name by itself. Others are never re-cased; choose the name in go=.")
	RuleNoJobs = rule("E033", "queue without jobs",
		"queue %q has no jobs; put //emq:job above a struct type of this package",
		"A queue without jobs has a producer that can add nothing. Often the directive of the jobs is misspelled, or they stand in another package.")
	RuleNoQueue = rule("E034", "job without a queue",
		"%s is a job, but the package declares no queue; put //emq:queue name=%s above a package clause",
		"Every job belongs to a queue of its package.")
	RuleWhichQueue = rule("E035", "job that does not name its queue",
		"the package has several queues (%s); name the one of %s: //emq:job queue=%s",
		"Where a package declares several queues, each job says to which it belongs.")
	RuleUnknownQueue = rule("E036", "unknown queue",
		"the package declares no queue %q; it has %s%s",
		"A job belongs to a queue that a //emq:queue of the same package declares, by its wire name.")
	RuleDuplicateJob = rule("E037", "two jobs with one wire name",
		"queue %q has two jobs called %q; the other is %s at %s",
		"A worker finds the handler of a job by queue and wire name, so the name is unique in its queue.")
	RuleNoRetry = rule("E038", "settings of retries without retries",
		"%s has no effect, because attempts=1 never retries; drop it, or allow more attempts",
		"With a single attempt there is no wait whose length could be set.")
	RuleCapBelowBase = rule("E039", "cap below base",
		"cap %s is shorter than base %s",
		"The first wait would already be longer than the longest one allowed.")
	RuleCapOfFixed = rule("E040", "cap of a wait that does not grow",
		"cap has no effect, because backoff=fixed always waits for base; drop one of them",
		"Only an exponential wait grows and can be capped.")
	RuleBaseOverCap = rule("E041", "base above the default cap",
		"base %s is longer than cap %s; set cap too",
		"Every wait would be cut to the default cap, and base would have no effect.")
	RuleResultDropped = rule("E042", "result that is not kept",
		"%s has a result, which keep completed=none would drop before anyone reads it",
		"The result is stored with the completed job, so the job must be kept at least until the result was read.")
	RuleBatchWait = rule("E043", "batch that waits too long",
		"a batch cannot wait %s, which is %s",
		"Each job of a batch is an attempt that has begun, and whose timeout runs while it waits for others.")
	RuleBatchSize = rule("E044", "batch that can never be full",
		"a batch of %d jobs can never be full, because queue %q has concurrency=%d; raise it, or lower size",
		"Each job of a batch takes a slot of the worker, so a batch is never larger than the concurrency.")
	RuleCronWhich = rule("E045", "unclear when the job repeats",
		"%s",
		"A job repeats at the times of a cron expression in a time zone, or at an interval of 100ms to 366 days.")
	RuleDuplicateSchedule = rule("E046", "two schedules with one id",
		"queue %q has two schedules called %q; the other is in line %d; give one of them an id=",
		"The id names a schedule in its queue. A job that repeats in several ways has an id for each.")
	RulePayloadFunc = rule("E047", "no function for the payloads of a job that repeats",
		"%s",
		"The payload of each slot is made by a function of the package, with the job's Go name after schedule. An empty struct needs none.")
)

// What the types look like.
var (
	RuleUnexported = rule("E050", "payload that is not exported",
		"%s is not exported; a payload is part of the exported functions that are generated, so call it %s",
		"Generated methods such as EnqueueWelcome take the payload as a parameter and are called from other packages.")
	RuleGeneric = rule("E051", "generic payload, result or progress",
		"%s has type parameters; a job's types are concrete",
		"A job has one wire name and one contract. Declare a concrete struct type and use the generic type in its fields.")
	RuleUnresolved = rule("E052", "type that cannot be resolved",
		"the type of %s cannot be resolved: %s",
		"Whether a payload can cross the wire is known only when its types are. Code that does not compile elsewhere is no hindrance. A payload cannot depend on code that emqgen generates, nor on a generic type that contains ever larger instances of itself.")
	RuleCannotCross = rule("E053", "type that cannot cross the wire",
		"%s cannot cross the wire: %s",
		"Payloads and results travel as JSON. Channels, functions, complex numbers and pointers of package unsafe have no JSON form, and an interface with methods cannot be decoded. Leave the field out with the tag json:\"-\", or give the type MarshalJSON and UnmarshalJSON.")
	RuleHiddenField = rule("E054", "field that would silently vanish",
		"%s is not exported, so it would silently vanish on the wire; %s",
		"JSON carries exported fields only. The worker would see the zero value.")
	RuleMapKey = rule("E055", "map key that JSON does not allow",
		"%s cannot cross the wire: %s cannot be the key of a JSON object",
		"Keys are strings, whole numbers, or types with MarshalText and UnmarshalText. A key that is not a string has both of these methods, or neither.")
	RuleOneWay = rule("E056", "type that is written but not read back",
		"%s cannot cross the wire: %s has %s but no %s, so what is written would not be read back",
		"A payload is encoded by the producer and decoded by the worker, a result the other way round. Both need their own half.")
	RuleFieldName = rule("E057", "two fields with one JSON name",
		"%s and %s both have the JSON name %q, so at least one would silently vanish on the wire; rename one, or leave it out on purpose with the tag json:\"-\"",
		"encoding/json writes at most one of the fields that claim a name, and none where two of one depth do. Fields of embedded structs count as fields of the struct around them.")
	RuleTag = rule("E058", "struct tag that has no effect",
		"%s",
		"A tag that encoding/json cannot read, a name that it does not take, or an option that it does not know, is ignored without a word.")
	RulePointerReceiver = rule("E059", "encoding that is not called",
		"%s cannot cross the wire: %s of %s has a pointer receiver, which encoding/json does not call for a value here; %s",
		"A payload is encoded as a value, and a value in a map always is. Its method with a pointer receiver would silently be passed over.")
)

// What a codec other than JSON needs.
var (
	RuleNoCodec = rule("E069", "type for which no encoder can be generated",
		"%s cannot be encoded with codec=msgpack: %s",
		"The encoders and decoders of codec=msgpack are generated for exactly the types that a payload consists of, so those are known and can be named.")
)

// What makes two jobs the same.
var (
	RuleFieldPath = rule("E070", "not the name of a field",
		"%s is not the name of a field; names are joined by dots, as in Address.City",
		"Fields are written as in Go, beginning with one of the payload.")
	RuleUnknownField = rule("E071", "unknown field",
		"%s has no field %s%s",
		"A unique key is computed from fields of the payload, and a group is named by one.")
	RuleUniqueField = rule("E072", "field that cannot be part of a unique key",
		"%s cannot be part of a unique key: %s",
		"Every runtime, in every language, must compute the same key from what crosses the wire. So a field crosses the wire, and its value has one form only: truth values, whole numbers, strings, bytes ([]byte), time.Time, and types that MarshalText writes; or pointers to these.")
	RuleUniqueTwice = rule("E073", "field named twice",
		"%s is named twice; the first is at column %d",
		"A field that is named again adds nothing to the key. Another one was meant, perhaps.")
	RuleUniqueRemoved = rule("E074", "key held until a deletion that is the end",
		"until=removed has no effect, because keep completed=none failed=none deletes the job as it ends; write until=finished, or keep it",
		"A key is held until the job is deleted only if the job is kept for a while after its end.")
	RuleGroupField = rule("E075", "field that cannot name a group",
		"%s cannot name a group: %s",
		"Every runtime, in every language, must find the same group from what crosses the wire. So the field crosses the wire, and its value has one form only: truth values, whole numbers, strings, bytes ([]byte), time.Time, and types that MarshalText writes; or pointers to these.")
	RuleGroupLimit = rule("E076", "two limits for the groups of one queue",
		"limit=%d differs from limit=%d of %s: the groups of queue %q have one limit; leave it out here, or write the same",
		"A group is a queue's, and may have jobs of several types. So how many of its jobs may be active is said once for the queue.")
)

// How the generated file fits into its package.
var (
	RuleNameTaken = rule("E060", "generated name already declared",
		"%s would generate %s, which is already declared at %s; choose another name with go=",
		"Generated identifiers are the Go names of queues and jobs with a fixed prefix or suffix. They must not meet what the package declares itself, in its test files too.")
	RuleNamesCollide = rule("E061", "two generated names are the same",
		"%s and %s would both generate %s; choose another name for one of them with go=",
		"The generated identifiers of queues and jobs share one scope.")
	RuleShadowed = rule("E062", "package declares a name of the language",
		"the package declares %s, which hides the predeclared identifier that generated code needs; rename it",
		"Inside the package the name would mean something else than in the language, in generated code too.")
	RuleForeignFile = rule("E063", "file that is not ours",
		"%s was not written by emqgen, which would overwrite it; rename it",
		"The generated file is always called emq_gen.go. A file of that name without the header of emqgen above its package clause may be yours. So may one without it that is called as what -lang writes.")
	RuleBrokenFile = rule("E064", "source file that cannot be parsed",
		"%s",
		"A file with a syntax error may hide directives, so nothing is generated until it is mended. Errors of types are no hindrance.")
)

// What a change would do to jobs that are enqueued, and to programs that run.
var (
	RuleLockConflict = rule("E080", "lock with a merge conflict",
		"the sides of a merge have different blocks of job %s in emq.lock; keep the block of the one side whole, without the markers, raise the job's version once more for what the other side changed, then generate again",
		"The lock says what jobs look like that are enqueued already. Where the sides of a conflict are about different jobs, or about fields of one that may be absent, both are remembered, and the markers go by themselves. Otherwise, which side is true of one job cannot be guessed, and nothing is compared before that is resolved.")
	RuleLockDamaged = rule("E081", "lock that cannot be read",
		"emq.lock cannot be read: %s; restore it from version control",
		"The lock is written by emqgen. Without it nobody knows which changes the jobs that are enqueued would not survive. Only for a package of which nothing has been deployed yet it may be deleted.")
	RuleFieldRemoved = rule("E082", "field removed",
		"%s is gone, but %q is in each job that is enqueued, and programs that run rely on it; keep it, raise the version (//emq:job %s), or accept the break (emqgen -accept %s)",
		"Only a field that may be absent can be removed without a new version: a pointer, slice or map, or one that is tagged omitempty or omitzero. With a new version, workers of the old one give new jobs back unharmed, and this package turns old payloads into new ones.")
	RuleFieldRenamed = rule("E083", "field renamed",
		"%s is called %q on the wire now, and jobs that are enqueued call it %q; keep the name in the tag, raise the version (//emq:job %s), or accept the break (emqgen -accept %s)",
		"What crosses the wire goes by its JSON name. The name in Go may change: the tag keeps the one on the wire.")
	RuleFieldRetyped = rule("E084", "field with another type",
		"%s is %s on the wire now, and jobs that are enqueued have %s; raise the version (//emq:job %s), or accept the break (emqgen -accept %s)",
		"A value of the old type may not be readable as one of the new type, by workers that run or by the ones to come. That holds for wider numbers too: a worker of the old program would meet numbers that it has no room for.")
	RuleFieldRequired = rule("E085", "field that jobs lack",
		"%s is not in jobs that are enqueued; tag it omitempty or omitzero, or make it a pointer, so that its absence is usual, raise the version (//emq:job %s), or accept the break (emqgen -accept %s)",
		"A new field is zero in every job that was enqueued before it. The tag says that handlers know this. Otherwise a new version lets an upgrade function fill it in.")
	RuleFieldRelaxed = rule("E086", "field that may be absent now",
		"%s may be absent now, and programs that run take its absence for zero; raise the version (//emq:job %s), or accept the break (emqgen -accept %s)",
		"A worker of the old program reads a job without the field as one in which it is zero. With a new version it gives the job back instead.")
	RuleResultChanged = rule("E087", "result that came or went",
		"%s has %s now, and programs that run expect %s; raise the version (//emq:job %s), or accept the break (emqgen -accept %s)",
		"Whoever awaits the result of a job that an older worker handled, or the other way round, would get one that is empty. With a new version old workers do not handle new jobs.")
	RuleRecoded = rule("E088", "another codec",
		"%s is encoded as %s now, and jobs that are enqueued as %s; raise the version (//emq:job %s), or accept the break (emqgen -accept %s)",
		"A job carries the name of its codec. Every worker reads JSON, but only one whose job has codec=msgpack reads msgpack; others give such jobs back, again and again.")
	RuleJobGone = rule("E089", "job that is gone",
		"job %q of queue %q is no longer declared, but may still be enqueued; write was=%[3]s above the job that it is now, or //emq:retired %[4]s to=failed above the package clause, or accept that nobody handles it (emqgen -accept %[3]s)",
		"Jobs that no worker knows are given back, again and again. So a job that goes, or whose name or queue changes, leaves something to be done about those that are enqueued.")
	RuleVersionLowered = rule("E090", "version lowered",
		"%s had version %d and has version %d now, so workers that run could not tell old payloads from new ones; raise it, or accept the break (emqgen -accept %[4]s)",
		"A version that was used is used up. The one after a mistake is a higher one.")
	RuleOldest = rule("E091", "oldest version that is newer than the current one",
		"oldest=%d is above version %d, which is the one that the job has",
		"The oldest version that is read is at most the current one.")
	RuleWas = rule("E092", "former name that the job cannot have had",
		"%s",
		"A job has a name on the wire, by which a worker finds its handler. A former one belongs to nobody else, and its queue is one that this package declares, because only workers of that queue find jobs there.")
	RuleRetired = rule("E093", "retired job that cannot be one",
		"%s",
		"A retired job is one that was declared here and is no longer. The workers of its queue end the jobs that are still enqueued.")
	RuleFormerUnknown = rule("E094", "former job that the lock does not know",
		"emq.lock knows no job %q of queue %q%s",
		"What was enqueued from this package stands in its lock. A name that does not is hardly the right one.")
	RuleWasDropped = rule("E095", "former name that is dropped",
		"%s was %s, and jobs that are enqueued may still be called so; keep was=%s, or accept that nobody handles them (emqgen -accept %s)",
		"A former name can go when no job is enqueued under it any more, which the generator cannot know.")
	RuleOlderType = rule("E096", "older version that cannot be read",
		"version %d of %s cannot be read any more: %s; end it, with oldest=%d",
		"The types of older payloads are generated from the lock. A type with its own encoding is not in the lock, so the package keeps it for as long as old payloads have it.")
	RuleUpgradeMissing = rule("E097", "new version without the function that leads to it",
		"jobs of version %d of %s may be enqueued, and nothing turns their payloads into new ones; write func %s(old %s) (%s, error), or end the version with oldest=%d",
		"Workers read payloads of older versions, and handlers see current ones only. The step between two versions is a function of the package. The type that it takes is generated, from what the lock remembers, so write the function with an empty body first if you want to see its fields.")
)
