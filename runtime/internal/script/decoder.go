package script

import "fmt"

// decoder reads the elements of a reply as go-redis returns them: []any, int64,
// string and nil. It keeps the first error; after it, all that it reads is zero.
type decoder struct {
	script  string
	records string // the reply element whose records are read, or ""
	index   int    // of the record
	err     error
}

// reply returns the elements of a reply, which must be of the given number.
func (d *decoder) reply(value any, length int) []any {
	elements, ok := value.([]any)
	switch {
	case !ok:
		d.fail("", "is %s and not an array", describe(value))
	case len(elements) != length:
		d.fail("", "has %d elements and not %d", len(elements), length)
	default:
		return elements
	}
	return make([]any, length)
}

// flat returns the elements of an array of records, each of the given length.
func (d *decoder) flat(element string, value any, length int) []any {
	elements, ok := value.([]any)
	switch {
	case !ok:
		d.fail(element, "is %s and not an array", describe(value))
	case len(elements)%length != 0:
		d.fail(element, "has %d elements, which is not a multiple of %d", len(elements), length)
	default:
		return elements
	}
	return nil
}

func (d *decoder) integer(element string, value any) int64 {
	number, ok := value.(int64)
	if !ok {
		d.fail(element, "is %s and not an integer", describe(value))
	}
	return number
}

func (d *decoder) flag(element string, value any) bool {
	number, ok := value.(int64)
	if !ok || number != 0 && number != 1 {
		d.fail(element, "is %s and neither 0 nor 1", describe(value))
	}
	return number == 1
}

func (d *decoder) text(element string, value any) string {
	text, ok := value.(string)
	if !ok {
		d.fail(element, "is %s and not a string", describe(value))
	}
	return text
}

func (d *decoder) bytes(element string, value any) []byte {
	return []byte(d.text(element, value))
}

// texts reads an array of strings.
func (d *decoder) texts(element string, value any) []string {
	elements, ok := value.([]any)
	if !ok {
		d.fail(element, "is %s and not an array", describe(value))
		return nil
	}
	texts := make([]string, len(elements))
	for i, each := range elements {
		if texts[i], ok = each.(string); !ok {
			d.fail(element, "has %s at %d and not a string", describe(each), i)
			return nil
		}
	}
	return texts
}

func (d *decoder) hash(element string, value any) Hash {
	texts := d.texts(element, value)
	if len(texts)%2 != 0 {
		d.fail(element, "has %d elements, so a field has no value", len(texts))
		return nil
	}
	return texts
}

func (d *decoder) fail(element, format string, args ...any) {
	if d.err != nil {
		return
	}
	if d.records != "" && element != d.records {
		element = fmt.Sprintf("%s[%d].%s", d.records, d.index, element)
	}
	d.err = &DecodeError{Script: d.script, Element: element, Reason: fmt.Sprintf(format, args...)}
}

// Hash is a hash: fields and values in turn.
type Hash []string

// describe names what the server answered, without quoting much of it.
func describe(value any) string {
	const limit = 40
	switch value := value.(type) {
	case nil:
		return "nil"
	case int64:
		return fmt.Sprintf("the integer %d", value)
	case string:
		if len(value) > limit {
			return fmt.Sprintf("the string %q…", value[:limit])
		}
		return fmt.Sprintf("the string %q", value)
	case []any:
		return "an array"
	case error:
		return fmt.Sprintf("the error %q", value.Error())
	default:
		return fmt.Sprintf("a %T", value)
	}
}
