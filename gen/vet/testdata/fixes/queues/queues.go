// Package queues misspells the names of its queues.
//
//emq:queue name=mail
//emq:queue name=push
//emq:retired name=Old to=failed queue=psuh // want `did you mean push\? \(E093\)`
package queues

//emq:job queue=mial // want `did you mean mail\? \(E036\)`
type Stray struct{}

//emq:job queue=mail was=psuh/Hello // want `did you mean push\? \(E092\)`
type Moved struct{}

//emq:job queue=push
type Note struct{}
