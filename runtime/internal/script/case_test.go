package script_test

import (
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/internal/enginetest"
	"github.com/echomq/echomq-go/runtime/internal/model"
)

// transition is a call on a store: what lies there before, what the call
// answers, and what lies there after. Times that are near the server's clock
// are written relative to it, as now or now+5; what is zero in a reply is left
// out.
type transition struct {
	name   string
	before string
	call   model.Caller
	reply  string
	after  string
}

// try makes the transitions, each on a queue of its own, on every engine.
func try(t *testing.T, transitions []transition) {
	t.Helper()
	t.Parallel()
	enginetest.Each(t, func(t *testing.T, e *enginetest.Engine) {
		b := newBench(t, e)
		for _, tr := range transitions {
			t.Run(tr.name, func(t *testing.T) {
				b.use(t, e)
				b.plantText(t, tr.before)
				reply, now := b.do(t, tr.call)
				require.Equal(t, strings.TrimSpace(tr.reply), relativeText(valueText(reflect.ValueOf(reply)), now), "the reply")
				store, err := b.readAll(t.Context())
				require.NoError(t, err)
				require.Equal(t, tidy(tr.after), tidy(store.Relative(now)), "the store after")
			})
		}
	})
}

func (b *bench) plantText(t *testing.T, text string) {
	t.Helper()
	store, err := model.ParseStore(text)
	require.NoError(t, err)
	require.NoError(t, b.plant(t.Context(), store))
}

var (
	nowField = regexp.MustCompile(`^\{Now:now ?`)
	moment   = regexp.MustCompile(`\b[0-9]{13}\b`)
	spaces   = regexp.MustCompile(`[ \t]+`)
)

// relativeText writes the times in a reply relative to now, and leaves out now
// itself, with which every reply begins.
func relativeText(text string, now int64) string {
	text = moment.ReplaceAllStringFunc(text, func(digits string) string {
		switch offset := number(digits) - now; {
		case offset == 0:
			return "now"
		case offset > -24*hour && offset < 24*hour:
			return "now" + sign(offset)
		}
		return digits
	})
	return nowField.ReplaceAllString(text, "{")
}

func sign(offset int64) string {
	if offset > 0 {
		return "+" + strconv.FormatInt(offset, 10)
	}
	return strconv.FormatInt(offset, 10)
}

// tidy returns the lines of a store, one space between words, in their order.
func tidy(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = spaces.ReplaceAllString(strings.TrimSpace(line), " "); line != "" {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
