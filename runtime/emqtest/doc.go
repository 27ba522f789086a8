// Package emqtest is for the tests of programs that enqueue and handle jobs.
//
// A [Kit] is an engine of the test's own, in its process, with a clock that the
// test moves: nothing is installed, nothing is shared with other tests, and a delay
// of a day takes no time.
//
//	kit := emqtest.New(t)
//	shop := shop.New(mail.NewMailProducer(kit.Client())) // the program's own code
//	shop.SignUp(ctx, "Ada")
//
//	emqtest.Enqueued(kit, mail.WelcomeJob(), emqtest.Payload(mail.Welcome{UserID: 7}))
//	emqtest.NotEnqueued(kit, mail.DigestJob())
//	kit.Drain(mail.MailQueue(handler{})) // runs them, retries and delayed ones too
//
// [Perform] runs one job through the real worker and returns what its handler
// returned. [Completed] and [Failed] make handles for fakes of producers.
//
// All of it is real: the scripts, the client and the worker are those that run in
// production; only the engine is miniredis, and its clock stands.
package emqtest
