// Package msgpack is what the code that emqgen writes for codec=msgpack is made
// of: a value of each type is encoded and decoded by functions of its own, which
// call the ones of this package and nothing else.
//
// What it writes is canonical: the same value always gives the same bytes. The
// fields of a struct stand in the order of their names and the keys of a map in
// ascending order, numbers and lengths are as short as they can be, and every NaN
// is the same.
//
// What it reads may come from anybody. Numbers are checked against the range of
// their Go type, lengths against what is there, and nesting against [MaxDepth].
// Fields that are not known are skipped, and bytes after the value are refused.
// An error says in which field it is; see [Error].
//
//	Go                                    MessagePack
//	bool                                  bool
//	int…, uint…, time.Duration (in ns)    the shortest int or uint
//	float32, float64                      float 32, float 64; an integer that is exact is read too
//	string                                str
//	[]byte, [N]byte                       bin; str is read too
//	slice, array                          array; an array has its exact length
//	struct                                map from names to values
//	map                                   map; keys are str, int, or what MarshalText returns
//	pointer, nil slice, nil map           nil, or the value
//	time.Time                             ext -1, in UTC; a str in RFC 3339 is read too
//	with MarshalJSON                      str, of JSON
//	with MarshalText                      str
//
// nil is read where Go has a nil, and refused elsewhere. A field that is absent
// is left as it is.
package msgpack
