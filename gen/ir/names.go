package ir

import (
	"fmt"
	"unicode"
)

// QueueNames are the identifiers that are generated for a queue. Each is made
// here and nowhere else.
type QueueNames struct {
	Producer    string
	NewProducer string
	Handler     string
	Queue       string
	NewWorker   string
	Spec        string
}

// Names returns the identifiers of q.
func (q Queue) Names() QueueNames {
	return QueueNames{
		Producer:    q.GoName + "Producer",
		NewProducer: "New" + q.GoName + "Producer",
		Handler:     q.GoName + "Handler",
		Queue:       q.GoName + "Queue",
		NewWorker:   "New" + q.GoName + "Worker",
		Spec:        lowerFirst(q.GoName) + "QueueSpec",
	}
}

// All returns the names in the scope of the package.
func (n QueueNames) All() []string {
	return []string{n.Producer, n.NewProducer, n.Handler, n.Queue, n.NewWorker, n.Spec}
}

// JobNames are the identifiers that are generated for a job.
type JobNames struct {
	// Enqueue, EnqueueBatch and Prepare are methods of the queue's producer.
	Enqueue      string
	EnqueueBatch string
	Prepare      string
	// Handle is the method of the handler.
	Handle  string
	Handler string
	Job     string
	// Report and ProgressOf are empty for a job without a progress.
	Report     string
	ProgressOf string
}

// Names returns the identifiers of j.
func (j Job) Names() JobNames {
	names := JobNames{
		Enqueue:      "Enqueue" + j.GoName,
		EnqueueBatch: "Enqueue" + j.GoName + "Batch",
		Prepare:      "Prepare" + j.GoName,
		Handle:       "Handle" + j.GoName,
		Handler:      j.GoName + "Handler",
		Job:          j.GoName + "Job",
	}
	if j.Progress != nil {
		names.Report = "Report" + j.GoName
		names.ProgressOf = j.GoName + "ProgressOf"
	}
	return names
}

// VersionType returns the type of the job's payload in an older version.
func (j Job) VersionType(version int) string { return fmt.Sprintf("%sV%d", j.GoName, version) }

// TypeAfter returns the name of the type into which the payload of an older
// version, by its place in Older, is turned.
func (j Job) TypeAfter(older int) string {
	if older+1 < len(j.Older) {
		return j.VersionType(j.Older[older+1].Version)
	}
	return j.Payload.Type
}

// Upgrade returns the function of the package that makes of a payload of an older
// version one of the next version that is known.
func (j Job) Upgrade(version int) string { return "upgrade" + j.VersionType(version) }

// All returns the names in the scope of the package.
func (n JobNames) All() []string {
	names := []string{n.Handler, n.Job}
	if n.Report != "" {
		names = append(names, n.Report, n.ProgressOf)
	}
	return names
}

// Methods returns the names in the scope of the producer.
func (n JobNames) Methods() []string { return []string{n.Enqueue, n.EnqueueBatch, n.Prepare} }

// lowerFirst returns name with its first word in lower case: Mail gives mail,
// and HTTPMail httpMail.
func lowerFirst(name string) string {
	runes := []rune(name)
	for i := range runes {
		if !unicode.IsUpper(runes[i]) {
			break
		}
		if i > 0 && i+1 < len(runes) && unicode.IsLower(runes[i+1]) {
			break
		}
		runes[i] = unicode.ToLower(runes[i])
	}
	return string(runes)
}

// upperFirst returns name with its first letter in upper case.
func upperFirst(name string) string {
	runes := []rune(name)
	runes[0] = unicode.ToUpper(runes[0])
	return string(runes)
}
