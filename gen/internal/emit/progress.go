package emit

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/echomq/echomq-go/gen/ir"
)

// progress emits the functions that record and read a job's progress with its
// type.
func (f *file) progress(job *ir.Job) {
	if job.Progress == nil {
		return
	}
	names := job.Names()
	deprecated := carried(deprecation(job.Doc))
	progress := jen.Id(job.Progress.Type)

	f.add(paragraphs(
		comment(fmt.Sprintf("%s records how far the %s job has come, in place of what it recorded before. The errors are those of the method Progress. Progress shape %s.",
			names.Report, job.GoName, job.Progress.Shape)),
		deprecated,
	), jen.Func().Id(names.Report).
		Params(f.context(), jen.Id("job").Op("*").Add(f.echomq("Job")).Types(jen.Id(job.Payload.Type)), jen.Id("progress").Add(progress.Clone())).
		Error().
		Block(jen.Return(jen.Id("job").Dot("Progress").Call(jen.Id("ctx"), jen.Id("progress")))))

	f.add(paragraphs(
		comment(fmt.Sprintf("%s returns how far the %s job has come, as it recorded last, and whether it has recorded anything. It works from any process, while the job runs and for as long as it is kept.",
			names.ProgressOf, job.GoName)),
		deprecated,
	), jen.Func().Id(names.ProgressOf).
		Params(f.context(), jen.Id("handle").Add(f.echomq("Handle")).Types(f.result(job))).
		Params(jen.Id("progress").Add(progress.Clone()), jen.Id("ok").Bool(), jen.Err().Error()).
		Block(jen.Return(f.echomq("ReadProgress").Types(progress.Clone()).Call(jen.Id("ctx"), jen.Id("handle")))))
}
