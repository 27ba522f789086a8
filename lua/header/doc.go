// Package header reads the declarations at the top of a Lua script of this
// project. The header is the script's contract: the linter in lua/lint proves
// the body against it, and the Go call of the script is generated from it.
//
// A header is the run of lines beginning with "---" at the top of the file. A
// line is text, or a declaration:
//
//	--- add puts new jobs into a queue.
//	---
//	--- Text up to the first declaration is the script's documentation. Its
//	--- first word is the script's name, which is also the file's name.
//	---
//	--- @memory refused
//	--- @key meta hash the queue's version
//	--- @key wait list ids without a priority
//	--- @each job hash <id> the job
//	--- @each lock string <id>:lock the token that holds it
//	--- @arg lease ms how long the jobs are held
//	--- @item id id the job's id
//	--- @item outcome word(completed|failed) what came of it
//	--- @field version meta
//	--- @field name job
//	--- @field * reserved
//	--- @stores lst job outcome
//	--- @reply now ms the server's clock
//	--- @reply results records one per item, in order
//	--- @record results verdict word(added|exists) what happened
//	--- @record results name string the name of the job that exists
//	--- @error EMQARGS the call is malformed
//	--- @special quick lease=1000 outcome=completed
//
// The declarations, in the order in which they must stand:
//
//   - @memory refused: with maxmemory reached the script is refused before it
//     wrote anything. @memory drains: its first write is one that the engine
//     allows then, so it goes on. @memory reads: it writes nothing.
//   - @key SUFFIX TYPE TEXT: a key of the queue, emq:{queue}:SUFFIX. KEYS[1] is
//     the first @key, and so on. TYPE is hash, list, set, zset,
//     string or stream.
//   - @each NAME TYPE PATTERN TEXT: a key that each item brings, PATTERN being
//     <id>, <id>:PART or scheduler:<scheduler>. They follow the @key ones in
//     KEYS, item by item.
//   - @arg NAME KIND TEXT: an argument of the call. ARGV[1] is the first.
//   - @item NAME KIND TEXT: an argument that each item brings. They follow the
//     @arg ones in ARGV, item by item. A script with @each keys has an @item
//     called id of kind id, or one called scheduler of that kind, from which
//     those keys are built.
//   - @field NAME KEY: a field of the hash KEY (a @key suffix or @each name)
//     that the script reads or writes by name. A field of a job or scheduler is
//     one of the wire names of wire.Envelope or wire.Scheduler. `*` says that
//     the hash's fields are data (ids) and not names: all of them, or those beside
//     the names that are declared of the same hash.
//   - @stores FIELD KEY VALUE: where the script writes the field FIELD of the hash
//     KEY, which a @field declares, it may take the value of the @arg or @item
//     VALUE as it is. Neutral values need not be written.
//   - @reply NAME KIND TEXT: an element of the reply, which is an array of
//     exactly these, in order.
//   - @record REPLY NAME KIND TEXT: an element of each record of the reply
//     element REPLY, which is of kind records: one flat array, record by record.
//   - @error CODE TEXT: an error reply whose first word is CODE.
//   - @special NAME VALUES: the script NAME is derived from this one, for calls in
//     which arguments stand at fixed values: NAME=VALUE for each, NAME=A|B if it
//     is one of these, NAME alone for one that nothing looks at then. Further lines
//     of the same name add to it. What is derived has a header of its own. Of
//     several that are enough for a call the first is taken.
//
// The kinds: int, ms (integer milliseconds), flag (0 or 1), id (a job's id),
// scheduler (a scheduler's id),
// string, bytes, word(a|b|…) (one of these words); for replies also ids (an
// array of ids), hash (an array of alternating fields and values) and records.
package header
