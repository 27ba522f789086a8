package lock

import (
	"slices"
	"strconv"
	"strings"

	"github.com/echomq/echomq-go/annotations"
	"github.com/echomq/echomq-go/gen/ir"
)

// written finds the names of jobs that are gone, as the source says them.
func (n *next) written() {
	for _, queue := range n.pkg.Queues {
		for _, job := range queue.Jobs {
			for _, was := range job.Was {
				n.named[ID{was.Queue, was.Name}] = true
			}
		}
		for _, retired := range queue.Retired {
			n.named[ID{queue.Name, retired.Name}] = true
		}
	}
}

// unknown reports a former job between two places that no lock knows.
func (n *next) unknown(id ID, pos, end ir.Position, hint annotations.Suggestion) {
	n.found = append(n.found, annotations.RuleFormerUnknown.At(n.place(pos), n.place(end), id.Name, id.Queue, hint))
}

// nearestFormer ends a message with the former job that was probably meant, one
// of the same queue if there is any, as a job in a queue names it. A job that has
// versions already takes no others.
func (n *next) nearestFormer(id ID, queue string, versions bool) annotations.Suggestion {
	var near ID
	if name := annotations.Nearest(id.Name, n.lost(id.Queue, versions)); name != "" {
		near = ID{id.Queue, name}
	} else {
		for i := range n.pkg.Queues {
			other := n.pkg.Queues[i].Name
			if name := annotations.Nearest(id.Name, n.lost(other, versions)); name != "" && (near.Name == "" || name == id.Name && near.Name != name) {
				near = ID{other, name}
			}
		}
	}
	if near.Name == "" {
		return annotations.Suggestion{}
	}
	text := near.Name
	if near.Queue != queue || strings.Contains(text, "/") {
		text = near.String()
	}
	return annotations.DidYouMean(text, quoted(text))
}

// nearestRetired ends a message with the retired job of the same queue that was
// probably meant.
func (n *next) nearestRetired(id ID) annotations.Suggestion {
	near := annotations.Nearest(id.Name, n.lost(id.Queue, false))
	return annotations.DidYouMean(near, quoted(near))
}

// lost returns the names of a queue's jobs that the locks know, and of which the
// source does not say what became of them; without those of which there are
// versions, if so asked.
func (n *next) lost(queue string, bare bool) []string {
	var names []string
	add := func(id ID) {
		if id.Queue == queue && !n.declared[id] && !n.named[id] && !(bare && len(n.base.Versions(id)) > 0) {
			names = append(names, id.Name)
		}
	}
	for _, file := range []*File{n.base, n.Recorded} {
		if file == nil {
			continue
		}
		for _, job := range file.Jobs {
			add(job.ID)
			for _, was := range job.Was {
				add(was)
			}
		}
		for _, ended := range file.Ended {
			add(ended.ID)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// quoted returns text as the value of an item, in quotes where it needs them.
func quoted(text string) string {
	if strings.ContainsAny(text, " ,\"`") || strings.HasPrefix(text, "//") {
		return strconv.Quote(text)
	}
	return text
}
