package annotations

// FieldTagKey is the key of the struct tag that is this toolkit's own.
const FieldTagKey = "emq"

// The values of the struct tag.
const (
	// TagRedact hides a field.
	TagRedact = "redact"
	// TagPublic says that a field may be seen.
	TagPublic = "public"
)

// FieldTag is a value of the struct tag emq:"VALUE" of a payload's field.
type FieldTag struct {
	Value string
	// Doc says what it does, in whole sentences.
	Doc string
}

// fieldTags are the values, in the order of the documentation.
var fieldTags = []FieldTag{
	{TagRedact, "Hides the value, and all that is in it, wherever this toolkit prints a payload. It still crosses the wire."},
	{TagPublic, "Says that the value may be seen, though its name reads like that of a secret, for which emqvet asks."},
}

// FieldTags returns the values of the struct tag, in the order in which they are
// documented.
func FieldTags() []FieldTag { return append([]FieldTag(nil), fieldTags...) }

// IsFieldTag reports whether value is one of [FieldTags].
func IsFieldTag(value string) bool {
	for _, tag := range fieldTags {
		if tag.Value == value {
			return true
		}
	}
	return false
}

// FieldTagHint ends a message about an unknown value of the struct tag.
func FieldTagHint(value string) Suggestion {
	words, known := make([]string, len(fieldTags)), make([]string, len(fieldTags))
	for i, tag := range fieldTags {
		words[i], known[i] = FieldTagKey+`:"`+tag.Value+`"`, tag.Value
	}
	hint := Suggestion{Message: "; there are " + join(words)}
	near := Nearest(value, known)
	for tag, words := range fieldTagSynonyms {
		if hasWord(words, folded(value)) {
			near = tag
		}
	}
	if near != "" {
		hint.Replacement = FieldTagKey + `:"` + near + `"`
		hint.Message += "; did you mean " + hint.Replacement + "?"
	}
	return hint
}
