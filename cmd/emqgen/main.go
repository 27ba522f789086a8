// Command emqgen generates typed producers, handlers and workers from the
// directives of Go packages.
//
// Usage:
//
//	emqgen [flags] [packages]
//	emqgen help [DIRECTIVE…]   print what emqgen takes, or all items of directives
//	emqgen explain [CODE…]     list the codes of all errors, or explain some
//	emqgen completion SHELL    print what completes the command in bash, fish or zsh
//
// It writes emq_gen.go into each package that declares a queue, and deletes it
// from packages that no longer do. Beside it stands emq.lock, which remembers
// what jobs look like that are enqueued, or known to programs that run: a change
// that they would not survive is refused. Packages are named as for the go
// command; the default is the one in the current directory, and a directory called
// help is ./help. Usually it runs as
//
//	//go:generate go tool emqgen .
//
// The flags are:
//
//	-C dir         work in dir
//	-tags list     build tags, separated by commas
//	-check         write nothing; print a diff of what is stale, missing or orphaned
//	-against rev   compare contracts with the locks of a git revision
//	-accept job    record that the job's contract is broken on purpose
//	-reason text   say why, for the lock
//	-lang name     write for another language in place of Go: ts (on Node.js),
//	               elixir, jsonschema or asyncapi; see docs/guide/other-languages.md
//	-out dir       with -lang, write into dir
//	-dump          write nothing; print what was understood, as JSON
//	-v             list files as they are written, unchanged or removed
//
// Nothing is written when anything is wrong in any of the packages.
//
// The exit status is 0 when all is well, 1 when the source has mistakes or,
// with -check, when files are stale, and 2 when emqgen could not run.
package main

import (
	"context"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
