package wire

import (
	"bytes"
	"fmt"
	"strings"
)

// childrenSuffix is what the name of an entry of the outbox that brings a job's
// children into being has after the job's id. The name of the entry that reports
// a job's end is its id alone.
const childrenSuffix = ":children"

// ChildrenEntry returns the name of the entry that brings a job's children into
// being.
func ChildrenEntry(id JobID) string { return id.String() + childrenSuffix }

// ParseEntry returns the job that an entry of the outbox is about, and whether
// it brings its children into being.
func ParseEntry(entry string) (id JobID, children bool, err error) {
	text, children := strings.CutSuffix(entry, childrenSuffix)
	id, err = ParseJobID(text)
	return id, children, err
}

// Outcome is how a child ended.
type Outcome string

// The outcomes.
const (
	OutcomeCompleted Outcome = "completed"
	OutcomeFailed    Outcome = "failed"
	// OutcomeRemoved is a child that is gone and never told how it ended.
	OutcomeRemoved Outcome = "removed"
	// OutcomeTaken is a child that could not be added, because another job has
	// its place.
	OutcomeTaken Outcome = "taken"
)

// Report is what a parent is told of a child.
type Report struct {
	// Parent is the key of the parent's hash.
	Parent  string
	Outcome Outcome
	Edge    string
	// Value is the encoded result, or the reason.
	Value []byte
}

// Head returns the report without its value, as the script settle takes it.
func (r Report) Head() string {
	return "report " + r.Parent + " " + string(r.Outcome) + " " + r.Edge
}

// Delivery is the body of an entry of the outbox, taken apart: when it was put
// there (milliseconds, by the server's clock), a space, and either the word
// children, a space and the children as JSON, or a report: its head, a line feed,
// and its value.
type Delivery struct {
	// Children are the children to be brought into being, as JSON; nil for a
	// report.
	Children []byte
	Report   Report
}

// ChildrenHead is what comes before the JSON of children that are to be
// delivered, as the script add takes it.
const ChildrenHead = "children "

// ParseDelivery takes a body apart.
func ParseDelivery(body []byte) (Delivery, error) {
	_, rest, _ := bytes.Cut(body, []byte(" "))
	if children, ok := bytes.CutPrefix(rest, []byte(ChildrenHead)); ok {
		return Delivery{Children: children}, nil
	}
	head, value, ok := bytes.Cut(rest, []byte("\n"))
	words := strings.SplitN(string(head), " ", 4)
	if !ok || len(words) != 4 || words[0] != "report" {
		return Delivery{}, fmt.Errorf("delivery %q is neither children nor a report", shorten(string(body)))
	}
	return Delivery{Report: Report{Parent: words[1], Outcome: Outcome(words[2]), Edge: words[3], Value: value}}, nil
}
