package annotations

import (
	"go/ast"
	"strings"
	"time"

	"github.com/echomq/echomq-go/runtime/cron"
	"github.com/echomq/echomq-go/runtime/wire"
)

// macros are the expressions that are words.
var macros = []string{"@yearly", "@monthly", "@weekly", "@daily", "@hourly"}

func readCron(v *Value) (*Rule, []any) {
	_, err := cron.Parse(v.Text, time.UTC)
	if err == nil {
		return nil, nil
	}
	name, rest, _ := strings.Cut(v.Text, " ")
	hint := Suggestion{Message: " is not a cron expression: " + err.Error()}
	switch {
	case name == "@every":
		hint = Suggestion{Message: " is an interval; write every=" + rest}
		if _, err := ParseDuration(rest); err == nil {
			hint.Replacement = "every=" + rest
		}
	case strings.Contains(name, "TZ="):
		hint.Message = " names a time zone; write " + rest + " alone in quotes, and tz=" + name[strings.Index(name, "=")+1:] + " behind it"
	case strings.HasPrefix(name, "@"):
		near := Nearest(name, macros)
		hint = DidYouMean(near, near)
		hint.Message = " is not a cron expression; of those there are " + join(macros) + hint.Message
	case rest == "":
		hint.Message += "; it is written in quotes, as in \"0 9 * * mon-fri\""
	}
	if part, found := strings.CutPrefix(err.Error(), "failed to parse int from "); found {
		part, _, _ = strings.Cut(part, ":")
		hint = Suggestion{Message: " is not a cron expression: " + quoteOdd(part) + " is neither a number nor the name of a month or day in its field"}
	}
	hint.Message = quoteOdd(v.Text) + hint.Message
	return RuleCron, []any{hint}
}

func readSchedulerID(v *Value) (*Rule, []any) {
	if _, err := wire.ParseSchedulerID(v.Text); err != nil {
		return RuleSchedulerID, []any{err}
	}
	return nil, nil
}

// Crons returns the //emq:cron directives of the job.
func (j *Job) Crons() []*Directive {
	var crons []*Directive
	for _, d := range j.Directives {
		if d.Spec.Name == "cron" {
			crons = append(crons, d)
		}
	}
	return crons
}

// SchedulerID returns the id of the scheduler that a //emq:cron of the job
// declares.
func (j *Job) SchedulerID(d *Directive) string {
	if id := d.Text("id"); id != "" {
		return id
	}
	return j.WireName()
}

// PayloadFunc returns the name of the function of the package that makes the
// payload of a slot.
func (j *Job) PayloadFunc() string { return payloadFuncs + j.GoName() }

// payloadFuncs is how the names of functions begin that make payloads.
const payloadFuncs = "schedule"

// Function is a function of the package that may make the payload of a slot.
type Function struct {
	*ast.FuncDecl
	file *ast.File
}

// functions collects what may make payloads.
func (f *Facts) functions(file *ast.File) {
	for _, decl := range file.Decls {
		if decl, ok := decl.(*ast.FuncDecl); ok && decl.Recv == nil && strings.HasPrefix(decl.Name.Name, payloadFuncs) {
			if f.Functions == nil {
				f.Functions = map[string]Function{}
			}
			f.Functions[decl.Name.Name] = Function{decl, file}
		}
	}
}

// crons checks what repeats jobs.
func (c checker) crons() {
	type key struct{ queue, id string }
	seen := map[key]*Directive{}
	for _, job := range c.Jobs {
		for _, d := range job.Crons() {
			if job.Directive("unique") != nil {
				c.report.Report(RuleCronWhich, d.Pos, d.End, "the jobs of a schedule hold no unique key; //emq:cron does not go with //emq:unique")
			}
			c.when(d)
			queue, id := c.QueueOf(job), job.SchedulerID(d)
			if queue == nil {
				continue
			}
			pos, end := d.Span("id")
			if _, err := wire.ParseSchedulerID(id); err != nil {
				c.report.Report(RuleSchedulerID, pos, end, err.Error()+"; add id=")
				continue
			}
			k := key{queue.Text("name"), id}
			if other := seen[k]; other != nil {
				c.report.Report(RuleDuplicateSchedule, pos, end, k.queue, id, c.report.Position(other.Pos).Line)
				continue
			}
			seen[k] = d
		}
		c.payloads(job)
	}
}

// when refuses a directive that does not say when, or twice.
func (c checker) when(d *Directive) {
	pos, end := d.Span("every")
	switch {
	case d.Has("") == d.Has("every"):
		c.report.Report(RuleCronWhich, pos, end, "//emq:cron takes either a cron expression in quotes, or every=")
	case d.Has("every") && d.Has("tz"):
		pos, end := d.Span("tz")
		c.report.Report(RuleCronWhich, pos, end, "tz has no effect, because an interval knows no time zone; drop it")
	case d.Has("every"):
		if _, err := cron.Every(d.Duration("every")); err != nil {
			c.report.Report(RuleCronWhich, pos, end, "every: "+err.Error())
		}
	}
}

// payloads checks the function that makes the payloads of a job that repeats.
func (c checker) payloads(job *Job) {
	crons := job.Crons()
	if len(crons) == 0 {
		return
	}
	name, payload := job.PayloadFunc(), job.Type.Name.Name
	signature := "func " + name + "(slot time.Time) (" + payload + ", error)"
	function, declared := c.Functions[name]
	if !declared {
		if structure, ok := job.Type.Type.(*ast.StructType); ok && structure.Fields.NumFields() > 0 {
			c.report.Report(RulePayloadFunc, crons[0].Pos, crons[0].End, payload+" has fields, so the package needs "+signature)
		}
		return
	}
	if !function.makes(payload) {
		c.report.Report(RulePayloadFunc, function.Name.Pos(), function.Name.End(), name+" makes the payloads of a job that repeats; write "+signature)
	}
}

// makes reports whether the function takes a time and returns the payload and an
// error.
func (f Function) makes(payload string) bool {
	results := f.Type.Results
	if f.Type.TypeParams != nil || f.Type.Params.NumFields() != 1 || results.NumFields() != 2 {
		return false
	}
	var types []ast.Expr
	for _, field := range results.List {
		for range max(len(field.Names), 1) {
			types = append(types, field.Type)
		}
	}
	return f.isTime(f.Type.Params.List[0].Type) && isIdent(types[0], payload) && isIdent(types[1], "error")
}

func isIdent(expr ast.Expr, name string) bool {
	ident, ok := expr.(*ast.Ident)
	return ok && ident.Name == name
}

// isTime reports whether expr is the type Time of package time, as the file
// imports it.
func (f Function) isTime(expr ast.Expr) bool {
	selector, ok := expr.(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != "Time" {
		return false
	}
	for _, spec := range f.file.Imports {
		if spec.Path.Value != `"time"` {
			continue
		}
		name := "time"
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if isIdent(selector.X, name) {
			return true
		}
	}
	return false
}
