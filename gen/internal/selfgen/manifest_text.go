package main

// callingRules tell how a call is built; they say in words what generateCall
// writes as code.
var callingRules = calling{
	Description: "How a call is built from a script's keys, each, args and items, and how its answer is read. {queue} stands for the queue's name in literal braces: the hash tag.",
	Key:         "emq:{queue}:SUFFIX, for each of \"keys\"",
	Each:        "emq:{queue}:PATTERN, for each of \"each\", with the item's argument of the same name in place of <id> or <scheduler>",
	Keys:        "the keys in order, then for every item its each keys in order",
	Args:        "the args in order, then for every item its items in order; integers as plain decimals without a sign or exponent unless negative; \"stored\" names the fields of the job's hash, on the wire, that take the value where the script writes them",
	Neutral:     "what a runtime makes no use of has the neutral value of its kind, which switches it off: 0 for numbers and flags, an empty string, the first of the words; so a runtime that knows nothing of an argument can still make the call",
	Reply:       "an array of exactly the elements of \"reply\", in order",
	Errors:      "an error reply whose first word is one of the codes in \"errors\"; the whole call is refused, nothing was written",
	Memory:      "with maxmemory reached the script is refused before it wrote anything (refused), goes on because its first write frees memory (drains), or writes nothing (reads)",
	Specials:    "scripts that are derived from this one (\"of\" is the way back) and do the same with fewer keys and arguments, for calls in which each argument and each item's that \"values\" names has one of the values there; its reply is that of this script. No runtime needs to use them.",
}

// kinds describe the kinds of arguments and of elements of a reply.
var kinds = []described{
	{"int", "an integer"},
	{"ms", "an integer: milliseconds, since 1970-01-01T00:00Z for a moment"},
	{"flag", "0 or 1"},
	{"id", "a job's id"},
	{"scheduler", "a scheduler's id"},
	{"string", "a string, UTF-8"},
	{"bytes", "a string of any bytes"},
	{"word", "one of the strings in \"words\""},
	{"ids", "reply only: an array of job ids"},
	{"hash", "reply only: an array of alternating fields and values of a hash"},
	{"records", "reply only: one flat array, record by record; each record has the elements of \"record\", in order"},
}
