package emit

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/echomq/echomq-go/gen/ir"
)

// result is the type of a job's result, as its handle carries it.
func (f *file) result(job *ir.Job) *jen.Statement {
	if job.Result == nil {
		return f.echomq("None")
	}
	return jen.Id(job.Result.Type)
}

// enqueue emits the methods of the producer for one job.
func (f *file) enqueue(queue *ir.Queue, names ir.QueueNames, job *ir.Job) {
	jobNames := job.Names()
	deprecated := carried(deprecation(job.Doc))
	method := func(name string) *jen.Statement {
		return jen.Func().Params(jen.Id("p").Op("*").Id(names.Producer)).Id(name)
	}
	payload := jen.Id("payload").Id(job.Payload.Type)

	f.add(paragraphs(
		comment(fmt.Sprintf("%s adds one %s job to queue %q.", jobNames.Enqueue, job.GoName, queue.Name)),
		carried(job.Doc),
	), method(jobNames.Enqueue).
		Params(f.context(), payload.Clone(), f.options("EnqueueOption")).
		Params(f.echomq("Handle").Types(f.result(job)), jen.Error()).
		Block(jen.Return(f.echomq("Enqueue").Call(
			jen.Id("ctx"), jen.Id("p").Dot("producer"), jen.Id(jobNames.Job).Call(), jen.Id("payload"), spread(),
		))))

	f.add(paragraphs(
		comment(fmt.Sprintf("%s adds one %s job for each item. The outcomes are in the order of the items.", jobNames.EnqueueBatch, job.GoName)),
		deprecated,
	), method(jobNames.EnqueueBatch).
		Params(f.context(), jen.Id("items").Index().Add(f.echomq("Item")).Types(jen.Id(job.Payload.Type)), f.options("BatchOption")).
		Params(jen.Index().Add(f.echomq("Outcome")).Types(f.result(job)), jen.Error()).
		Block(jen.Return(f.echomq("EnqueueBatch").Call(
			jen.Id("ctx"), jen.Id("p").Dot("producer"), jen.Id(jobNames.Job).Call(), jen.Id("items"), spread(),
		))))

	f.add(paragraphs(
		comment(fmt.Sprintf("%s fixes the id and the bytes of one %s job, which the client's Send adds later.", jobNames.Prepare, job.GoName)),
		deprecated,
	), method(jobNames.Prepare).
		Params(payload.Clone(), f.options("EnqueueOption")).
		Params(f.echomq("Prepared"), jen.Error()).
		Block(jen.Return(f.echomq("Prepare").Call(
			jen.Id("p").Dot("producer"), jen.Id(jobNames.Job).Call(), jen.Id("payload"), spread(),
		))))
}

func (f *file) context() *jen.Statement { return jen.Id("ctx").Qual("context", "Context") }

// jobHandler emits the interface of whoever handles one job.
func (f *file) jobHandler(job *ir.Job) {
	names := job.Names()
	one := jen.Op("*").Add(f.echomq("Job")).Types(jen.Id(job.Payload.Type))
	says, takes := fmt.Sprintf("%s handles %s jobs.", names.Handler, job.GoName), jen.Id("job").Add(one)
	returns := jen.Statement{}
	if job.Batch != nil {
		says = fmt.Sprintf("%s handles %s jobs, many at once. An error holds for all of them, unless it is an echomq.JobErrors.", names.Handler, job.GoName)
		takes = jen.Id("jobs").Index().Add(one)
		returns = append(returns, jen.Index())
	}
	results := jen.Error()
	if job.Result != nil {
		results = jen.Params(returns.Id(job.Result.Type), jen.Error())
	}
	f.add(comment(says),
		jen.Type().Id(names.Handler).Interface(jen.Id(names.Handle).Params(f.context(), takes).Add(results)))
}

