// The shop is a repository as a user of EchoMQ has it: two services and the jobs
// that they share. To make it yours, copy it, drop the replace line, which stands
// for a release, and run go mod tidy.
module example.com/shop

go 1.26.0

tool github.com/echomq/echomq-go/cmd/emqgen

require (
	github.com/echomq/echomq-go v0.0.0
	github.com/redis/go-redis/v9 v9.23.0
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/dave/jennifer v1.7.1 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/robfig/cron/v3 v3.0.1 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/tools v0.52.0 // indirect
)

replace github.com/echomq/echomq-go => ../..
