# make test          install what is missing, then vet and test, with the race detector
#                    where there is concurrency
# make test-cluster  run the engine suite on a cluster of 3 primaries and 3 replicas
# make test-users    run it as users that have no more rights than emq acl gives
# make test-model    run the scripts against their model, all of it, and plant faults
#                    in them; make test has a few seeds and a fault of each script
# make check         is everything that is generated up to date?
# make lint          gofmt, go vet, staticcheck, emqvet, and the syntax of the Lua scripts
# make generate      write everything that is generated
# make bench         run the benchmarks
# make bench-peers   measure this project beside others, and write docs/benchmarks.md;
#                    needs PostgreSQL and npm, a machine that does nothing else, and
#                    about 40 minutes; BENCHFLAGS are further flags of testdata/bench
# make costs         measure what each script costs the server, and write docs/costs.md
#                    and docs/commands.md
#
# EMQ_ENGINES chooses the engines that the tests run on: all by default, or
# "embedded" for what needs nothing installed, or a list such as "valkey,redis" or
# "cluster", which is in none of them by default.

GO ?= go

# Further flags for go test, for example TESTFLAGS="-run TestWorker -v".
TESTFLAGS ?=

# Packages to test and to measure.
PACKAGES ?= ./...

# Where nothing runs beside anything else the race detector has nothing to find, and
# takes five times as long over it.
SEQUENTIAL = /(annotations|gen|lua|cmd/emqgen|cmd/emqvet|runtime/msgpack)(/|$$)

.PHONY: test test-cluster test-users test-model check lint generate bench bench-peers costs install

test: install
	$(GO) vet $(PACKAGES)
	$(GO) list $(PACKAGES) | grep -Ev '$(SEQUENTIAL)' | xargs -r $(GO) test -race -timeout 25m $(TESTFLAGS)
	$(GO) list $(PACKAGES) | grep -E '$(SEQUENTIAL)' | xargs -r $(GO) test -timeout 25m $(TESTFLAGS)

# What follows is the same suite once more, so the race detector has nothing to
# find in it.
test-cluster: install
	EMQ_ENGINES=cluster $(GO) test -timeout 15m $(TESTFLAGS) ./runtime ./runtime/internal/script

test-users: install
	EMQ_USERS=1 EMQ_ENGINES=valkey,redis $(GO) test -timeout 15m $(TESTFLAGS) ./runtime

test-model: install
	$(GO) test -timeout 15m -run 'TestModel|TestReplay' $(TESTFLAGS) ./runtime/internal/script

check:
	$(GO) run ./gen/internal/selfgen -check
	$(GO) run ./cmd/emqgen -check ./...

lint: install
	.ci/lint

generate:
	$(GO) run ./gen/internal/selfgen
	$(GO) generate ./...

bench:
	$(GO) test -run '^$$' -bench . -benchmem -timeout 30m $(TESTFLAGS) $(PACKAGES)

bench-peers: install
	cd testdata/bench && $(GO) run . -steady 10m $(BENCHFLAGS) -out ../../docs/benchmarks.md

costs:
	EMQ_COSTS=$(CURDIR)/docs/costs.md EMQ_COMMANDS=$(CURDIR)/docs/commands.md \
		$(GO) test ./runtime/internal/script -run 'TestCosts|TestCommandsOfAJob' -count 1 -timeout 20m

install:
	.ci/install
