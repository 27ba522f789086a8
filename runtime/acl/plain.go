package acl

import "slices"

// Place says which keys a command is sent for.
type Place int

// The places.
const (
	// NoKey is of commands without keys.
	NoKey Place = iota
	// Queue is the keys of the queue itself and of its jobs.
	Queue
	// Control is no key but the channel that tells of cancellations.
	Control
	// LegacyMeta is the key by which a v1 queue of the same name is recognised.
	LegacyMeta
	// StoreVersion is the key emq:{emq}:version.
	StoreVersion
	// StoreQueues is the key emq:{emq}:queues.
	StoreQueues
)

// access says what a command does with its keys, as key patterns have it.
type access int

const (
	reads access = 1 << iota
	writes
)

// Plain is a command that is sent by itself and not by a script.
type Plain struct {
	// Name is the command as access rules name it: "script|load".
	Name string
	// On says which keys it is sent for.
	On Place
	// Roles are those that send it. An operator may whatever others may.
	Roles []Role
	// Sometimes says that it is sent only with certain options of the client
	// library, or in a cluster.
	Sometimes bool
	// Optional says that the runtime goes on if it is refused.
	Optional bool
	// ReplicaAck says that only programs with the option WithReplicaAck send it.
	ReplicaAck bool
	// Why tells what it is for.
	Why string

	does access
}

var (
	programs = []Role{Producer, Worker, Flow}
	flow     = []Role{Flow}
	producer = []Role{Producer}
	worker   = []Role{Worker}
	operator = []Role{Operator}
)

// plain is every command that is not of a script: the one place that says so.
var plain = []Plain{
	// First contact (runtime/contact.go).
	{Name: "exists", On: LegacyMeta, does: reads, Roles: programs, Why: "is there a v1 queue of the name?"},
	{Name: "hmget", On: Queue, Roles: programs, Why: "version and features of the queue; whether a sealed schedule has changed"},
	{Name: "get", On: StoreVersion, does: reads, Roles: programs, Why: "version of the store"},
	{Name: "setnx", On: StoreVersion, does: writes, Roles: programs, Why: "enters the version into a new store"},
	{Name: "sadd", On: StoreQueues, does: writes, Roles: programs, Why: "enters the queue into the list of queues"},

	// Scripts (runtime/call.go).
	{Name: "evalsha", On: Queue, Roles: programs, Why: "calls a script"},
	{Name: "script|load", Roles: programs, Why: "loads a script that the server does not have"},

	// Await and Queue.Events (runtime/watcher.go, runtime/queue_events.go).
	{Name: "xrevrange", On: Queue, Roles: producer, Why: "finds the end of the event stream"},
	{Name: "xread", On: Queue, Roles: producer, Why: "waits for the end of jobs"},

	// Workers: waker, timekeeper, janitor, and the check of the eviction policy.
	{Name: "bzpopmin", On: Queue, Roles: worker, Why: "waits for jobs"},
	{Name: "hget", On: Queue, Roles: worker, Why: "reads the settings of lost and ended jobs"},
	{Name: "time", Roles: worker, Why: "the clock by which slots of schedules come"},
	{Name: "zrange", On: Queue, Roles: worker, Why: "schedulers whose slot has come"},
	{Name: "hgetall", On: Queue, Roles: worker, Why: "schedulers whose slot has come"},
	{Name: "info", Roles: worker, Optional: true, Why: "warns of a store that would evict jobs"},

	// Flows (runtime/courier.go, runtime/children.go).
	{Name: "smembers", On: Queue, Roles: flow, Why: "which children a job waits for"},
	{Name: "hscan", On: Queue, Roles: flow, Why: "what came of its children"},

	// Cancellations (runtime/cancel.go and runtime/control.go).
	{Name: "publish", On: Control, Roles: producer, Why: "tells workers of cancelled jobs"},
	{Name: "subscribe", On: Control, Roles: worker, Why: "listens for cancelled jobs"},

	// Connections. AUTH and HELLO need no right.
	{Name: "ping", Roles: programs, Sometimes: true, Why: "health checks"},
	{Name: "client|setname", Roles: programs, Sometimes: true, Why: "the option ClientName"},
	{Name: "cluster|slots", Roles: programs, Sometimes: true, Why: "which node has a key's slot"},
	{Name: "command", Roles: programs, Sometimes: true, Why: "where the keys of a command stand"},
	{Name: "asking", Roles: programs, Sometimes: true, Why: "a key whose slot is moving"},

	// What makes WAIT wait (runtime/replicated.go).
	{Name: "wait", Roles: programs, ReplicaAck: true, Why: "waits for replicas"},
	{Name: "multi", Roles: programs, ReplicaAck: true, Why: "a write to wait for, that changes nothing"},
	{Name: "exec", Roles: programs, ReplicaAck: true, Why: "the same"},
	{Name: "pexpire", On: Queue, Roles: programs, ReplicaAck: true, Why: "the same"},
	{Name: "persist", On: Queue, Roles: programs, ReplicaAck: true, Why: "the same"},

	// What people read by hand. Access rules do not narrow SCAN and KEYS to the
	// keys of a user, so they are not among it.
	{Name: "smembers", On: StoreQueues, does: reads, Roles: operator, Why: "the names of all queues"},
	{Name: "srem", On: StoreQueues, does: writes, Roles: operator, Why: "takes a queue that is obliterated out of the list of queues"},
	{Name: "unlink", On: Queue, Roles: operator, Why: "deletes strange keys of a queue that is obliterated"},
	{Name: "llen", On: Queue, Roles: operator, Why: "how many jobs wait"},
	{Name: "lrange", On: Queue, Roles: operator, Why: "which jobs wait"},
	{Name: "pttl", On: Queue, Roles: operator, Why: "the rest of a stub's life"},
	{Name: "type", On: Queue, Roles: operator, Why: "what lies under a key"},
	{Name: "xlen", On: Queue, Roles: operator, Why: "how many events are kept"},
	{Name: "xrange", On: Queue, Roles: producer, Why: "the events, oldest first"},
	{Name: "acl|whoami", Roles: operator, Why: "as whom one is connected"},
}

// Commands returns the commands that the role sends beside those of scripts; with
// replicaAck also what the option WithReplicaAck adds to them.
func (r Role) Commands(replicaAck bool) []Plain {
	var found []Plain
	for _, command := range plain {
		if r.has(command.Roles) && (replicaAck || !command.ReplicaAck) {
			command.Roles = slices.Clone(command.Roles)
			found = append(found, command)
		}
	}
	return found
}
