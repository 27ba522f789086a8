// Package acl tells what a user of the store needs for a part in EchoMQ, as a
// rule of ACL SETUSER: the keys from the headers of the part's scripts, the
// commands from their bodies, and what the runtime sends beside them from the
// table in this package, which the runtime's tests hold against what it does
// send. It works on Redis 7.0 and Valkey 8, and later.
//
// A rule has one set of rights for the keys of the queues and their channels, and a selector of its
// own for each key that is shared with other queues, so that on those a user can
// do nothing but what first contact does.
//
// The pattern for a queue is emq:{queue}:*, because the hashes of jobs, whose ids
// are the producers' choice, lie beside the queue's own keys. Nor could a script
// get by with less on keys that it only reads: EVALSHA wants the right to read
// and to write each key that it is called with.
package acl
