package annotations

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/cron"
)

// TestSynonyms holds that synonyms lead to what the table has, and that none is
// what the table has already.
func TestSynonyms(t *testing.T) {
	t.Parallel()
	for directive, all := range synonyms {
		spec := lookup(directive)
		require.NotNil(t, spec, directive)
		for _, s := range all {
			require.NotNil(t, spec.Item(s.item), "//emq:%s has no item %q", directive, s.item)
			require.NotEmpty(t, strings.Fields(s.words))
			for word := range strings.FieldsSeq(s.words) {
				require.Equal(t, folded(word), word)
				require.Nil(t, spec.Item(word), "//emq:%s %s", directive, word)
				require.True(t, word == directive || lookup(word) == nil, "//emq:%s %s", directive, word)
			}
		}
	}
	seen := map[string]string{}
	for directive, words := range directiveSynonyms {
		require.NotNil(t, lookup(directive), directive)
		for word := range strings.FieldsSeq(words) {
			require.Nil(t, lookup(word), word)
			require.Empty(t, owners(word), word)
			require.Empty(t, seen[word], word)
			seen[word] = directive
		}
	}
	for _, spec := range table {
		require.NotEmpty(t, synonyms[spec.Name], spec.Name)
		require.NotEmpty(t, directiveSynonyms[spec.Name], spec.Name)
	}
}

// TestValueSynonyms holds that words for values lead to values that the item
// takes, and that none is one itself.
func TestValueSynonyms(t *testing.T) {
	t.Parallel()
	for title, values := range valueSynonyms {
		directive, key, _ := strings.Cut(title, " ")
		require.NotNil(t, lookup(directive), title)
		item := lookup(directive).Item(key)
		require.NotNil(t, item, title)
		seen := map[string]bool{}
		for value, words := range values {
			require.True(t, value == none && item.None || slices.Contains(item.Words, value), "%s=%s", title, value)
			for word := range strings.FieldsSeq(words) {
				require.Equal(t, folded(word), word)
				require.False(t, seen[word], "%s=%s", title, word)
				seen[word] = true
				broken, _ := item.Kind.read(item, &Value{Text: word})
				require.NotNil(t, broken, "%s=%s is right", title, word)
				require.Equal(t, value, meantValue(lookup(directive), item, strings.ToUpper(word)))
			}
		}
	}
	require.Subset(t, slices.Collect(maps.Keys(valueSynonyms)), []string{"job timeout", "queue events"})
}

func TestNearestZone(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Europe/Berlim": "Europe/Berlin", "europe/berlin": "Europe/Berlin", "Euorpe/Berln": "Europe/Berlin", "Berlin": "Europe/Berlin", "berlim": "Europe/Berlin",
		"America/NewYork": "America/New_York", "America/New York": "America/New_York", "Europe/New_York": "America/New_York", "new york": "America/New_York",
		"America/Salta": "America/Argentina/Salta", "Asia/Tokio": "Asia/Tokyo", "utc": "UTC", "Utc": "UTC",
		"Mars/Olympus": "", "Local": "", "+01:00": "", "none": "", "": "", "x": "", "/": "", "Europe/": "", "PST": "",
	} {
		require.Equal(t, want, nearestZone(name), name)
	}
	zones := strings.Fields(zoneNames)
	require.True(t, slices.IsSorted(zones))
	require.Greater(t, len(zones), 450)
	for _, zone := range zones {
		require.Equal(t, zone, nearestZone(zone))
		_, err := cron.Zone(zone)
		require.NoError(t, err)
	}
}

func TestFieldTagSynonyms(t *testing.T) {
	t.Parallel()
	require.Len(t, fieldTagSynonyms, len(fieldTags))
	for tag, words := range fieldTagSynonyms {
		for word := range strings.FieldsSeq(words) {
			require.False(t, IsFieldTag(word), word)
			require.Equal(t, `emq:"`+tag+`"`, FieldTagHint(word).Replacement)
		}
	}
	require.Empty(t, FieldTagHint("x").Replacement)
}
