package annotations

// MaxPriority is the largest priority that the order of a queue has room for.
const MaxPriority = 1<<21 - 1

// unbounded is the largest number where nothing but its 32 bits bounds it.
const unbounded = 1<<31 - 1

// table is the one definition of every directive: the parser, the checks, the
// help text and the documentation all read it. A new directive is one more row,
// in the order of the documentation; a row stands here only when the rest of
// the toolkit does what it says.
var table = []Spec{
	{
		Name: "queue", On: OnPackage, Repeats: true,
		Doc:     "Declares a queue whose jobs are the annotated types of this package. All queues of a package stand in the package comment of one file.",
		Example: "//emq:queue name=mail concurrency=32 rate=100/1s",
		Items: []Item{
			{Key: "name", Kind: KindQueueName, Required: true,
				Doc: "The queue's name on the wire."},
			{Key: "go", Kind: KindGoName, Default: "the name with its first letter in upper case",
				Doc: "The name in generated identifiers, such as Mail in MailProducer. Required where the name is not of the form [a-z][a-z0-9]*."},
			{Key: "concurrency", Kind: KindInt, Min: 1, Max: 1 << 20, Default: "10 times GOMAXPROCS",
				Doc: "How many jobs one worker runs at the same time."},
			{Key: "limit", Kind: KindInt, Min: 1, Max: unbounded, Default: "any number",
				Doc: "How many of the queue's jobs may be active at the same time, on all workers together."},
			{Key: "rate", Kind: KindRate, Default: "any number",
				Doc: "How many of the queue's jobs may start in a length of time, on all workers together: a bucket of that many tokens, which fills continuously."},
			{Key: "lease", Kind: KindDuration, Default: "15s",
				Doc: "How long a worker holds a job without renewing; a crashed worker's jobs run again after that time."},
			{Key: "events", Kind: KindWord, Words: []string{"none", "final", "all"}, Default: "final",
				Doc: "Which events of a job are published: none, its end only, or every change of state."},
		},
	},
	{
		Name: "retired", On: OnPackage, Repeats: true,
		Doc:     "Says what becomes of a job that is gone, but may still be enqueued.",
		Example: "//emq:retired name=Hello to=failed",
		Items: []Item{
			{Key: "name", Kind: KindWireName, Required: true,
				Doc: "The job's name on the wire."},
			{Key: "to", Kind: KindWord, Words: []string{"failed", "discard"}, Required: true,
				Doc: "Whether workers fail it, so that it can be looked at, or complete and delete it."},
			{Key: "queue", Kind: KindQueueName, Default: "the package's only queue",
				Doc: "The wire name of the job's queue. Required where the package declares several."},
		},
	},
	{
		Name: "job", On: OnStruct, Bare: true,
		Doc:     "Makes the struct type below it the payload of a job.",
		Example: "//emq:job timeout=30s priority=10",
		Items: []Item{
			{Key: "queue", Kind: KindQueueName, Default: "the package's only queue",
				Doc: "The wire name of the job's queue. Required where the package declares several."},
			{Key: "name", Kind: KindWireName, Default: "the type's name",
				Doc: "The job's name on the wire, unique in its queue."},
			{Key: "go", Kind: KindGoName, Default: "the type's name",
				Doc: "The name in generated identifiers, such as Welcome in EnqueueWelcome."},
			{Key: "timeout", Kind: KindDuration, None: true, Default: "5m",
				Doc: "How long one attempt may run before its context ends."},
			{Key: "priority", Kind: KindInt, Min: 0, Max: MaxPriority, Default: "0",
				Doc: "The job's place in the queue: 0 runs first, larger numbers later."},
			{Key: "delay", Kind: KindDuration, Default: "no delay",
				Doc: "How long the job waits after it was added before it may run."},
			{Key: "codec", Kind: KindWord, Words: []string{"json", "msgpack"}, Default: "json",
				Doc: "How the payload and the result are encoded. The names of fields are those of the json tags for both."},
			{Key: "version", Kind: KindInt, Min: 1, Max: unbounded, Default: "1",
				Doc: "The version of the payload's contract. It travels with each job. For older versions that the lock remembers, the package has functions such as upgradeWelcomeV1."},
			{Key: "oldest", Kind: KindInt, Min: 1, Max: unbounded, Default: "any",
				Doc: "The oldest version that is still read. Jobs of older ones fail, with their payloads kept."},
			{Key: "was", Kind: KindWas, List: 16, Default: "no other name",
				Doc: "Names that the job had: Hello, or with the queue from which it was moved, push/Hello. Jobs that are enqueued under them are handled too."},
		},
	},
	{
		Name: "retry", On: OnStruct,
		Doc:     "Says what happens after an attempt that failed.",
		Example: "//emq:retry attempts=5 backoff=exponential base=2s cap=10m",
		Items: []Item{
			{Key: "attempts", Kind: KindInt, Min: 1, Max: unbounded, Default: "10",
				Doc: "How often the job is tried in all; 1 means that it is never retried."},
			{Key: "backoff", Kind: KindWord, Words: []string{"fixed", "exponential"}, Default: "exponential",
				Doc: "Whether the wait between attempts stays the same or doubles."},
			{Key: "base", Kind: KindDuration, Default: "1s",
				Doc: "The wait after the first attempt that failed."},
			{Key: "cap", Kind: KindDuration, Default: "1h",
				Doc: "The longest wait between two attempts."},
			{Key: "jitter", Kind: KindWord, Words: []string{"full", "none"}, Default: "full",
				Doc: "Whether each wait is drawn at random between zero and its length, so that jobs that failed together do not return together."},
			{Key: "stalls", Kind: KindInt, Min: 1, Max: unbounded, None: true, Default: "3",
				Doc: "How often the job may be lost with a crashed worker before it fails; none fails it the first time."},
		},
	},
	{
		Name: "result", On: OnStruct,
		Doc:     "Gives the job a result, which the handler returns and Await receives.",
		Example: "//emq:result Receipt",
		Items: []Item{
			{Kind: KindTypeName, Required: true,
				Doc: "An exported type of the same package; an alias serves for a type of another one."},
		},
	},
	{
		Name: "progress", On: OnStruct,
		Doc:     "Gives the job's progress a type, with which it is recorded and read.",
		Example: "//emq:progress Percent",
		Items: []Item{
			{Kind: KindTypeName, Required: true,
				Doc: "An exported type of the same package; an alias serves for a type of another one."},
		},
	},
	{
		Name: "keep", On: OnStruct,
		Doc:     "Says how long finished jobs are kept. With an age and a count, both hold.",
		Example: "//emq:keep completed=24h,1000 failed=14d",
		Items: []Item{
			{Key: "completed", Kind: KindKeep, List: 2, None: true, Default: "24h,10000",
				Doc: "How long, and how many, completed jobs are kept."},
			{Key: "failed", Kind: KindKeep, List: 2, None: true, Default: "14d,100000",
				Doc: "How long, and how many, failed jobs are kept."},
			{Key: "logs", Kind: KindInt, Min: 1, Max: 10_000, None: true, Default: "100",
				Doc: "How many of a job's log lines are kept, the newest, for as long as the job."},
		},
	},
	{
		Name: "unique", On: OnStruct,
		Doc:     "Lets only one of the jobs that are the same be there: those of which the named fields are equal. What counts is the payload as it is added; pointers that are nil are equal.",
		Example: "//emq:unique by=UserID,Template until=started for=1h",
		Items: []Item{
			{Key: "by", Kind: KindField, List: 32, Required: true, None: true,
				Doc: "The fields that make two jobs the same, in an order that is part of the key: truth values, whole numbers, strings, bytes, times, and types with MarshalText, also as pointers. With none all jobs of the type are the same."},
			{Key: "until", Kind: KindWord, Words: []string{"started", "finished", "removed"}, Default: "finished",
				Doc: "What lets the next one in: the first start of the job, its end, or its deletion after the end."},
			{Key: "for", Kind: KindDuration, Default: "no limit",
				Doc: "How long the others are kept out at most, from when the job was added. The earlier of until and for counts."},
			{Key: "conflict", Kind: KindWord, Words: []string{"existing", "replace", "error"}, Default: "existing",
				Doc: "What a job comes to that is kept out: the handle of the one that is there, its content in that one's place as long as it has not started, or an error."},
		},
	},
	{
		Name: "group", On: OnStruct,
		Doc:     "Puts each job into the group that a field of its payload names. The groups of a queue that have work take turns, so that one with many jobs does not hold up the others.",
		Example: "//emq:group by=Tenant limit=2",
		Items: []Item{
			{Key: "by", Kind: KindField, Required: true,
				Doc: "The field that names the group: a truth value, whole number, string, bytes, time, or a type with MarshalText, also as a pointer. A job whose field is nil or empty is of no group. Groups are the queue's: jobs of several types with the same value are of one group."},
			{Key: "limit", Kind: KindInt, Min: 1, Max: unbounded, Default: "any number",
				Doc: "How many jobs of each group may be active at once, on all workers together. A queue has one such limit: its jobs that say it say the same."},
		},
	},
	{
		Name: "batch", On: OnStruct, Bare: true,
		Doc:     "Gives the handler many jobs at once: a slice of them, each with an outcome of its own.",
		Example: "//emq:batch size=100 wait=500ms",
		Items: []Item{
			{Key: "size", Kind: KindInt, Min: 1, Max: 10_000, Default: "100",
				Doc: "How many jobs the handler gets at most. Each takes a slot of the worker's concurrency."},
			{Key: "wait", Kind: KindDuration, Default: "1s",
				Doc: "How long the first job of a batch waits for others, at most 1h and less than the job's timeout, towards which it counts."},
		},
	},
	{
		Name: "cron", On: OnStruct, Repeats: true,
		Doc:     "Makes the job repeat, at the times of a cron expression or at an interval. A payload that has fields is made for each time by a function of the package: func scheduleDigest(slot time.Time) (Digest, error).",
		Example: "//emq:cron \"0 9 * * mon-fri\" tz=Europe/Berlin",
		Items: []Item{
			{Kind: KindCron, Default: "no expression",
				Doc: "Minute, hour, day of month, month and day of week, in quotes; or a second before them; or @yearly, @monthly, @weekly, @daily or @hourly."},
			{Key: "every", Kind: KindDuration, Default: "no interval",
				Doc: "An interval instead of an expression, from 100ms to 366 days. Its times are the multiples since 1970-01-01 00:00 UTC."},
			{Key: "id", Kind: KindSchedulerID, Default: "the job's wire name",
				Doc: "Names the schedule in its queue. Required where a job has several."},
			{Key: "tz", Kind: KindZone, Default: "UTC",
				Doc: "The time zone of the expression."},
			{Key: "misfire", Kind: KindWord, Words: []string{"once", "skip"}, Default: "once",
				Doc: "What comes of times at which no worker was there: one job for the latest of them, or none."},
		},
	},
}
