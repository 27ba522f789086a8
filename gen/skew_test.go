package gen_test

// This file builds two programs from two versions of one package, and has a producer
// in TypeScript generated from each. It runs them against one store: what the one
// enqueues, the other handles or leaves unharmed.

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/gen"
	"github.com/echomq/echomq-go/runtime/embedded"
	"github.com/echomq/echomq-go/runtime/fleet"
)

// oldMail and newMail are the two versions: a payload with other fields, a job
// with another name, and one that is gone.
const (
	oldMail = `//emq:queue name=mail
package main

//emq:job
//emq:result Receipt
type Welcome struct {
	UserID int64 ` + "`json:\"userId\"`" + `
}

//emq:job
//emq:result Receipt
type Hello struct{ Name string }

//emq:job
type Gone struct{}

type Receipt struct{ Text string }
`
	newMail = `//emq:queue name=mail
//emq:retired name=Gone to=failed
package main

import "strconv"

//emq:job version=2
//emq:result Receipt
type Welcome struct {
	User string ` + "`json:\"user\"`" + `
}

func upgradeWelcomeV1(old WelcomeV1) (Welcome, error) {
	return Welcome{User: "user " + strconv.FormatInt(old.UserID, 10)}, nil
}

//emq:job was=Hello
//emq:result Receipt
type Salute struct{ Name string }

type Receipt struct{ Text string }
`
	// mainHead is what both programs do: work, or await jobs by their ids.
	mainHead = `package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"time"

	"github.com/redis/go-redis/v9"

	echomq "github.com/echomq/echomq-go/runtime"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	client := echomq.NewClient(redis.NewClient(&redis.Options{Network: "unix", Addr: os.Args[1]}))
	switch os.Args[2] {
	case "work":
		worker, err := NewMailWorker(client, handler{})
		check(err)
		fmt.Println("working")
		_ = worker.Run(ctx)
	case "enqueue":
		enqueue(ctx, NewMailProducer(client))
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

type handler struct{}

func show[R any](ctx context.Context, handle echomq.Handle[R], err error) {
	check(err)
	fmt.Println(handle.ID)
	if len(os.Args) > 3 {
		result, err := handle.Await(ctx)
		fmt.Println(result, err)
	}
}
`
	oldMain = mainHead + `
func (handler) HandleWelcome(context.Context, *echomq.Job[Welcome]) (Receipt, error) { return Receipt{"old"}, nil }
func (handler) HandleHello(context.Context, *echomq.Job[Hello]) (Receipt, error) { return Receipt{"old"}, nil }
func (handler) HandleGone(context.Context, *echomq.Job[Gone]) error { return nil }

func enqueue(ctx context.Context, producer *MailProducer) {
	welcome, err := producer.EnqueueWelcome(ctx, Welcome{UserID: 7})
	show(ctx, welcome, err)
	hello, err := producer.EnqueueHello(ctx, Hello{Name: "Ada"})
	show(ctx, hello, err)
	gone, err := producer.EnqueueGone(ctx, Gone{})
	show(ctx, gone, err)
}
`
	newMain = mainHead + `
func (handler) HandleWelcome(_ context.Context, job *echomq.Job[Welcome]) (Receipt, error) { return Receipt{"welcome " + job.Payload.User}, nil }
func (handler) HandleSalute(_ context.Context, job *echomq.Job[Salute]) (Receipt, error) { return Receipt{"salute " + job.Payload.Name}, nil }

func enqueue(ctx context.Context, producer *MailProducer) {
	welcome, err := producer.EnqueueWelcome(ctx, Welcome{User: "Grace"})
	show(ctx, welcome, err)
	salute, err := producer.EnqueueSalute(ctx, Salute{Name: "Alan"})
	show(ctx, salute, err)
}
`
)

// What the producers in TypeScript do: the same as enqueue.
const (
	scriptHead = `import { Redis } from 'ioredis';
import * as emq from './emq.js';
import { MailProducer } from './main.emq.js';

const [socket, bundle] = process.argv.slice(2) as [string, string];
const redis = new Redis(socket);
const producer = new MailProducer(new emq.Client(redis, new emq.Bundle(bundle)));
`
	oldScript = scriptHead + `
console.log((await producer.enqueueWelcome({ userId: 7 })).id);
console.log((await producer.enqueueHello({ Name: 'Ada' })).id);
console.log((await producer.enqueueGone({})).id);
redis.disconnect();
`
	newScript = scriptHead + `
console.log((await producer.enqueueWelcome({ user: 'Grace' })).id);
console.log((await producer.enqueueSalute({ Name: 'Alan' })).id);
redis.disconnect();
`
	scriptConfig = `{"compilerOptions": {"target": "es2022", "module": "nodenext", "strict": true, "skipLibCheck": true, "types": ["node"], "outDir": "out", "rootDir": "."}}`
)

// buildScripts compiles the producers in TypeScript for the packages old and new in
// dir, into script/out.
func buildScripts(t *testing.T, dir string) {
	t.Helper()
	modules, err := fleet.InstallModules(t.Context(), filepath.Join("..", "testdata", "languages", "node"))
	require.NoError(t, err)
	scripts := filepath.Join(dir, "script")
	require.NoError(t, writeTree(scripts, map[string]string{
		"tsconfig.json": scriptConfig, "package.json": `{"type": "module"}`, "old/produce.ts": oldScript, "new/produce.ts": newScript,
	}))
	require.NoError(t, os.Symlink(modules, filepath.Join(scripts, "node_modules")))
	for _, version := range []string{"old", "new"} {
		result, err := gen.Run(t.Context(), gen.Options{Dir: dir, Patterns: []string{"./" + version}})
		require.NoError(t, err)
		files, err := gen.Language("ts", result.Packages)
		require.NoError(t, err)
		for name, content := range files {
			require.NoError(t, os.WriteFile(filepath.Join(scripts, version, name), content, 0o644))
		}
	}
	compiler := exec.CommandContext(t.Context(), "node", "node_modules/typescript/bin/tsc", "-p", ".")
	compiler.Dir = scripts
	out, err := compiler.CombinedOutput()
	require.NoError(t, err, string(out))
}

