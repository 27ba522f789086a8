package work

import (
	"context"

	echomq "github.com/echomq/echomq-go/runtime"

	"example.com/cases/mail"
)

func dropped(ctx context.Context, client *echomq.Client, p *mail.MailProducer, own *echomq.Producer, prepared echomq.Prepared) {
	p.EnqueueWelcome(ctx, mail.Welcome{})              // want `nobody learns that EnqueueWelcome failed; use its error, or write _ where it does not matter \(E101\)`
	(p.EnqueueWelcome(ctx, mail.Welcome{}))            // want `EnqueueWelcome failed`
	p.EnqueueWelcomeBatch(ctx, nil)                    // want `EnqueueWelcomeBatch failed`
	p.PrepareSummary(mail.Digest{})                    // want `PrepareSummary failed`
	go p.EnqueueSummary(ctx, mail.Digest{})            // want `EnqueueSummary failed`
	defer p.EnqueueSummary(ctx, mail.Digest{})         // want `EnqueueSummary failed`
	client.Send(ctx, prepared)                         // want `Send failed`
	echomq.Enqueue(ctx, own, mail.WelcomeJob(), mail.Welcome{}) // want `Enqueue failed`
	echomq.SendFlow(ctx, client, mail.WelcomeJob(), echomq.NewFlow(prepared)) // want `SendFlow failed`
	func() {
		p.EnqueueWelcome(ctx, mail.Welcome{}) // want `EnqueueWelcome failed`
	}()
}

func used(ctx context.Context, client *echomq.Client, p *mail.MailProducer) error {
	_, _ = p.EnqueueWelcome(ctx, mail.Welcome{}) // on purpose
	if _, err := p.EnqueueWelcome(ctx, mail.Welcome{}); err != nil {
		return err
	}
	must(p.EnqueueWelcome(ctx, mail.Welcome{}))
	queue, err := client.Queue("mail")
	if err == nil {
		queue.Pause(ctx) // adds nothing
	}
	lookalike{}.EnqueueWelcome()
	_, err = p.EnqueueSummary(ctx, mail.Digest{})
	return err
}

func must(echomq.Handle[mail.Receipt], error) {}

type lookalike struct{}

func (lookalike) EnqueueWelcome() error { return nil }
