package wire

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// maxGroup is how long the name of a group may be; a longer one is replaced by
// its hash.
const maxGroup = 128

// GroupKey takes the value of a payload that names the group of a job. Each kind
// of value has one text, the same in every language; testdata/wire/group.json has
// vectors for them. The zero GroupKey names no group, and so does the empty text.
type GroupKey struct {
	text string
	err  error
}

// Nil is the value of a pointer that is nil: the job is of no group.
func (k *GroupKey) Nil() { k.text = "" }

// Bool is true or false.
func (k *GroupKey) Bool(value bool) { k.text = strconv.FormatBool(value) }

// Int is a whole number, in plain decimal.
func (k *GroupKey) Int(value int64) { k.text = strconv.FormatInt(value, 10) }

// Uint is a whole number, in plain decimal.
func (k *GroupKey) Uint(value uint64) { k.text = strconv.FormatUint(value, 10) }

// Text is a string as it is.
func (k *GroupKey) Text(value string) { k.text = value }

// Bytes are bytes as they are.
func (k *GroupKey) Bytes(value []byte) { k.text = string(value) }

// Time is a moment, in the form that [UniqueKey.Time] has.
func (k *GroupKey) Time(value time.Time) {
	k.text = fmt.Sprintf("%d.%09d", value.Unix(), value.Nanosecond())
}

// Marshaled is what MarshalText of a value returned. An error becomes that of
// [GroupKey.Name].
func (k *GroupKey) Marshaled(text []byte, err error) { k.text, k.err = string(text), err }

// Name returns the name of the group as it stands on the wire: letters, digits,
// '.', '_' and '-' as they are, each other byte as % and two hexadecimal digits;
// if that has more than 128 characters, '~' and the base64url, without padding, of
// the SHA-256 of the text. It is empty for no group.
func (k *GroupKey) Name() (string, error) {
	if k.err != nil {
		return "", k.err
	}
	if k.text == "" {
		return "", nil
	}
	var name strings.Builder
	for _, c := range []byte(k.text) {
		if isGroupCharacter(c) {
			name.WriteByte(c)
		} else {
			fmt.Fprintf(&name, "%%%02X", c)
		}
	}
	if name.Len() > maxGroup {
		sum := sha256.Sum256([]byte(k.text))
		return "~" + base64.RawURLEncoding.EncodeToString(sum[:]), nil
	}
	return name.String(), nil
}

func isGroupCharacter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-'
}

// IsGroup reports whether name can be a group's on the wire.
func IsGroup(name string) bool {
	other := func(r rune) bool { return r > 127 || !isGroupCharacter(byte(r)) && r != '%' && r != '~' }
	return name != "" && len(name) <= maxGroup && !strings.ContainsFunc(name, other)
}
