package annotations

import (
	_ "embed"
	"strings"

	"github.com/echomq/echomq-go/runtime/cron"
)

// zoneNames are the names of time zones that people write, one a line: those of
// the IANA database that begin with an area of the world, and a few short ones.
// They only serve to propose one; which there are is for the database to say.
//
//go:embed zones.txt
var zoneNames string

func readZone(v *Value) (*Rule, []any) {
	if _, err := cron.Zone(v.Text); err == nil && v.Text != "" {
		return nil, nil
	}
	reason := quoteOdd(v.Text) + " is not a time zone; write its name in the IANA database, as in Europe/Berlin"
	near := nearestZone(v.Text)
	if near == v.Text && near != "" {
		return RuleCron, []any{v.Text + " is a time zone that the database of this machine lacks"}
	}
	if _, err := cron.Zone(near); err != nil {
		return RuleCron, []any{reason}
	}
	hint := DidYouMean(near, near)
	hint.Message = reason + hint.Message
	return RuleCron, []any{hint}
}

// nearestZone returns the time zone that a person who wrote name most likely
// meant, or "". The area and the place are compared each by itself; a place alone
// may be one of any area.
func nearestZone(name string) string {
	name = strings.ReplaceAll(strings.TrimSpace(name), " ", "_")
	if name == none {
		return "" // somebody meant off
	}
	var areas []string
	places := map[string][]string{}
	for zone := range strings.FieldsSeq(zoneNames) {
		if strings.EqualFold(zone, name) {
			return zone
		}
		area, place, long := strings.Cut(zone, "/")
		if long && places[area] == nil {
			areas = append(areas, area)
		}
		if long {
			places[area] = append(places[area], place)
		}
	}
	area, place, parted := strings.Cut(name, "/")
	if near := Nearest(area, areas); parted && near != "" {
		if at := Nearest(place, places[near]); at != "" {
			return near + "/" + at
		}
	}
	return zoneOfPlace(name[strings.LastIndex(name, "/")+1:])
}

// zoneOfPlace returns the zone whose last part is nearest to a place: for Salta
// that of America/Argentina/Salta.
func zoneOfPlace(place string) string {
	const short = 3
	if len(place) <= short {
		return ""
	}
	var places []string
	zones := map[string]string{}
	for zone := range strings.FieldsSeq(zoneNames) {
		if slash := strings.LastIndex(zone, "/"); slash >= 0 {
			places = append(places, zone[slash+1:])
			zones[zone[slash+1:]] = zone
		}
	}
	return zones[Nearest(place, places)]
}
