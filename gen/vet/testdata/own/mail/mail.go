// Package mail declares jobs that package work enqueues and handles.
//
//emq:queue name=mail
package mail

//emq:job
//emq:result Receipt
type Welcome struct{ UserID int64 }

type Receipt struct{ ID string }

//emq:job go=Summary
//emq:batch
type Digest struct{ UserID int64 }
