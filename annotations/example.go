package annotations

import (
	"embed"
	"strings"
)

// examples holds an example of each rule: the source of a package as a text
// archive, and what is said about it. A test generates for each, and holds that
// exactly that is said. Mistakes that only emqvet finds have want/vet in the
// place of want/errors.
//
//go:embed examples/*.txtar
var examples embed.FS

// Example returns source that breaks the rule, and what is said about it, to be
// read by people; "" where there is none.
func (r *Rule) Example() string {
	archive, err := examples.ReadFile("examples/" + r.Code + ".txtar")
	if err != nil {
		return ""
	}
	text := string(archive)
	// The name of a single file stands in the message anyway.
	if source, found := strings.CutPrefix(text, "-- mail.go --\n"); found && strings.Count(source, "\n-- ") == 1 {
		text = source
	}
	before, said, _ := strings.Cut(text, "-- want/")
	_, said, _ = strings.Cut(said, "\n")
	return strings.TrimRight(before, "\n") + "\n\n" + said
}
