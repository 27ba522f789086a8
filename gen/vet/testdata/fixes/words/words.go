// Package words has names and values that are misspelt.
//
//emq:queue name=words
package words

// emq:job timeout=30s // want `is not a directive and would be ignored; write //emq:job \(E001\)`
type Spaced struct{}

//Emq:job // want `write //emq:job \(E001\)`
type Upper struct{}

//emq:jbo priority=1 // want `unknown directive //emq:jbo; .*; did you mean //emq:job\? \(E002\)`
type Directive struct{}

//emq:job timout=30s prioirty=3 // want `unknown item timout .*; did you mean timeout\? \(E011\)` `did you mean priority\?`
//emq:retry backoff="exponental" base=2sec // want `unknown value exponental of backoff.*\(E021\)` `2sec is not a duration; did you mean 2s\? \(E019\)`
type Items struct{}

//emq:job go=lower // want `did you mean Lower\? \(E024\)`
//emq:result *Receipt // want `did you mean Receipt\? \(E025\)`
type Names struct{}

//emq:job timeout=30 // want `30 has no unit; did you mean 30s\? \(E018\)`
type Unit struct{}

/*emq:job*/ // want `write //emq:job \(E001\)`
type Block struct{}

type Receipt struct{}

//emq:job timeout:30s // want `a colon stands in the place of "="; write timeout=30s \(E010\)`
//emq:retry attemps:3 // want `did you mean attempts\? \(E011\)`
type Colons struct{}
