// Package lint proves the scripts of the protocol against their headers, by
// their syntax tree alone: no script is run.
//
// [Check] takes a script with a header (see package header) and finds, under
// the rule named,
//
//   - key: a key operand of a command that is not a declared key;
//   - type: a command that does not fit the declared type of its key;
//   - field: a field of a hash that is not declared;
//   - memory: a first write that does not suit @memory;
//   - dialect: what does not mean the same in Lua 5.1, in Lua 5.4 and in the
//     embedded server, or what the protocol does without;
//   - arity: a count of KEYS or ARGV that is not the header's;
//   - unused: what the header declares and the body does not use;
//   - error: an error reply that the header does not declare;
//   - header, syntax: a header or a body that cannot be read.
//
// It is sound and not complete: what it cannot prove is a finding. A key
// operand is proven if it is
//
//   - KEYS[n] for a constant n, one of the queue's own keys;
//   - KEYS[a*i + b], i being the variable of a loop `for i = 1, count do`, where
//     count is what #KEYS says of the number of items, and a and b are such that
//     the key is one and the same @each key of item i;
//   - a local that is assigned once, from one of these;
//   - one of several of these, chosen by and and or;
//   - unpack(t), for a local table t that is filled with nothing else and handed
//     to nothing else, as the operands of a command that takes only keys; or
//     filled with a key and a value in turn, as those of MSET.
//
// [Operands] needs no header. It tells for every key operand of a script,
// whoever wrote it, whether it is one of KEYS and, if not, how it was built.
// It follows more than [Check] does, and is as sound: locals that are assigned
// again, choices, parameters to all calls of their function, results to what the
// function returns for the arguments of that call, and names of commands that
// are one of several constants.
//
// [Inspect] judges a file, ours by Check and any other by Operands, with the files
// that it includes and the number of keys that its name declares; [Scripts] tells
// the scripts of a folder from the pieces that they include.
package lint
