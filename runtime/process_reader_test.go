package echomq_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

// readerProcessVariable makes the test binary a program that looks at a job of
// another process: it holds the network and address of the store, the queue's
// name and the job's id.
const readerProcessVariable = "EMQ_READER"

// sighting is what the program prints, a line for each event: what it sees of
// the job at that moment.
type sighting struct {
	Kind     echomq.EventKind
	Progress step
	Logs     []string
	State    echomq.State
}

// TestReaderProcess is no test but the program that the next one starts: it
// follows the queue's events from the start, and when the job has ended awaits it.
func TestReaderProcess(t *testing.T) {
	var network, address, name, id string
	if _, err := fmt.Sscanf(os.Getenv(readerProcessVariable), "%s %s %s %s", &network, &address, &name, &id); err != nil {
		t.Skip("the test of two processes runs this in a process of its own")
	}
	ctx := context.Background()
	store := redis.NewClient(&redis.Options{Network: network, Addr: address})
	defer store.Close()
	client := echomq.NewClient(store, quiet())
	defer client.Close()
	queue, err := client.Queue(name)
	require.NoError(t, err)
	job := echomq.NewJobType[greeting, string](echomq.JobSpec{Queue: name, Name: "greet"})
	handle, err := job.Handle(client, id)
	require.NoError(t, err)
	for event, err := range queue.Events(ctx, echomq.FromStart()) {
		require.NoError(t, err)
		seen := sighting{Kind: event.Kind}
		lines, err := handle.Logs(ctx, 0)
		require.NoError(t, err)
		seen.Logs = texts(lines)
		seen.Progress, _, err = echomq.ReadProgress[step](ctx, handle)
		require.NoError(t, err)
		seen.State, err = handle.State(ctx)
		require.NoError(t, err)
		require.NoError(t, json.NewEncoder(os.Stdout).Encode(seen))
		if event.Kind == echomq.EventCompleted {
			break
		}
	}
	result, err := handle.Await(ctx)
	require.NoError(t, err)
	fmt.Println(result)
}

// TestAnotherProcessSeesAJobRun: a job reports step by step, and goes on only
// when another process has seen the step.
func TestAnotherProcessSeesAJobRun(t *testing.T) {
	t.Parallel()
	enginetest.EachPrivate(t, func(t *testing.T, e *enginetest.Engine) {
		f := newFixture(t, e)
		f.spec.Events = echomq.EventsAll
		f.producer = echomq.NewProducer(f.client, f.spec)
		goOn := make(chan struct{})
		f.work(t, func(ctx context.Context, job *echomq.Job[greeting]) (string, error) {
			for i := range 3 {
				<-goOn
				if err := job.Log(ctx, fmt.Sprint("step ", i)); err != nil {
					return "", err
				}
				if err := job.Progress(ctx, step{i, 3}); err != nil {
					return "", err
				}
			}
			<-goOn
			return "done", nil
		})
		handle := f.enqueue(t, "Ada")
		options := f.engine.Options()
		reader := exec.CommandContext(f.ctx, os.Args[0], "-test.run=^TestReaderProcess$", "-test.timeout=2m")
		reader.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %s %s", readerProcessVariable, network(options), options.Addr, f.spec.Name, handle.ID))
		reader.Stderr = os.Stderr
		output, err := reader.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, reader.Start())
		lines := bufio.NewScanner(output)
		next := func() (seen sighting) {
			require.True(t, lines.Scan(), "the other process has ended")
			require.NoError(t, json.Unmarshal(lines.Bytes(), &seen), lines.Text())
			return seen
		}
		require.Equal(t, echomq.EventAdded, next().Kind)
		require.Equal(t, sighting{Kind: echomq.EventActive, State: echomq.StateActive}, next())
		var logged []string
		for i := range 3 {
			goOn <- struct{}{}
			logged = append(logged, fmt.Sprintf("%d step %d", i+1, i))
			require.Equal(t, sighting{
				Kind: echomq.EventProgress, State: echomq.StateActive, Progress: step{i, 3}, Logs: logged,
			}, next(), "while the job runs")
		}
		goOn <- struct{}{}
		require.Equal(t, sighting{Kind: echomq.EventCompleted, State: echomq.StateCompleted, Progress: step{2, 3}, Logs: logged}, next())
		require.True(t, lines.Scan())
		require.Equal(t, "done", lines.Text())
		for lines.Scan() { // what the test framework prints
		}
		require.NoError(t, reader.Wait())
	})
}

func network(options *redis.Options) string {
	if options.Network == "" {
		return "tcp"
	}
	return options.Network
}
