package gen_test

import (
	"fmt"
	"strings"

	"github.com/echomq/echomq-go/annotations"
)

// wrongValue is a value that an item does not take.
type wrongValue struct {
	title, value string
	codes        []string
}

// valueCodes are the rules that a value of the item's kind can break.
func valueCodes(item *annotations.Item) []string {
	switch item.Kind {
	case annotations.KindQueueName:
		return []string{"E022", "E036", "E093"}
	case annotations.KindWireName:
		return []string{"E023"}
	case annotations.KindGoName:
		return []string{"E024"}
	case annotations.KindTypeName:
		return []string{"E025"}
	case annotations.KindDuration:
		return []string{"E019"}
	case annotations.KindInt:
		return []string{"E020"}
	case annotations.KindWord:
		return []string{"E021"}
	case annotations.KindKeep:
		return []string{"E026", "E019"}
	case annotations.KindRate:
		return []string{"E027"}
	case annotations.KindField:
		return []string{"E070"}
	case annotations.KindCron, annotations.KindZone:
		return []string{"E028"}
	case annotations.KindSchedulerID:
		return []string{"E029"}
	case annotations.KindWas:
		return []string{"E022", "E023"}
	}
	panic(fmt.Sprintf("the rules of kind %d are missing", item.Kind))
}

// noneCodes are the rules that none breaks where it is not allowed.
func noneCodes(item *annotations.Item) []string { return append(valueCodes(item), "E017") }

// wrongValues are values that the item does not take, of every kind of mistake.
func wrongValues(item *annotations.Item) []wrongValue {
	codes := valueCodes(item)
	v := func(title, value string, codes ...string) wrongValue { return wrongValue{title, value, codes} }
	switch item.Kind {
	case annotations.KindQueueName:
		return []wrongValue{
			v("two words", `"two words"`, codes...), v("first character", "_mail", codes...), v("reserved", "emq", codes...),
			v("a slash", "mail/eu", codes...), v("too long", strings.Repeat("m", 129), codes...),
		}
	case annotations.KindWireName:
		return []wrongValue{v("a line feed", `"two\nlines"`, codes...), v("too long", strings.Repeat("w", 256), codes...)}
	case annotations.KindGoName:
		return []wrongValue{v("lower case", "greeting", codes...), v("a hyphen", "Greeting-Card", codes...), v("a digit first", "2Greeting", codes...)}
	case annotations.KindTypeName:
		return []wrongValue{
			v("a pointer", "*Receipt", codes...), v("a slice", "[]Receipt", codes...), v("of another package", "time.Time", codes...),
			v("unknown", "Reciept", codes...), v("not exported", "receipt", codes...), v("of the language", "string", codes...),
		}
	case annotations.KindDuration:
		return []wrongValue{
			v("without a unit", "30", "E018"), v("zero", "0", "E016"), v("zero with a unit", "0s", "E016"),
			v("another unit", "30sec", codes...), v("a unit in upper case", "30S", codes...), v("weeks", "2w", codes...),
			v("a unit that is none", "30x", codes...), v("a space before the unit", `"30 s"`, codes...), v("only a unit", "s", codes...),
			v("negative", "-5s", codes...), v("too fine", "500us", codes...), v("too long", "200000d", codes...), v("a word", "soon", codes...),
			v("a fraction without a unit", "1.5", "E018"),
		}
	case annotations.KindInt:
		wrong := []wrongValue{
			v("a word", "many", codes...), v("negative", "-1", codes...), v("a fraction", "1.5", codes...),
			v("above the largest", fmt.Sprint(item.Max+1), codes...), v("with a unit", "5s", codes...), v("with an underscore", "1_000", codes...),
			v("in quotes with a space", `"1 000"`, codes...),
		}
		if item.Min > 0 {
			zero := codes
			if item.None {
				zero = []string{"E016"}
			}
			wrong = append(wrong, v("zero", "0", zero...))
		}
		return wrong
	case annotations.KindWord:
		wrong := []wrongValue{v("unknown", "xyz", codes...), v("upper case", strings.ToUpper(item.Words[0]), codes...)}
		for _, word := range item.Words {
			wrong = append(wrong, v(word+" without a letter", without(word), codes...))
			if len(word) > 5 {
				wrong = append(wrong, v("beginning of "+word, word[:4], codes...))
			}
		}
		return wrong
	case annotations.KindKeep:
		return []wrongValue{
			v("zero", "0", "E016"), v("zero with a unit", "0h", "E016"), v("two ages", "24h,48h", codes...), v("two counts", "10,20", codes...),
			v("none and a count", "none,100", codes...), v("another unit", "24hours,100", codes...), v("a unit that is none", "24x", codes...),
			v("a word", "forever", codes...), v("negative", "-5", codes...), v("a fraction", "1.5", codes...), v("too large", "2147483648", codes...),
		}
	case annotations.KindRate:
		return []wrongValue{
			v("without a duration", "100", codes...), v("without a unit", "100/60", codes...), v("only a unit", "100/s", codes...),
			v("another unit", "100/1sec", codes...), v("a unit that is none", "100/1x", codes...), v("zero jobs", "0/1s", codes...), v("zero time", "100/0s", codes...),
			v("too many jobs", "1000001/1s", codes...), v("too long", "1/32d", codes...), v("too fine", "1/500us", codes...), v("a word", "fast", codes...),
			v("per", `"100 per second"`, codes...),
		}
	case annotations.KindField:
		return []wrongValue{
			v("unknown", "UserId", "E071"), v("of a field", "UserID.Name", "E071"), v("a dot at the end", "UserID.", codes...),
			v("a hyphen", "User-ID", codes...), v("the name on the wire", "userId", "E071"), v("a list", "Tags", "E072", "E075"),
		}
	case annotations.KindCron:
		return []wrongValue{
			v("without quotes", "0 9 * * mon-fri", codes...), v("four fields", `"0 9 * *"`, codes...), v("out of range", `"0 25 * * *"`, codes...),
			v("a weekday that is none", `"0 9 * * xyz"`, codes...), v("never", `"0 0 30 2 *"`, codes...), v("a macro that is none", "@often", codes...),
			v("@every", `"@every 10m"`, codes...), v("a zone inside", `"TZ=UTC 0 9 * * *"`, codes...),
		}
	case annotations.KindZone:
		return []wrongValue{v("unknown", "Mars/Olympus", codes...), v("of this machine", "Local", codes...), v("an offset", "+01:00", codes...), v("misspelled", "Europe/Berln", codes...)}
	case annotations.KindSchedulerID:
		return []wrongValue{v("two words", `"every morning"`, codes...), v("first character", "_a", codes...), v("too long", strings.Repeat("i", 201), codes...)}
	case annotations.KindWas:
		return []wrongValue{
			v("of an unknown queue", "mial/Hello", "E092"), v("its own name", "Welcome", "E092"), v("twice in a list", "Hello,Hello", "E092"),
			v("a queue that cannot be", "_mail/Hello", "E022"), v("no name", "mail/", "E023"), v("a line feed", `"a\nb"`, "E023"),
		}
	}
	panic(fmt.Sprintf("wrong values of kind %d are missing", item.Kind))
}
