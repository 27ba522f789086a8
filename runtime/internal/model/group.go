package model

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/echomq/echomq-go/runtime/internal/script"
)

// AtGroupLimit is where the groups begin in the ring that are at their limit: at
// this and the number of their active jobs.
const AtGroupLimit = 1 << 52

// Groups are the jobs of groups: those that wait, and of those that are active
// how many there are.
type Groups struct {
	// Turn is the last turn that was given out; 0 while the queue has had no job of
	// a group.
	Turn int64
	// Waiting are the ids of each group in their order.
	Waiting map[string][]Member
	// Ring has the groups with work by their turn.
	Ring ZSet
	// Active and Of are the number of active jobs of each group, and their groups.
	Active map[string]int64
	Of     map[string]string
	// Next says whether the ring comes next ("1"), or those of no group ("0", or ""
	// as long as it was not asked).
	Next string
}

// Member is a job that waits in its group.
type Member struct{ ID, Place string }

func newGroups() Groups {
	return Groups{Waiting: map[string][]Member{}, Ring: ZSet{}, Active: map[string]int64{}, Of: map[string]string{}}
}

// store enters the groups into the content that the state predicts.
func (g Groups) store(store Store, meta Hash) {
	waiting, active := ZSet{}, Hash{}
	for _, member := range g.Members() {
		waiting[member] = 0
	}
	for group, count := range g.Active {
		active["|"+group] = number(count)
	}
	maps.Copy(active, g.Of)
	if g.Turn > 0 {
		meta["grouped"] = number(g.Turn)
	}
	if g.Next != "" {
		meta["groupNext"] = g.Next
	}
	for key, set := range map[string]ZSet{"grouped": waiting, "groups": g.Ring} {
		if len(set) > 0 {
			store[key] = set
		}
	}
	if len(active) > 0 {
		store["group-active"] = active
	}
}

// Members are the jobs that wait in groups, as the store has them, in its order.
func (g Groups) Members() []string {
	var all []string
	for group, members := range g.Waiting {
		for _, m := range members {
			all = append(all, group+"|"+m.Place+"|"+m.ID)
		}
	}
	slices.Sort(all)
	return all
}

// waits returns the group in which a job waits, "" for none.
func (g Groups) waits(id string) string {
	for group, members := range g.Waiting {
		if slices.ContainsFunc(members, func(m Member) bool { return m.ID == id }) {
			return group
		}
	}
	return ""
}

// joiner is a job that comes to its group, or back to its front.
type joiner struct {
	id, group string
	priority  int64
	front     bool
}

// join puts jobs into their groups, and groups that have none into the ring.
func (s *State) join(joiners []joiner) {
	for _, j := range joiners {
		s.Groups.Turn++
		at := s.Groups.Turn
		if j.front {
			s.reach("groups", "to the front")
			at = 0
		}
		m := Member{ID: j.id, Place: fmt.Sprintf("%07d|%016d", j.priority, at)}
		s.Jobs[j.id].Fields["gpl"] = m.Place
		members := append(slices.Clone(s.Groups.Waiting[j.group]), m)
		slices.SortFunc(members, func(a, b Member) int {
			return cmp.Or(strings.Compare(a.Place, b.Place), strings.Compare(a.ID, b.ID))
		})
		s.Groups.Waiting[j.group] = members
		if !s.Groups.Ring.has(j.group) {
			s.reach("groups", "into the ring")
			s.Groups.Ring[j.group] = s.Groups.Turn
		}
	}
}

// unjoin takes a job out of the group in which it waits.
func (s *State) unjoin(id string) {
	group := s.Groups.waits(id)
	if group == "" {
		return
	}
	left := slices.DeleteFunc(slices.Clone(s.Groups.Waiting[group]), func(m Member) bool { return m.ID == id })
	if s.Groups.Waiting[group] = left; len(left) == 0 {
		s.reach("groups", "out of the ring")
		delete(s.Groups.Waiting, group)
		delete(s.Groups.Ring, group)
	}
}

