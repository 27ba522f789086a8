// Package lock reads, writes and compares the lock of a package: the file in
// which emqgen keeps what the package's jobs looked like when it ran last, and
// in older versions. From it follows which changes of the source the jobs in
// queues, and the programs that run, would not survive.
//
// The file is text, a block a job and version, sorted:
//
//	emq.lock 1
//
//	job mail/Welcome v1
//	codec json
//	payload Welcome
//	result Receipt
//	type Welcome
//		userId int64 UserID
//		notes []string Notes optional
//	type Receipt
//		messageId string MessageID
//
// A line holds one fact, so that two changes of different facts merge.
package lock