// route connects a job with the method that handles it.
func (f *file) route(job *ir.Job) *jen.Statement {
	names := job.Names()
	handle := jen.Id("handler").Dot(names.Handle)
	route, without := "RouteTo", "NoResult"
	if job.Batch != nil {
		route, without = "RouteToBatch", "NoResults"
	}
	if job.Result == nil {
		handle = f.echomq(without).Call(handle)
	}
	return f.echomq(route).Call(jen.Id(names.Job).Call(), handle)
}

// jobType emits the function that returns a job's contract and settings.
func (f *file) jobType(queue *ir.Queue, job *ir.Job) {
	names := job.Names()
	types := []jen.Code{jen.Id(job.Payload.Type), f.result(job)}
	f.add(paragraphs(
		comment(fmt.Sprintf("%s is the contract of job %q of queue %q. %s", names.Job, job.Name, queue.Name, shapes(job))),
		carried(deprecation(job.Doc)),
	), jen.Func().Id(names.Job).Params().Add(f.echomq("JobType")).Types(types...).
		Block(jen.Return(f.echomq("NewJobType").Types(types...).Call(f.jobSpec(queue, job).code(true)).Add(f.uniqueBy(job)).Add(f.groupBy(job)).Add(f.withCodec(job)).Add(f.reads(job)))))
}

// shapes says how the job looks on the wire, so that a change of tags or nested
// types changes the file.
func shapes(job *ir.Job) string {
	if job.Result == nil {
		return fmt.Sprintf("Payload shape %s.", job.Payload.Shape)
	}
	return fmt.Sprintf("Payload shape %s, result shape %s.", job.Payload.Shape, job.Result.Shape)
}

func (f *file) jobSpec(queue *ir.Queue, job *ir.Job) *literal {
	spec := f.literal("JobSpec")
	spec.text("Queue", queue.Name)
	spec.text("Name", job.Name)
	spec.number("Version", job.Version)
	f.contractSpec(spec, job)
	spec.duration("Timeout", job.Timeout)
	if job.NoLimit {
		spec.set("Timeout", f.echomq("NoTimeout"))
	}
	spec.duration("Delay", job.Delay)
	spec.number("Priority", job.Priority)
	retry := f.retrySpec(job.Retry)
	spec.inner("Retry", retry, len(retry.fields) > 3)
	spec.inner("Keep", f.keepSpec(job.Keep), true)
	spec.inner("Unique", f.uniqueSpec(job.Unique), false)
	if job.Batch != nil {
		batch := f.literal("BatchSpec")
		batch.number("Size", job.Batch.Size)
		batch.duration("Wait", job.Batch.Wait)
		spec.inner("Batch", batch, false)
	}
	return spec
}

var (
	backoffs = map[string]string{"fixed": "Fixed", "exponential": "Exponential"}
	jitters  = map[string]string{"full": "FullJitter", "none": "NoJitter"}
)

func (f *file) retrySpec(retry ir.Retry) *literal {
	spec := f.literal("RetrySpec")
	spec.number("Attempts", retry.Attempts)
	spec.word("Backoff", retry.Backoff, backoffs)
	spec.duration("Base", retry.Base)
	spec.duration("Cap", retry.Cap)
	spec.word("Jitter", retry.Jitter, jitters)
	spec.number("Stalls", retry.Stalls)
	if retry.NoStalls {
		spec.set("Stalls", f.echomq("NoStalls"))
	}
	return spec
}

func (f *file) keepSpec(keep ir.Keep) *literal {
	spec := f.literal("KeepSpec")
	spec.inner("Completed", f.retention(keep.Completed), false)
	spec.inner("Failed", f.retention(keep.Failed), false)
	spec.number("Logs", keep.Logs)
	if keep.NoLogs {
		spec.set("Logs", f.echomq("NoLogs"))
	}
	return spec
}

func (f *file) retention(kept ir.Retention) *literal {
	spec := f.literal("Keep")
	if kept.None {
		spec.set("None", jen.True())
	}
	spec.duration("Age", kept.Age)
	spec.number("Count", kept.Count)
	return spec
}
