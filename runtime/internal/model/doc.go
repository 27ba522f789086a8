// Package model is a second description of the protocol's scripts, written from
// what they promise and not from how they work: for each call it predicts the
// reply and the whole store. Tests run it beside an engine and compare. Only
// tests import it.
//
// [State] is what the model believes to be in the keys of one queue, and
// [State.Apply] is a call. Time is not the model's own: it takes the server's
// clock from each reply. [State.Check] states the laws that hold between calls,
// so that a mistake which a script and its model share is found as well.
//
// [Store] is the content of a queue's keys as data and as text.
package model
