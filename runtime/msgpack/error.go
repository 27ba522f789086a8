package msgpack

import (
	"fmt"
	"strconv"
)

// MaxDepth is how deep values may be nested.
const MaxDepth = 1000

// Error is why a value cannot be encoded or decoded.
type Error struct {
	// Path leads to the value, such as items[3].zip; it is empty for the whole.
	Path string
	// Err says what is wrong with it.
	Err error
}

func (e *Error) Error() string {
	if e.Path == "" {
		return "msgpack: " + e.Err.Error()
	}
	return "msgpack: " + e.Path + ": " + e.Err.Error()
}

// Unwrap returns what is wrong.
func (e *Error) Unwrap() error { return e.Err }

// The kinds of what is under way.
const (
	ofStruct = iota
	ofMap
	ofList
	ofPointer
)

// level is a struct, map, list or pointer that is being encoded or decoded.
type level struct {
	kind int
	// start is where its header begins, and want how many fields that announces.
	start, want int
	// count is how many fields were written, or are left to be read; of a list, the
	// number of the current element, and -1 before the first.
	count int
	// key is the current field's name, or the encoded key of the current element.
	key []byte
	// name is the current field's name where it is a constant.
	name string
}

// path spells where the current value is.
func path(levels []level) string {
	var text []byte
	for i := range levels {
		l := &levels[i]
		switch {
		case l.kind == ofPointer, l.count < 0:
		case l.kind == ofList:
			text = append(text, '[')
			text = strconv.AppendInt(text, int64(l.count), 10)
			text = append(text, ']')
		case l.name == "" && l.key == nil:
		case l.kind == ofMap:
			text = append(append(append(text, '['), keyText(l.key)...), ']')
		default:
			if len(text) > 0 {
				text = append(text, '.')
			}
			text = append(text, l.name...)
			text = fmt.Appendf(text, "%.64s", l.key)
		}
	}
	return string(text)
}

// keyText spells the encoded key of a map.
func keyText(encoded []byte) string {
	d := Decoder{data: encoded}
	if bits, less, ok := d.integer(d.code()); ok {
		if less {
			return strconv.FormatInt(int64(bits), 10)
		}
		return strconv.FormatUint(bits, 10)
	}
	d.pos = 0
	return fmt.Sprintf("%.64q", d.text("a string", false))
}