// buildBoth returns the directory with the programs old and new, of which the new
// one was generated with the lock of the old one.
func buildBoth(t *testing.T) string {
	t.Helper()
	repository, err := filepath.Abs("..")
	require.NoError(t, err)
	sums, err := os.ReadFile(filepath.Join(repository, "go.sum"))
	require.NoError(t, err)
	requires, err := os.ReadFile(filepath.Join(repository, "go.mod"))
	require.NoError(t, err)
	dir := newModule(t, map[string]string{
		"go.mod": strings.Replace(string(requires), "module github.com/echomq/echomq-go", "module example.com/shop", 1) +
			"\nrequire github.com/echomq/echomq-go v0.0.0\n\nreplace github.com/echomq/echomq-go => " + repository + "\n",
		"go.sum":      string(sums),
		"old/mail.go": oldMail, "old/main.go": oldMain,
	})
	generate(t, dir)
	lock, err := os.ReadFile(filepath.Join(dir, "old/emq.lock"))
	require.NoError(t, err)
	require.NoError(t, writeTree(dir, map[string]string{"new/mail.go": newMail, "new/main.go": newMain, "new/emq.lock": string(lock)}))
	generate(t, dir)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "bin"), 0o755))
	build := exec.Command("go", "build", "-mod=mod", "-o", "bin/", "./old", "./new")
	build.Dir = dir
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	return dir
}

// startWorker runs a program's worker until the returned function is called.
func startWorker(t *testing.T, program, socket string) (stop func()) {
	t.Helper()
	command := exec.Command(program, socket, "work")
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "working\n", line)
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			_ = command.Process.Signal(os.Interrupt)
			_ = command.Wait()
		}
	}
	t.Cleanup(stop)
	return stop
}

// TestSkewOfDeploys is what happens while a release rolls out.
func TestSkewOfDeploys(t *testing.T) {
	t.Parallel()
	if os.Getenv("EMQ_ENGINES") == "embedded" {
		t.Skip("EMQ_ENGINES leaves out the server that this test needs")
	}
	dir := buildBoth(t)
	buildScripts(t, dir)
	bin := filepath.Join(dir, "bin")
	ctx := context.WithoutCancel(t.Context())
	server, err := embedded.Start(ctx, embedded.Process(), embedded.Logger(nil))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	store := redis.NewClient(server.Options())
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	socket := server.Options().Addr
	lines := func(program string, arguments ...string) []string {
		t.Helper()
		out, err := exec.Command(program, arguments...).CombinedOutput()
		require.NoError(t, err, string(out))
		return strings.Split(strings.TrimSpace(string(out)), "\n")
	}
	run := func(program string, arguments ...string) []string {
		return lines(filepath.Join(bin, program), append([]string{socket}, arguments...)...)
	}
	bundle, err := filepath.Abs("../lua")
	require.NoError(t, err)
	script := func(version string) []string {
		return lines("node", filepath.Join(dir, "script", "out", version, "produce.js"), socket, bundle)
	}
	job := func(id string) map[string]string {
		return store.HGetAll(ctx, "emq:{mail}:"+id).Val()
	}

	// An old worker meets new jobs: it gives them back as they were.
	stopOld := startWorker(t, filepath.Join(bin, "old"), socket)
	ids := append(run("new", "enqueue"), script("new")...)
	require.Len(t, ids, 4)
	for i, id := range ids {
		require.Eventually(t, func() bool { return job(id)["ukn"] != "" }, 20*time.Second, 10*time.Millisecond)
		given := job(id)
		require.Equal(t, []string{`{"user":"Grace"}`, `{"Name":"Alan"}`}[i%2], given["data"])
		require.Contains(t, []string{"", "0"}, given["atm"], "no attempt was consumed")
		require.Empty(t, given["failedReason"])
	}
	stopOld()

	// The new worker handles them, and what the old program has enqueued, which
	// awaits its results.
	startWorker(t, filepath.Join(bin, "new"), socket)
	answers := run("old", "enqueue", "await")
	require.Len(t, answers, 6)
	require.Equal(t, "{welcome user 7} <nil>", answers[1])
	require.Equal(t, "{salute Ada} <nil>", answers[3])
	require.Contains(t, answers[5], "job was retired")
	require.Equal(t, "{}", job(answers[4])["data"])
	returns := func(id, want string) {
		t.Helper()
		require.Eventually(t, func() bool { return job(id)["returnvalue"] == want }, 20*time.Second, 20*time.Millisecond, id)
	}
	for i, id := range ids {
		returns(id, []string{`{"Text":"welcome Grace"}`, `{"Text":"salute Alan"}`}[i%2])
	}
	olds := script("old")
	require.Len(t, olds, 3)
	returns(olds[0], `{"Text":"welcome user 7"}`)
	returns(olds[1], `{"Text":"salute Ada"}`)
	require.Eventually(t, func() bool { return strings.Contains(job(olds[2])["failedReason"], "job was retired") }, 20*time.Second, 20*time.Millisecond)
}
