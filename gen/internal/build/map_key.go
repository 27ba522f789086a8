package build

import (
	"go/types"

	"github.com/echomq/echomq-go/annotations"
)

// mapKey reports a key that JSON cannot write or read. A key of a string kind
// is always written as it is. Any other is written by its MarshalText and read
// by its UnmarshalText where it has them, so it has both; without, it is a whole
// number.
func (c *crossing) mapKey(key types.Type, at place) {
	basic, ok := key.Underlying().(*types.Basic)
	if ok && basic.Kind() == types.Invalid {
		c.basic(basic, at)
		return
	}
	if ok && basic.Info()&types.IsString != 0 {
		return
	}
	// A key is encoded as a value, and decoded through a pointer to it: where it
	// is a pointer or an interface itself, that pointer has no methods.
	writes := hasMethod(key, false, marshalText)
	reads := hasMethod(types.NewPointer(key), false, unmarshalText)
	_, named := types.Unalias(key).(*types.Named)
	number := ok && basic.Info()&types.IsInteger != 0
	switch {
	case writes && reads, number && !writes && !reads:
	case !named || types.IsInterface(key) || !writes && !reads:
		c.refuse(annotations.RuleMapKey, at, at.path, c.string(key))
	case writes:
		c.refuse(annotations.RuleOneWay, at, at.path, c.string(key), marshalText.name, unmarshalText.name)
	case hasMethod(key, true, marshalText):
		c.refuse(annotations.RulePointerReceiver, at, at.path, marshalText.name, c.string(key), "give the method a value receiver, or use another key")
	default:
		c.refuse(annotations.RuleOneWay, at, at.path, c.string(key), unmarshalText.name, marshalText.name)
	}
}
