package header_test

// lockLines are those from the lock of the example to the first field, and
// schedulerLines the same with a scheduler in the place of the lock.
const (
	lockLines = "string <id>:lock the token\n--- @arg lease ms how long\n--- @item id id the job's id\n" +
		"--- @item outcome word(completed|failed) what came of it\n"
	schedulerLines = "hash scheduler:<scheduler> the scheduler\n--- @item id id the job's id\n--- @item scheduler scheduler its id\n"
)

// faults are changes to the example, and the diagnostics that each must give.
var faults = []struct {
	name, old, new string
	want           []string
}{
	{"no header", example, "return 1\n", []string{
		`move.lua:1:1: no header: the file must begin with a line that begins with "---"`,
	}},
	{"empty", example, "", []string{
		`move.lua:1:1: no header: the file must begin with a line that begins with "---"`,
	}},
	{"another name", "move moves", "moves moves", []string{
		`move.lua:1:1: the documentation begins with "moves"; its first word must be the script's name, "move", which is the file's`,
	}},
	{"no documentation", "--- move moves jobs.\n---\n--- More about it.\n", "", []string{
		`move.lua:1:1: the documentation begins with ""; its first word must be the script's name, "move", which is the file's`,
	}},
	{"no space", "--- @memory", "---@memory", []string{
		`move.lua:1:1: no @memory: say whether the script is refused, drains or reads when memory is used up`,
		`move.lua:5:4: write a space after "---"`,
	}},
	{"unknown declaration", "@each lock", "@eahc lock", []string{
		`move.lua:9:5: unknown declaration "@eahc" (did you mean "@each"?)`,
	}},
	{"text after a declaration", "--- @arg lease", "--- and more\n--- @arg lease", []string{
		`move.lua:10:5: text after the first declaration; a declaration is one line, and documentation stands above the first`,
	}},
	{"stores what is no field", "--- @reply now", "--- @stores nmae job lease\n--- @reply now", []string{
		`move.lua:16:13: no field "nmae" of "job" is declared (did you mean "name"?)`,
	}},
	{"stores in data", "--- @reply now", "--- @stores * reserved lease\n--- @reply now", []string{
		`move.lua:16:13: no field "*" of "reserved" is declared`,
	}},
	{"stores what is no argument", "--- @reply now", "--- @stores name job laese\n--- @reply now", []string{
		`move.lua:16:22: no @arg or @item "laese" is declared (did you mean "lease"?)`,
	}},
	{"stores twice", "--- @reply now", "--- @stores name job lease\n--- @stores name job lease\n--- @reply now", []string{
		`move.lua:17:13: it is declared twice that field "name" of "job" takes the value of "lease"`,
	}},
	{"wrong order", "--- @memory drains\n--- @key meta hash the queue's version\n", "--- @key meta hash the queue's version\n--- @memory drains\n", []string{
		`move.lua:6:5: @memory stands too late; the order is @memory, @key, @each, @arg, @item, @field, @stores, @reply, @record, @error, @special`,
	}},
	{"no memory", "--- @memory drains\n", "", []string{
		`move.lua:1:1: no @memory: say whether the script is refused, drains or reads when memory is used up`,
	}},
	{"unknown memory", "drains", "drain", []string{
		`move.lua:5:13: unknown @memory "drain" (did you mean "drains"?); it is one of refused, drains, reads`,
	}},
	{"two memories", "--- @memory drains\n", "--- @memory drains\n--- @memory reads\n", []string{
		`move.lua:6:13: a second @memory; a script has one`,
	}},
	{"memory with text", "@memory drains", "@memory drains always", []string{
		`move.lua:5:20: @memory takes no more; write @memory refused|drains|reads`,
	}},
	{"key without a type", "@key meta hash the queue's version", "@key meta", []string{
		`move.lua:6:5: @key lacks TYPE; write @key SUFFIX TYPE TEXT`,
		`move.lua:13:20: no key "meta" is declared`,
	}},
	{"key without text", "@key meta hash the queue's version", "@key meta hash", []string{
		`move.lua:6:5: @key lacks its text; write @key SUFFIX TYPE TEXT`,
		`move.lua:13:20: no key "meta" is declared`,
	}},
	{"unknown key", "@key reserved", "@key reservd", []string{
		`move.lua:7:10: a queue has no key "reservd" (did you mean "reserved"?)`,
		`move.lua:15:14: no key "reserved" is declared`,
	}},
	{"unknown type", "@key reserved hash", "@key reserved hsah", []string{
		`move.lua:7:19: unknown type "hsah" (did you mean "hash"?); it is one of hash, list, zset, set, string, stream`,
	}},
	{"type of another key", "@key reserved hash", "@key reserved zset", []string{
		`move.lua:7:19: the protocol has a hash here, not a zset`,
	}},
	{"key twice", "@key reserved hash", "@key meta hash", []string{
		`move.lua:7:10: key "meta" is declared twice`,
		`move.lua:15:14: no key "reserved" is declared`,
	}},
	{"pattern without an id", "<id>:lock", "lock", []string{
		`move.lua:9:23: pattern "lock" is none of <id>, <id>:PART and scheduler:<scheduler>`,
	}},
	{"pattern with an empty part", "<id>:lock", "<id>:", []string{
		`move.lua:9:23: pattern "<id>:" is none of <id>, <id>:PART and scheduler:<scheduler>`,
	}},
	{"pattern with another part", "<id>:lock", "<id>:lokc", []string{
		`move.lua:9:23: a job has no key "lokc" (did you mean "lock"?)`,
	}},
	{"pattern twice", "string <id>:lock", "hash <id>", []string{
		`move.lua:9:21: key "lock" has the same pattern as "job"`,
	}},
	{"name of an item's key", "@each lock", "@each Lock", []string{
		`move.lua:9:11: name "Lock" is not a lower-case letter followed by letters, digits and '-'`,
	}},
	{"no id", "--- @item id id the job's id\n", "", []string{
		`move.lua:8:11: key "job" is built from the item's id; declare @item id id`,
	}},
	{"unknown kind", "@arg lease ms", "@arg lease msec", []string{
		`move.lua:10:16: unknown kind "msec" (did you mean "ms"?); here it is one of int, ms, flag, id, scheduler, string, bytes, word`,
	}},
	{"kind of a reply", "@arg lease ms", "@arg lease hash", []string{
		`move.lua:10:16: unknown kind "hash"; here it is one of int, ms, flag, id, scheduler, string, bytes, word`,
	}},
	{"argument twice", "--- @item id", "--- @arg lease ms again\n--- @item id", []string{
		`move.lua:11:10: "lease" is declared twice`,
	}},
	{"argument and item", "@item outcome", "@item lease", []string{
		`move.lua:12:11: "lease" is an @arg and an @item`,
	}},
	{"words without words", "word(completed|failed)", "word", []string{
		`move.lua:12:19: kind word lacks its words; write word(a|b)`,
	}},
	{"words that are not closed", "word(completed|failed)", "word(completed|failed", []string{
		`move.lua:12:19: "word(completed|failed" has no closing parenthesis, or blanks in it`,
	}},
	{"empty word", "word(completed|failed)", "word(completed|)", []string{
		`move.lua:12:19: "" is not a word: a lower-case letter, then letters, digits and '-'`,
	}},
	{"word twice", "word(completed|failed)", "word(failed|failed)", []string{
		`move.lua:12:19: word "failed" stands twice`,
	}},
	{"field of an unknown key", "@field version meta", "@field version mtea", []string{
		`move.lua:13:20: no key "mtea" is declared (did you mean "meta"?)`,
	}},
	{"field of a string", "@field version meta", "@field version lock", []string{
		`move.lua:13:20: key "lock" is a string; only a hash has fields`,
	}},
	{"unknown field of a job", "@field name job", "@field nmae job", []string{
		`move.lua:14:12: a job has no field "nmae" (did you mean "name"?)`,
	}},
	{"no scheduler", "string <id>:lock", "hash scheduler:<scheduler>", []string{
		`move.lua:9:11: key "lock" is built from the item's scheduler; declare @item scheduler scheduler`,
	}},
	{"type of a scheduler", "<id>:lock", "scheduler:<scheduler>", []string{
		`move.lua:9:11: key "lock" is built from the item's scheduler; declare @item scheduler scheduler`,
		`move.lua:9:16: the protocol has a hash here, not a string`,
	}},
	{"unknown field of a scheduler", lockLines, schedulerLines + "--- @field evry lock\n", []string{
		`move.lua:12:12: a scheduler has no field "evry" (did you mean "every"?)`,
	}},
	{"data of a scheduler", lockLines, schedulerLines + "--- @field * lock\n", []string{
		`move.lua:12:12: a scheduler's fields are names, not data; declare each that the script uses`,
	}},
	{"data of a job", "@field name job", "@field * job", []string{
		`move.lua:14:12: a job's fields are names, not data; declare each that the script uses`,
	}},
	{"field twice", "--- @field name job", "--- @field version meta\n--- @field name job", []string{
		`move.lua:14:12: field "version" of "meta" is declared twice`,
	}},
	{"record of nothing", "@record results job", "@record result job", []string{
		`move.lua:19:13: no @reply "result" is declared (did you mean "results"?)`,
	}},
	{"record of a number", "@record results job", "@record now job", []string{
		`move.lua:19:13: reply "now" is of kind ms; only one of kind records has records`,
	}},
	{"records in a record", "results job hash", "results job records", []string{
		`move.lua:19:25: unknown kind "records"; here it is one of int, ms, flag, id, scheduler, string, bytes, word, ids, hash`,
	}},
	{"records without a record", "--- @record results verdict word(done|lost) what happened\n--- @record results job hash the job\n", "", []string{
		`move.lua:17:12: reply "results" is of kind records but has no @record`,
	}},
	{"no reply", "--- @reply now ms the clock\n--- @reply results records one per item\n--- @record results verdict word(done|lost) what happened\n--- @record results job hash the job\n", "", []string{
		`move.lua:1:1: no @reply: say what the script answers`,
	}},
	{"code of an error", "EMQARGS", "EMQArgs", []string{
		`move.lua:20:12: error code "EMQArgs" is not EMQ and capital letters`,
	}},
	{"special of itself", "return { 1", "--- @special move lease=1\nreturn { 1", []string{
		`move.lua:21:14: "move" is this script; what is derived from it has a name of its own`,
	}},
	{"special of what is not there", "return { 1", "--- @special quick leas=1\nreturn { 1", []string{
		`move.lua:21:14: no @arg or @item "leas" is declared (did you mean "lease"?)`,
	}},
	{"special of an id", "return { 1", "--- @special quick id\nreturn { 1", []string{
		`move.lua:21:14: "id" is of kind id, which cannot be fixed`,
	}},
	{"special of no value", "return { 1", "--- @special quick lease=1|x outcome=lost\n--- @special quick lease=2\nreturn { 1", []string{
		`move.lua:21:14: "x" is no value of "lease", which is of kind ms`,
		`move.lua:21:14: "lost" is no value of "outcome", which is of kind word`,
		`move.lua:22:14: "lease" is fixed twice`,
	}},
	{"special of nothing", "return { 1", "--- @special quick\nreturn { 1", []string{
		`move.lua:21:5: @special lacks its text; write @special NAME TEXT`,
	}},
	{"error twice", "--- @error EMQARGS", "--- @error EMQARGS once\n--- @error EMQARGS", []string{
		`move.lua:21:12: error EMQARGS is declared twice`,
	}},
	{"several at once", "--- @key reserved hash ids to tokens\n--- @each job hash <id> the job", "--- @key reserved\n--- @each job hash id the job", []string{
		`move.lua:7:5: @key lacks TYPE; write @key SUFFIX TYPE TEXT`,
		`move.lua:8:20: pattern "id" is none of <id>, <id>:PART and scheduler:<scheduler>`,
		`move.lua:14:17: no key "job" is declared`,
		`move.lua:15:14: no key "reserved" is declared`,
	}},
}
