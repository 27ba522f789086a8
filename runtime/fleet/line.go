package fleet

import (
	"encoding/json"
	"strings"
)

// LineVersion is the version of the protocol of lines between [Run] and a peer.
const LineVersion = 1

// The requests.
const (
	doHello   = "hello"
	doEnqueue = "enqueue"
	doProcess = "process"
	doPromote = "promote"
	doResult  = "result"
	doQuit    = "quit"
)

// What a peer is to do with a job that it has taken.
const (
	behaveEcho   = "echo"
	behaveReturn = "return"
	behaveFail   = "fail"
)

// Whose first answers a peer is to throw away.
const (
	loseAdd    = "add"
	losePick   = "pick"
	loseSettle = "settle"
)

// Request is a line to a peer. docs/peers.md says which members go with which
// request.
type Request struct {
	Do        string `json:"do"`
	Peer      int    `json:"peer,omitempty"`
	Protocol  string `json:"protocol,omitempty"`
	Address   string `json:"address,omitempty"`
	Queue     string `json:"queue,omitempty"`
	ID        string `json:"id,omitempty"`
	Name      string `json:"name,omitempty"`
	Payload   string `json:"payload,omitempty"`
	Delay     int64  `json:"delay,omitempty"`
	Priority  int    `json:"priority,omitempty"`
	Attempts  int    `json:"attempts,omitempty"`
	Backoff   int64  `json:"backoff,omitempty"`
	Behaviour string `json:"behaviour,omitempty"`
	Result    string `json:"result,omitempty"`
	Reason    string `json:"reason,omitempty"`
	Wait      int64  `json:"wait,omitempty"`
	Lose      string `json:"lose,omitempty"`
}

// Answer is a line from a peer.
type Answer struct {
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`

	Peer     int               `json:"peer,omitempty"`
	Runtime  string            `json:"runtime,omitempty"`
	Version  string            `json:"version,omitempty"`
	Role     string            `json:"role,omitempty"`
	Protocol string            `json:"protocol,omitempty"`
	Scripts  map[string]string `json:"scripts,omitempty"`

	ID       string   `json:"id,omitempty"`
	Verdict  string   `json:"verdict,omitempty"`
	Lost     int      `json:"lost,omitempty"`
	Job      Job      `json:"job,omitempty"`
	Outcome  string   `json:"outcome,omitempty"`
	Promoted []string `json:"promoted,omitempty"`
	Now      int64    `json:"now,omitempty"`
	Due      int64    `json:"due,omitempty"`
	State    string   `json:"state,omitempty"`
	Value    string   `json:"value,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	Attempts int      `json:"attempts,omitempty"`
}

// Job is a job as a peer took it: its fields by their long names, and its id.
type Job map[string]json.RawMessage

// Text returns a field that is a string; "" where it is absent or none.
func (j Job) Text(name string) string {
	var text string
	_ = json.Unmarshal(j[name], &text)
	return text
}

// Number returns a field that is a whole number; 0 where it is absent, and -1
// where it is something else.
func (j Job) Number(name string) int64 {
	if j[name] == nil {
		return 0
	}
	var number int64
	if json.Unmarshal(j[name], &number) != nil {
		return -1
	}
	return number
}

// brief shortens what a peer said, for a report.
func brief(text string) string {
	const most = 160
	text = strings.TrimSpace(text)
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