// part takes jobs that are active no more out of the numbers of their groups, and
// gives those groups their turn again that were at their limit. It reports whether
// there were any.
func (s *State) part(ids []string) (freed bool) {
	var parted []string
	for _, id := range ids {
		group, grouped := s.Groups.Of[id]
		if !grouped {
			continue
		}
		delete(s.Groups.Of, id)
		if s.Groups.Active[group]--; s.Groups.Active[group] <= 0 {
			delete(s.Groups.Active, group)
		}
		if !slices.Contains(parted, group) {
			parted = append(parted, group)
		}
	}
	for _, group := range parted {
		if s.Groups.Ring[group] >= AtGroupLimit {
			s.reach("groups", "freed")
			freed = true
			s.Groups.Turn++
			s.Groups.Ring[group] = s.Groups.Turn
		}
	}
	return freed
}

// open are the groups from which a caller with the given limit may take, at most
// n: those that take turns, and then those that are at another's limit.
func (g Groups) open(limit, n int64) []string {
	open := slices.DeleteFunc(g.Ring.Order(), func(group string) bool {
		return limit > 0 && g.Ring[group] >= AtGroupLimit+limit
	})
	return open[:min(n, int64(len(open)))]
}

// head is the job whose turn it is among the groups, "" for none.
func (g Groups) head() string {
	for _, group := range g.Ring.Order()[:min(1, len(g.Ring))] {
		if g.Ring[group] < AtGroupLimit && len(g.Waiting[group]) > 0 {
			return g.Waiting[group][0].ID
		}
	}
	return ""
}

// heads are the ids that groups can give, one of each in turn, up to a share each
// and to what free says.
func (g Groups) heads(groups []string, want int64, free func(group string) int64) []string {
	var found []string
	if len(groups) == 0 {
		return nil
	}
	share := (want + int64(len(groups)) - 1) / int64(len(groups))
	for k := range share {
		for _, group := range groups {
			if members := g.Waiting[group]; k < int64(len(members)) && k < free(group) {
				found = append(found, members[k].ID)
			}
		}
	}
	return found
}

// merge merges ids of no group and of groups in turns.
func merge(lists, grouped []string, most int64, ringNext *bool) []string {
	var merged []string
	for int64(len(merged)) < most && len(lists)+len(grouped) > 0 {
		if len(lists) > 0 && (!*ringNext || len(grouped) == 0) {
			merged, lists = append(merged, lists[0]), lists[1:]
			*ringNext = true
		} else {
			merged, grouped = append(merged, grouped[0]), grouped[1:]
			*ringNext = false
		}
	}
	return merged
}

// round is what a pick does about groups.
type round struct {
	ring     []string
	limit    int64
	free     map[string]int64 // what each group may give
	gave     map[string]bool
	latest   map[string]int64
	leaving  []string
	of       map[string]string
	ringNext bool
	looked   bool // whether groups are in use and given out
}

// popAll takes the true heads, of no group and of groups.
func (p *picking) popAll(b bounds, room int64) []string {
	r := &p.round
	*r = round{limit: b.perGroup, free: map[string]int64{}, gave: map[string]bool{}, latest: map[string]int64{}, of: map[string]string{}}
	r.ringNext = p.Groups.Next == "1"
	r.looked = p.Groups.Turn > 0 && !p.Paused
	if p.Paused {
		return nil
	}
	var offered []string
	if r.looked && room > 0 {
		r.ring = p.Groups.open(b.perGroup, room)
		share := int64(0)
		if n := int64(len(r.ring)); n > 0 {
			share = (room + n - 1) / n
		}
		for _, group := range r.ring {
			r.free[group] = share
			if b.perGroup > 0 {
				r.free[group] = max(min(share, b.perGroup-p.Groups.Active[group]), 0)
			}
			if p.Groups.Ring[group] >= AtGroupLimit {
				p.State.reach("pick", "at another's group limit")
			}
		}
		offered = p.Groups.heads(r.ring, room, func(group string) int64 { return r.free[group] })
	}
	quota := room
	if len(offered) > 0 {
		half := (room + 1) / 2
		if r.ringNext {
			half = room / 2
		}
		quota = max(half, room-int64(len(offered)))
	}
	lists := p.nextUngrouped(int(quota))
	for _, id := range lists {
		p.unlist(id)
	}
	offered = offered[:min(int64(len(offered)), room-int64(len(lists)))]
	if len(lists) > 0 && len(offered) > 0 {
		p.State.reach("pick", "in turns")
	}
	for h, id := range offered {
		group := p.Groups.waits(id)
		r.of[id], r.gave[group], r.latest[group] = group, true, int64(h)+1
		p.Groups.Waiting[group] = slices.DeleteFunc(slices.Clone(p.Groups.Waiting[group]), func(m Member) bool { return m.ID == id })
		p.State.reach("pick", "from a group")
	}
	r.leaving = offered
	return merge(lists, offered, room, &r.ringNext)
}

