package annotations

// vetRule enters a rule that emqvet alone looks for.
func vetRule(code, title, format, explanation string) *Rule {
	r := rule(code, title, format, explanation)
	r.Vet = true
	return r
}

// What compiles, and does what was hardly meant.
var (
	RuleStale = vetRule("E100", "generated file that is stale",
		"%s is %s; run go generate",
		"The generated file and the lock are written from the directives, the struct tags and the types of payloads. Where they are not what emqgen would write now, programs run with settings that the source no longer has. A field that came or went is for the compiler to say.")
	RuleEnqueueIgnored = vetRule("E101", "error of enqueueing that is ignored",
		"nobody learns that %s failed; use its error, or write _ where it does not matter",
		"A job that could not be added is lost without a word: Redis was away, the payload was too large, or its Validate refused it. The answers of calls that add jobs are used, or dropped on purpose: _, _ = producer.EnqueueWelcome(…). In a go or defer statement they cannot be, so put the call into a function there.")
	RuleContextIgnored = vetRule("E102", "loop of a handler that does not heed its context",
		"this loop of %s %s and does not heed the handler's context; end it when ctx.Done() is closed, or give ctx to what it calls",
		"The context of a handler ends at the job's timeout, when the job is cancelled or its lease is lost, and when the worker stops. A handler that goes on keeps its slot, and the job may run a second time beside it. Looked at are loops without an end, and loops that wait: that sleep, receive from or send to a channel, begin a context of their own, or call package net, net/http, database/sql or os/exec, without the handler's context, or anything made from it, in the loop.")
	RuleSecret = vetRule("E103", "field that looks like a secret",
		"%s looks like a secret, and is shown wherever the payload is; tag it emq:\"redact\", or emq:\"public\" if it may be seen",
		"A payload is stored in Redis, and shown by the command, by pages, and in the failures of tests. The tag emq:\"redact\" hides a field there, and emq:\"public\" says that its name only reads like a secret's. What stands in the store is readable all the same: enqueue a reference to a secret rather than the secret, or encrypt payloads.")
)
