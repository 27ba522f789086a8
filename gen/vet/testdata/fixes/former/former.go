// Package former misspells the names of jobs that are gone.
//
//emq:queue name=mail
//emq:queue name=push
//emq:retired to=failed name=Gooodbye queue=mail // want `did you mean Goodbye\? \(E094\)`
//emq:retired name="Two wrods" queue=mail to=discard // want `did you mean Two words\? \(E094\)`
package former

//emq:job queue=mail was=Helo,Greeting // want `did you mean Hello\? \(E094\)` `did you mean push/Greeting\? \(E094\)`
type Welcome struct{}

//emq:job queue=push
type Note struct{}
