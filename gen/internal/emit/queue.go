package emit

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/echomq/echomq-go/gen/ir"
)

// queue emits everything about one queue, in the order in which a reader asks:
// how to add jobs, how to handle them, how to run a worker, what was declared.
func (f *file) queue(queue *ir.Queue) {
	names := queue.Names()
	f.producer(queue, names)
	for i := range queue.Jobs {
		f.enqueue(queue, names, &queue.Jobs[i])
	}
	for i := range queue.Jobs {
		f.jobHandler(&queue.Jobs[i])
	}
	f.handler(queue, names)
	f.served(queue, names)
	f.worker(queue, names)
	for i := range queue.Jobs {
		f.jobType(queue, &queue.Jobs[i])
	}
	for i := range queue.Jobs {
		f.progress(&queue.Jobs[i])
	}
	f.queueSpec(queue, names)
	for i := range queue.Jobs {
		f.older(queue, &queue.Jobs[i])
	}
	for i := range queue.Jobs {
		f.guard(&queue.Jobs[i])
	}
}

func (f *file) producer(queue *ir.Queue, names ir.QueueNames) {
	f.add(comment(fmt.Sprintf("%s adds jobs to queue %q. It is safe for concurrent use.", names.Producer, queue.Name)),
		jen.Type().Id(names.Producer).Struct(jen.Id("producer").Op("*").Add(f.echomq("Producer"))))

	f.add(comment(fmt.Sprintf("%s returns a producer that adds jobs through client.", names.NewProducer)),
		jen.Func().Id(names.NewProducer).
			Params(f.client(), f.options("ProducerOption")).
			Op("*").Id(names.Producer).
			Block(jen.Return(jen.Op("&").Id(names.Producer).Values(
				jen.Id("producer").Op(":").Add(f.echomq("NewProducer")).Call(jen.Id("client"), jen.Id(names.Spec).Call(), spread()),
			))))
}

func (f *file) handler(queue *ir.Queue, names ir.QueueNames) {
	var handlers []jen.Code
	for _, job := range queue.Jobs {
		handlers = append(handlers, jen.Id(job.Names().Handler))
	}
	for _, job := range guests(f.pkg, queue) {
		handlers = append(handlers, jen.Id(job.Names().Handler))
	}
	f.add(comment(fmt.Sprintf("%s handles every job of queue %q. A job that is added to the queue breaks the build of a worker that lacks it.", names.Handler, queue.Name)),
		jen.Type().Id(names.Handler).Interface(handlers...))
}

func (f *file) served(queue *ir.Queue, names ir.QueueNames) {
	var routes, repeated []jen.Code
	for i := range queue.Jobs {
		routes = append(routes, f.route(&queue.Jobs[i]))
		for _, schedule := range queue.Jobs[i].Schedules {
			repeated = append(repeated, f.repeat(&queue.Jobs[i], schedule))
		}
	}
	for _, job := range guests(f.pkg, queue) {
		routes = append(routes, f.route(job))
	}
	routes = append(routes, f.retired(queue)...)
	served := f.echomq("Serve").Call(
		jen.Id(names.Spec).Call(),
		jen.Index().Add(f.echomq("Route")).Custom(jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true}, routes...),
		spread(),
	)
	if len(repeated) > 0 {
		served.Dot("Repeating").Custom(jen.Options{Open: "(", Close: ")", Separator: ",", Multi: true}, repeated...)
	}
	f.add(comment(fmt.Sprintf("%s is queue %q with its handler, for a worker that serves several queues.", names.Queue, queue.Name)),
		jen.Func().Id(names.Queue).
			Params(jen.Id("handler").Id(names.Handler), f.options("QueueOption")).
			Add(f.echomq("Served")).
			Block(
				// A method of a nil interface cannot be had, not even as a value.
				jen.If(jen.Id("handler").Op("==").Nil()).Block(jen.Return(f.echomq("NoHandler").Call(jen.Id(names.Spec).Call()))),
				jen.Return(served),
			))
}

// repeat connects a job with one of its schedules.
func (f *file) repeat(job *ir.Job, schedule ir.Schedule) *jen.Statement {
	spec := f.literal("ScheduleSpec")
	spec.text("ID", schedule.ID)
	spec.text("Cron", schedule.Cron)
	spec.duration("Every", schedule.Every)
	spec.text("Zone", schedule.Zone)
	spec.word("Misfire", schedule.Misfire, misfires)
	payload := jen.Nil()
	if schedule.Func != "" {
		payload = jen.Id(schedule.Func)
	}
	return f.echomq("Repeat").Call(jen.Id(job.Names().Job).Call(), spec.code(false), payload)
}

var misfires = map[string]string{"once": "MisfireOnce", "skip": "MisfireSkip"}

func (f *file) worker(queue *ir.Queue, names ir.QueueNames) {
	f.add(comment(fmt.Sprintf("%s returns a worker that serves queue %q alone. It consumes nothing before its Run is called.", names.NewWorker, queue.Name)),
		jen.Func().Id(names.NewWorker).
			Params(f.client(), jen.Id("handler").Id(names.Handler), f.options("WorkerOption")).
			Params(jen.Op("*").Add(f.echomq("Worker")), jen.Error()).
			Block(jen.Return(f.echomq("NewWorker").Call(
				jen.Id("client"), jen.Id("opts"), jen.Id(names.Queue).Call(jen.Id("handler")),
			))))
}

func (f *file) queueSpec(queue *ir.Queue, names ir.QueueNames) {
	spec := f.literal("QueueSpec")
	spec.text("Name", queue.Name)
	spec.number("Concurrency", queue.Concurrency)
	spec.number("Limit", queue.Limit)
	rate := f.literal("RateSpec")
	rate.number("Jobs", queue.Rate.Jobs)
	rate.duration("Per", queue.Rate.Per)
	spec.inner("Rate", rate, false)
	spec.number("GroupLimit", queue.GroupLimit)
	spec.duration("Lease", queue.Lease)
	spec.word("Events", queue.Events, eventLevels)
	f.add(comment(fmt.Sprintf("%s is what the directive of queue %q says.", names.Spec, queue.Name)),
		jen.Func().Id(names.Spec).Params().Add(f.echomq("QueueSpec")).
			Block(jen.Return(spec.code(len(spec.fields) > 2))))
}

var eventLevels = map[string]string{"none": "EventsNone", "final": "EventsFinal", "all": "EventsAll"}

// client is the parameter of functions that need the store.
func (f *file) client() *jen.Statement { return jen.Id("client").Op("*").Add(f.echomq("Client")) }

// options is the last parameter of functions that take options of a kind.
func (f *file) options(kind string) *jen.Statement {
	return jen.Id("opts").Op("...").Add(f.echomq(kind))
}

// spread passes the options on.
func spread() *jen.Statement { return jen.Id("opts").Op("...") }