// unlist takes a head of no group out.
func (p *picking) unlist(id string) {
	if len(p.Wait) > 0 {
		p.Wait = p.Wait[1:]
	} else {
		delete(p.Prioritized, id)
		p.spare = len(p.Prioritized) == 0
	}
}

// enter counts a head that became active in its group.
func (p *picking) enter(id string) {
	if group, ok := p.round.of[id]; ok {
		p.Groups.Active[group]++
		p.Groups.Of[id] = group
	}
}

// turnGroups gives the groups that were looked at their new places.
func (p *picking) turnGroups() {
	r := p.round
	first := p.Groups.Turn
	p.Groups.Turn += int64(len(r.leaving))
	for _, group := range r.ring {
		switch active := p.Groups.Active[group]; {
		case r.free[group] > 0 && len(p.Groups.Waiting[group]) == 0:
			p.State.reach("pick", "last of its group")
			delete(p.Groups.Ring, group)
			delete(p.Groups.Waiting, group)
		case r.limit > 0 && active >= r.limit:
			p.State.reach("pick", "group at its limit")
			p.Groups.Ring[group] = AtGroupLimit + active
		case r.gave[group]:
			p.Groups.Ring[group] = first + r.latest[group]
		}
	}
	if next := map[bool]string{true: "1", false: "0"}[r.ringNext]; len(r.ring) > 0 && r.ringNext != (p.Groups.Next == "1") {
		p.Groups.Next = next
	}
}

// window returns what comes next, of no group and of groups.
func (p *picking) window() []string {
	lists := p.nextUngrouped(int(p.call.Window))
	if p.Paused {
		return nil
	}
	if !p.round.looked {
		return lists
	}
	peek := min(max(p.call.Want, 1), p.call.Window)
	groups := p.Groups.open(p.round.limit, peek)
	heads := p.Groups.heads(groups, peek, func(string) int64 { return peek })
	ringNext := p.round.ringNext
	return merge(lists, heads[:min(int64(len(heads)), peek)], p.call.Window, &ringNext)
}

// groupOf is the group of a job's hash.
func (s *State) groupOf(id string) string { return s.Jobs[id].Fields["grp"] }

// listGrouped lists those that wait in groups.
func (s *State) listGrouped(c script.List, reply script.ListReply) script.ListReply {
	reply.Place, reply.Last = 0, c.Last
	for _, member := range s.Groups.Members() {
		if c.Begun && member <= c.Last || int64(len(reply.IDs)) == c.Limit {
			continue
		}
		s.reach("list", "grouped")
		reply.IDs = append(reply.IDs, script.ListID{ID: member[strings.LastIndexByte(member, '|')+1:]})
		reply.Last = member
	}
	return reply
}

// checkGroups returns an error if the groups are not as their jobs are.
func (s *State) checkGroups() error {
	counts := map[string]int64{}
	for id, group := range s.Groups.Of {
		counts[group]++
		if !s.Active.has(id) && !s.Tainted[id] {
			return fmt.Errorf("job %s counts for group %s and is not active", id, group)
		}
	}
	if !maps.Equal(counts, s.Groups.Active) {
		return fmt.Errorf("the groups have %v active jobs, and count %v", counts, s.Groups.Active)
	}
	for group, members := range s.Groups.Waiting {
		if len(members) > 0 && !s.Groups.Ring.has(group) {
			return fmt.Errorf("group %s has work and is not in the ring", group)
		}
	}
	for group, turn := range s.Groups.Ring {
		if len(s.Groups.Waiting[group]) == 0 {
			return fmt.Errorf("group %s is in the ring and has no work", group)
		}
		if turn >= AtGroupLimit && s.Groups.Active[group] == 0 {
			return fmt.Errorf("group %s stands at its limit, and no job of it is active", group)
		}
	}
	return nil
}

// parseGroupLimit reads an override of the limit of groups.
func parseGroupLimit(text string) (limit int64, set bool) {
	if text == "none" {
		return 0, true
	}
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	limit, err := strconv.ParseInt(text, 10, 32)
	return limit, err == nil && limit > 0
}
