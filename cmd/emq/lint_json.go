package main

import (
	"encoding/json"
	"io"

	"github.com/echomq/echomq-go/lua/lint"
)

// The types below are what lint prints with --json; its help documents them.

type inspectionJSON struct {
	Scripts []scriptJSON `json:"scripts"`
	Unread  []unreadJSON `json:"unread"`
	Summary summaryJSON  `json:"summary"`
}

type scriptJSON struct {
	Script   string        `json:"script"`
	Verdict  lint.Verdict  `json:"verdict"`
	Own      bool          `json:"own"`
	Keys     keysJSON      `json:"keys"`
	Includes []string      `json:"includes"`
	Operands []operandJSON `json:"operands"`
	Dead     int           `json:"dead"`
	Faults   []faultJSON   `json:"faults"`
	Error    string        `json:"error"`
}

type keysJSON struct {
	Declared *int   `json:"declared"`
	Each     int    `json:"each"`
	By       string `json:"by"`
	Used     []int  `json:"used"`
	Varies   bool   `json:"varies"`
}

type placeJSON struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

type operandJSON struct {
	placeJSON
	Command    string      `json:"command"`
	Expression string      `json:"expression"`
	Declared   bool        `json:"declared"`
	Origin     lint.Origin `json:"origin"`
	How        string      `json:"how"`
}

type faultJSON struct {
	placeJSON
	Rule    lint.Rule `json:"rule"`
	Message string    `json:"message"`
	Counts  bool      `json:"counts"`
}

type unreadJSON struct {
	Path  string `json:"path"`
	Error string `json:"error"`
}

type summaryJSON struct {
	Scripts            int `json:"scripts"`
	Declared           int `json:"declared"`
	Undeclared         int `json:"undeclared"`
	Unclean            int `json:"unclean"`
	Unknown            int `json:"unknown"`
	Operands           int `json:"operands"`
	UndeclaredOperands int `json:"undeclared_operands"`
	ExtendedOperands   int `json:"extended_operands"`
}

// printJSON prints the inspection with every fault, whether it counts or not.
func (i *inspection) printJSON(to io.Writer, _ bool) error {
	operands, undeclared, extended := i.operands()
	printed := inspectionJSON{
		Scripts: []scriptJSON{},
		Unread:  []unreadJSON{},
		Summary: summaryJSON{
			Scripts:            len(i.reports),
			Declared:           i.verdicts(lint.EveryDeclared),
			Undeclared:         i.verdicts(lint.SomeUndeclared),
			Unclean:            i.verdicts(lint.Unclean),
			Unknown:            i.verdicts(lint.Untold),
			Operands:           operands,
			UndeclaredOperands: undeclared,
			ExtendedOperands:   extended,
		},
	}
	for _, report := range i.reports {
		printed.Scripts = append(printed.Scripts, newScriptJSON(report))
	}
	for _, unread := range i.unread {
		printed.Unread = append(printed.Unread, unreadJSON{unread.path, unread.err.Error()})
	}
	encoder := json.NewEncoder(to)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(printed)
}

// newScriptJSON has empty arrays and not null where there is nothing.
func newScriptJSON(r *lint.Report) scriptJSON {
	printed := scriptJSON{
		Script: r.File, Verdict: r.Verdict, Own: r.Own, Dead: r.Dead,
		Keys:     keysJSON{Each: r.Keys.Each, By: r.Keys.By, Used: append([]int{}, r.Keys.Used...), Varies: r.Keys.Varies},
		Includes: append([]string{}, r.Includes...),
		Operands: []operandJSON{},
		Faults:   []faultJSON{},
	}
	if r.Keys.By != "" {
		printed.Keys.Declared = &r.Keys.Declared
	}
	if r.Err != nil {
		printed.Error = r.Err.Error()
	}
	for _, o := range r.Operands {
		printed.Operands = append(printed.Operands, operandJSON{
			placeJSON: placeJSON(o.Position), Command: o.Command, Expression: o.Expression,
			Declared: o.IsDeclared(), Origin: o.Origin, How: o.How,
		})
	}
	for _, f := range r.Findings {
		printed.Faults = append(printed.Faults, faultJSON{placeJSON(f.Position), f.Rule, f.Message, r.Own})
	}
	return printed
}
