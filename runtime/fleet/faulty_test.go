package fleet_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/fleet"
)

const (
	// faultVariable makes this program a peer with a fault.
	faultVariable = "EMQ_FLEET_TEST_FAULT"
	// pidVariable names the file that it writes its process id into.
	pidVariable = "EMQ_FLEET_TEST_PID"
)

// answer is a line of the Go peer, which a fault changes.
type answer map[string]any

// job returns the job in it, which may be nil.
func (a answer) job() map[string]any {
	job, _ := a["job"].(map[string]any)
	return job
}

// faults change the Go peer's answers, or break off.
var faults = map[string]func(fleet.Request, answer){
	"sound": func(fleet.Request, answer) {},
	"speaks v1": func(request fleet.Request, a answer) {
		if request.Do == "hello" {
			a["protocol"] = "echomq:1.3.0"
		}
	},
	"other lines": func(request fleet.Request, a answer) {
		if request.Do == "hello" {
			a["peer"] = 2
		}
	},
	"other scripts": func(request fleet.Request, a answer) {
		if scripts, ok := a["scripts"].(map[string]any); ok {
			scripts["pick"] = "0000"
		}
	},
	"nameless": func(_ fleet.Request, a answer) { delete(a, "runtime") },
	"refuses":  func(_ fleet.Request, a answer) { a["ok"], a["error"] = false, "no such store" },
	"babbles": func(request fleet.Request, _ answer) {
		if request.Do == "process" {
			fmt.Println("DEBUG got a job")
		}
	},
	"dies": func(request fleet.Request, _ answer) {
		if request.Do == "process" {
			fmt.Fprintln(os.Stderr, "segmentation fault, or so")
			os.Exit(3)
		}
	},
	"hangs": func(request fleet.Request, _ answer) {
		if request.Do == "process" {
			select {}
		}
	},
	"never starts": func(fleet.Request, answer) { select {} },
	"rounds": func(_ fleet.Request, a answer) {
		if job := a.job(); job != nil {
			var value any
			if json.Unmarshal([]byte(job["data"].(string)), &value) == nil {
				rounded, _ := json.Marshal(value)
				job["data"] = string(rounded)
			}
		}
	},
	"miscounts": func(_ fleet.Request, a answer) {
		if job := a.job(); job != nil {
			made, _ := job["attemptsMade"].(json.Number).Int64()
			job["attemptsMade"] = made + 1
		}
	},
	"terse": func(_ fleet.Request, a answer) {
		if job := a.job(); job != nil {
			job["atm"] = job["attemptsMade"]
			delete(job, "attemptsMade")
		}
	},
	"adds twice": func(_ fleet.Request, a answer) {
		if a["verdict"] == "exists" {
			a["verdict"] = "added"
		}
	},
	"settles twice": func(_ fleet.Request, a answer) {
		if a["verdict"] == "already" {
			a["verdict"] = "settled"
		}
	},
	"starts twice": func(request fleet.Request, a answer) {
		if job := a.job(); job != nil && request.Lose == "pick" {
			job["attemptsStarted"] = 2
		}
	},
	"loses nothing": func(_ fleet.Request, a answer) { delete(a, "lost") },
	"hurries": func(_ fleet.Request, a answer) {
		if job := a.job(); job != nil && job["delay"] == nil {
			job["timestamp"] = job["processedOn"]
		}
	},
}

// servePeer is the Go peer with a fault.
func servePeer(fault string, in io.Reader, out io.Writer) int {
	pid := []byte(strconv.Itoa(os.Getpid()))
	if err := os.WriteFile(os.Getenv(pidVariable), pid, 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ask, requests := io.Pipe()
	answers, say := io.Pipe()
	go func() { _ = say.CloseWithError(fleet.Serve(context.Background(), ask, say)) }()
	lines, said := bufio.NewReader(in), bufio.NewReader(answers)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return 0
		}
		var request fleet.Request
		if err := json.Unmarshal(line, &request); err != nil {
			return 1
		}
		if _, err := requests.Write(line); err != nil {
			return 1
		}
		decoder := json.NewDecoder(said)
		decoder.UseNumber()
		var a answer
		if err := decoder.Decode(&a); err != nil {
			return 1
		}
		said = bufio.NewReader(io.MultiReader(decoder.Buffered(), said))
		faults[fault](request, a)
		encoded, err := json.Marshal(a)
		if err != nil {
			return 1
		}
		if _, err := out.Write(append(encoded, '\n')); err != nil || request.Do == "quit" {
			return 0
		}
	}
}

// faulty returns the command of a peer with a fault, and the file with its
// process id.
func faulty(t *testing.T, fault string) (fleet.Command, string) {
	t.Helper()
	require.Contains(t, faults, fault)
	program, err := os.Executable()
	require.NoError(t, err)
	pid := filepath.Join(t.TempDir(), "pid")
	return fleet.Command{
		Name: "faulty", Args: []string{program},
		Env: []string{faultVariable + "=" + fault, pidVariable + "=" + pid},
	}, pid
}

// gone checks that the process has ended and was reaped.
func gone(t *testing.T, pidFile string) {
	t.Helper()
	text, err := os.ReadFile(pidFile)
	require.NoError(t, err)
	pid, err := strconv.Atoi(string(text))
	require.NoError(t, err)
	process, err := os.FindProcess(pid)
	require.NoError(t, err)
	require.ErrorIs(t, process.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
