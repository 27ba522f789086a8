package lock

import (
	"slices"

	"github.com/echomq/echomq-go/gen/ir"
)

// unite returns a block that remembers what two blocks of one version of a job do,
// where the one has nothing that jobs and programs of the other would not survive:
// fields that may be absent, and the structs in them. Such fields come and go, so
// it does not matter whether one was added on a branch or removed on the other.
func unite(mine, theirs Job) (Job, bool) {
	if sameBlock(&File{Jobs: []Job{mine}}, &File{Jobs: []Job{theirs}}) {
		return mine, true
	}
	a, b := mine.Contract, theirs.Contract
	a.Structs, b.Structs = nil, nil
	bare := func(job Job, contract ir.Contract) Job { job.Contract = contract; return job }
	if !sameBlock(&File{Jobs: []Job{bare(mine, a)}}, &File{Jobs: []Job{bare(theirs, b)}}) {
		return Job{}, false
	}
	for _, s := range mine.Contract.Structs {
		other := theirs.Contract.Struct(s.Name)
		if other == nil {
			a.Structs = append(a.Structs, s)
			continue
		}
		fields, ok := uniteFields(s.Fields, other.Fields)
		if !ok {
			return Job{}, false
		}
		a.Structs = append(a.Structs, ir.WireStruct{Name: s.Name, Fields: fields})
	}
	for _, s := range theirs.Contract.Structs {
		if mine.Contract.Struct(s.Name) == nil {
			a.Structs = append(a.Structs, s)
		}
	}
	return bare(mine, a), true
}

// uniteFields returns the fields of both, if those that only one has may be absent
// and the others are the same.
func uniteFields(mine, theirs []ir.WireField) ([]ir.WireField, bool) {
	united := slices.Clone(mine)
	for i := range mine {
		f := &mine[i]
		at := slices.IndexFunc(theirs, func(other ir.WireField) bool { return other.Name == f.Name })
		if at < 0 && !f.Tolerant() || at >= 0 && formatField(f) != formatField(&theirs[at]) {
			return nil, false
		}
	}
	for _, f := range theirs {
		if slices.ContainsFunc(mine, func(other ir.WireField) bool { return other.Name == f.Name }) {
			continue
		}
		again := slices.ContainsFunc(mine, func(other ir.WireField) bool { return other.GoName == f.GoName })
		if !f.Tolerant() || again {
			return nil, false
		}
		united = append(united, f)
	}
	return united, true
}
