package echomq_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	echomq "github.com/echomq/echomq-go/runtime"
)

// Reindex is a unique job. UniqueBy is what emqgen writes for
//
//	//emq:unique by=Document until=started conflict=replace
type Reindex struct {
	Document string `json:"document"`
	Revision int    `json:"revision"`
}

func ReindexJob() echomq.JobType[Reindex, echomq.None] {
	return echomq.NewJobType[Reindex, echomq.None](echomq.JobSpec{
		Queue:  "mail",
		Name:   "Reindex",
		Unique: echomq.UniqueSpec{Until: echomq.UntilStarted, Conflict: echomq.ConflictReplace},
	}).UniqueBy(func(key *echomq.UniqueKey, payload *Reindex) {
		key.Text(payload.Document)
	})
}

// However often a document changes, it is indexed once, a while after the last
// change.
func ExampleConflict_debounce() {
	ctx := context.Background()
	client, end := connect(ctx)
	defer end()

	producer := echomq.NewProducer(client, MailSpec())
	var handle echomq.Handle[echomq.None]
	for revision := 1; revision <= 3; revision++ {
		change := Reindex{Document: "readme", Revision: revision}
		var err error
		handle, err = echomq.Enqueue(ctx, producer, ReindexJob(), change, echomq.In(50*time.Millisecond))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("revision", revision, "existing", handle.Existing, "replaced", handle.Replaced)
	}

	worker, err := echomq.NewWorker(client, nil, echomq.Serve(MailSpec(), []echomq.Route{
		echomq.RouteTo(ReindexJob(), echomq.NoResult(func(_ context.Context, job *echomq.Job[Reindex]) error {
			fmt.Println("indexed revision", job.Payload.Revision)
			return nil
		})),
	}))
	if err != nil {
		log.Fatal(err)
	}
	go func() { _ = worker.Run(ctx) }()
	defer func() { _ = worker.Stop(ctx) }()
	if _, err := handle.Await(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// revision 1 existing false replaced false
	// revision 2 existing true replaced true
	// revision 3 existing true replaced true
	// indexed revision 3
}

// Any job can be made unique by a key of one's own.
func ExampleUnique() {
	ctx := context.Background()
	client, end := connect(ctx)
	defer end()

	producer := echomq.NewProducer(client, MailSpec())
	once := echomq.Unique(echomq.UniqueSpec{Key: "user-7", Until: echomq.UntilRemoved, For: time.Hour})
	first, err := echomq.Enqueue(ctx, producer, WelcomeJob(), Welcome{UserID: 7}, once)
	if err != nil {
		log.Fatal(err)
	}
	second, err := echomq.Enqueue(ctx, producer, WelcomeJob(), Welcome{UserID: 7}, once)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(second.ID == first.ID, second.Existing)

	_, err = echomq.Enqueue(ctx, producer, WelcomeJob(), Welcome{UserID: 7}, once,
		echomq.Unique(echomq.UniqueSpec{Conflict: echomq.ConflictError}))
	var duplicate *echomq.DuplicateError
	fmt.Println(errors.As(err, &duplicate) && duplicate.Owner == first.ID)
	// Output:
	// true true
	// true
}
