package wire

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash"
	"strconv"
	"time"
)

// UniqueKey computes the key that only one job of a queue is to hold, from the
// job's wire name and values of its payload. Every runtime computes the same
// key; testdata/wire/unique.json has vectors for them.
//
// The key is the unpadded base64url of the SHA-256 of a run of parts. A part is
// the decimal number of its bytes, a colon and those bytes, of which the first
// is a letter for its kind: "7:jreport" for the job report, or "3:i42" for the
// number 42.
type UniqueKey struct {
	hash hash.Hash
	err  error
}

// The letters of the kinds.
const (
	uniqueJob   = 'j' // the job's wire name: the first part
	uniqueOwn   = 'k' // a key that the caller chose, in place of values
	uniqueNil   = 'n'
	uniqueBool  = 'b'
	uniqueInt   = 'i'
	uniqueText  = 's'
	uniqueBytes = 'x'
	uniqueTime  = 't'
)

// NewUniqueKey begins the key of a job with the given wire name.
func NewUniqueKey(job string) *UniqueKey {
	k := &UniqueKey{hash: sha256.New()}
	k.part(uniqueJob, job)
	return k
}

// part adds a part. A hash takes all that it is given.
func (k *UniqueKey) part(kind byte, value string) {
	part := strconv.AppendInt(nil, int64(len(value)+1), 10)
	part = append(part, ':', kind)
	k.hash.Write(append(part, value...))
}

// Own adds a key of the caller's own.
func (k *UniqueKey) Own(key string) { k.part(uniqueOwn, key) }

// Nil adds a value that is not there. It differs from every value that is.
func (k *UniqueKey) Nil() { k.part(uniqueNil, "") }

// Bool adds a truth value: 0 or 1.
func (k *UniqueKey) Bool(value bool) {
	if value {
		k.part(uniqueBool, "1")
	} else {
		k.part(uniqueBool, "0")
	}
}

// Int adds a whole number, in plain decimal.
func (k *UniqueKey) Int(value int64) { k.part(uniqueInt, strconv.FormatInt(value, 10)) }

// Uint adds a whole number, in plain decimal: one that is also an Int is the
// same part.
func (k *UniqueKey) Uint(value uint64) { k.part(uniqueInt, strconv.FormatUint(value, 10)) }

// Text adds a string, as UTF-8.
func (k *UniqueKey) Text(value string) { k.part(uniqueText, value) }

// Bytes adds bytes as they are; nil is [UniqueKey.Nil].
func (k *UniqueKey) Bytes(value []byte) {
	if value == nil {
		k.Nil()
	} else {
		k.part(uniqueBytes, string(value))
	}
}

// Time adds a moment: whole seconds since the Unix epoch, a point and nine digits
// of nanoseconds from there on, whatever the time zone.
func (k *UniqueKey) Time(value time.Time) {
	k.part(uniqueTime, fmt.Sprintf("%d.%09d", value.Unix(), value.Nanosecond()))
}

// Marshaled adds a value by its text, as a string: what MarshalText of it
// returned. An error becomes that of [UniqueKey.Sum].
func (k *UniqueKey) Marshaled(text []byte, err error) {
	if err != nil && k.err == nil {
		k.err = err
	}
	k.Text(string(text))
}

// Sum returns the key.
func (k *UniqueKey) Sum() (string, error) {
	return base64.RawURLEncoding.EncodeToString(k.hash.Sum(nil)), k.err
}
