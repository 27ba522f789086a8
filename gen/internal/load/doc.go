// Package load finds Go packages and resolves the types of their annotated
// declarations, without compiling anything.
//
// The go command is asked for metadata only. Source is then parsed, and the
// types that are reachable from annotated structs are checked from source,
// packages of other modules included; everything else stays a placeholder. So a
// package loads that does not compile, because it calls what is not generated
// yet or because its generated file is damaged; and no dependency is ever
// built.
package load
