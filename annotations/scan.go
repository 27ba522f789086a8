package annotations

import (
	"go/ast"
	"go/token"
	"strings"
)

// Facts is what the directives of a package say.
type Facts struct {
	// Queues are the //emq:queue directives, in the order of the source.
	Queues []*Directive
	// Retired are the //emq:retired directives, in the order of the source.
	Retired []*Directive
	// Jobs are the types that carry //emq:job, in the order of the source.
	Jobs []*Job
	// Functions are those that may make the payloads of jobs that repeat.
	Functions map[string]Function
}

// Job is a struct type that carries //emq:job.
type Job struct {
	// Type is the declaration of the payload.
	Type *ast.TypeSpec
	// Doc is the comment above the type, directives included, or nil.
	Doc *ast.CommentGroup
	// Directives are those that stand above the type, at most one of a name.
	Directives []*Directive
}

// Directive returns the job's directive of the given name, or nil.
func (j *Job) Directive(name string) *Directive {
	for _, d := range j.Directives {
		if d.Spec.Name == name {
			return d
		}
	}
	return nil
}

// Scan finds and reads every directive of a package, whose files it is given
// with their comments. It reports what is wrong with their words, values and
// places; what concerns several directives at once is [Facts.Check]'s.
func Scan(files []*ast.File, report *Reporter) *Facts {
	s := scanner{report: report, facts: &Facts{}}
	for _, file := range files {
		s.file(file)
		s.facts.functions(file)
	}
	return s.facts
}

// Find returns the directives of a file, known or not, whether or not they
// stand in the right place: for files in which none may stand.
func Find(file *ast.File) []ast.Directive {
	var found []ast.Directive
	for _, group := range file.Comments {
		for _, c := range group.List {
			if d, ok := ast.ParseDirective(c.Slash, c.Text); ok && d.Tool+":" == Prefix {
				found = append(found, d)
			}
		}
	}
	return found
}

type scanner struct {
	report *Reporter
	facts  *Facts
	// misspelled is set when the comment at hand has a directive whose name is
	// not known, or that does not belong there: it may be the one that the others
	// lack.
	misspelled bool
}

func (s *scanner) file(file *ast.File) {
	grounds := groundsOf(file)
	for _, group := range file.Comments {
		on := grounds[group]
		var directives []*Directive
		s.misspelled = false
		for _, c := range group.List {
			if d := s.comment(c, on); d != nil {
				directives = append(directives, d)
			}
		}
		if len(directives) == 0 {
			continue
		}
		directives = s.once(directives, on)
		if on.spec != nil {
			s.job(on.spec, group, directives)
			continue
		}
		for _, d := range directives {
			if d.Spec.Name == "retired" {
				s.facts.Retired = append(s.facts.Retired, d)
			} else {
				s.facts.Queues = append(s.facts.Queues, d)
			}
		}
	}
}

// comment reads one comment, and returns its directive where that stands in
// its place.
func (s *scanner) comment(c *ast.Comment, on ground) *Directive {
	written, ok := ast.ParseDirective(c.Slash, c.Text)
	if !ok {
		if meant, missed := nearMiss(c.Text); missed {
			s.misspelled = true
			s.report.Report(RuleNearMiss, c.Pos(), c.End(), firstWords(c.Text), meant)
		}
		return nil
	}
	if written.Tool+":" != Prefix {
		return nil
	}
	spec := lookup(written.Name)
	if spec == nil {
		s.misspelled = true
		s.unknown(written)
		return nil
	}
	d := parse(spec, written, s.report)
	if !s.inPlace(d, on) {
		s.misspelled = true
		return nil
	}
	return d
}

func (s *scanner) unknown(written ast.Directive) {
	var hint Suggestion
	for _, name := range names() {
		if rest, ok := strings.CutPrefix(strings.ToLower(written.Name), name); ok && rest != "" && !isLetter(rest[0]) {
			hint.Message = "; after //emq:" + name + " comes a space"
		}
	}
	owners := owners(written.Name)
	near := MeantDirective(written.Name)
	switch {
	case hint.Message != "":
	case len(owners) > 0:
		hint.Message = "; " + written.Name + " is an item of " + join(owners)
	case near != "":
		hint = DidYouMean("//"+Prefix+near, "//"+Prefix+near)
	}
	end := written.Slash + token.Pos(len("//"+Prefix)+len(written.Name))
	s.report.Report(RuleUnknownDirective, written.Slash, end, written.Name, join(names()), hint)
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// inPlace reports whether d stands where its definition wants it.
func (s *scanner) inPlace(d *Directive, on ground) bool {
	name := d.Spec.Name
	switch {
	case on.kind == nowhere:
		s.report.Report(RuleDetached, d.Pos, d.End, name, d.Spec.On)
	case on.kind == onTypeGroup && d.Spec.On == OnStruct:
		s.report.Report(RuleOnGroup, d.Pos, d.End, name)
	case on.kind == onPackage && d.Spec.On == OnPackage, on.kind == onStruct && d.Spec.On == OnStruct:
		return true
	default:
		s.report.Report(RuleWrongPlace, d.Pos, d.End, name, on.describe(), d.Spec.On)
	}
	return false
}

// once drops all but the first of the directives that may not be repeated.
func (s *scanner) once(directives []*Directive, on ground) []*Directive {
	first := map[string]*Directive{}
	var kept []*Directive
	for _, d := range directives {
		if f := first[d.Spec.Name]; f != nil && !d.Spec.Repeats {
			s.report.Report(RuleDuplicateDirective, d.Pos, d.End, d.Spec.Name, on.describe(), s.report.Position(f.Pos).Line)
			continue
		}
		first[d.Spec.Name] = d
		kept = append(kept, d)
	}
	return kept
}

// job records the annotated type, and reports what about its declaration keeps
// it from being a payload.
func (s *scanner) job(spec *ast.TypeSpec, doc *ast.CommentGroup, directives []*Directive) {
	job := &Job{Type: spec, Doc: doc, Directives: directives}
	if job.Directive("job") == nil {
		s.needsJob(job)
		return
	}
	name := spec.Name
	if !name.IsExported() {
		s.report.Report(RuleUnexported, name.Pos(), name.End(), name.Name, upperFirst(name.Name))
	}
	if spec.TypeParams != nil {
		s.report.Report(RuleGeneric, name.Pos(), name.End(), name.Name)
	}
	s.facts.Jobs = append(s.facts.Jobs, job)
}

func (s *scanner) needsJob(job *Job) {
	if s.misspelled {
		return
	}
	for _, d := range job.Directives {
		s.report.Report(RuleNeedsJob, d.Pos, d.End, d.Spec.Name, job.Type.Name.Name)
	}
}
