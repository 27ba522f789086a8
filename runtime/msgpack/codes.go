package msgpack

// The first bytes of values.
const (
	fixMap      = 0x80
	fixArray    = 0x90
	fixStr      = 0xa0
	codeNil     = 0xc0
	codeFalse   = 0xc2
	codeTrue    = 0xc3
	bin8        = 0xc4
	bin16       = 0xc5
	bin32       = 0xc6
	ext8        = 0xc7
	ext16       = 0xc8
	ext32       = 0xc9
	float32Code = 0xca
	float64Code = 0xcb
	uint8Code   = 0xcc
	uint16Code  = 0xcd
	uint32Code  = 0xce
	uint64Code  = 0xcf
	int8Code    = 0xd0
	int16Code   = 0xd1
	int32Code   = 0xd2
	int64Code   = 0xd3
	fixExt1     = 0xd4
	fixExt4     = 0xd6
	fixExt8     = 0xd7
	fixExt16    = 0xd8
	str8        = 0xd9
	str16       = 0xda
	str32       = 0xdb
	array16     = 0xdc
	array32     = 0xdd
	map16       = 0xde
	map32       = 0xdf
	negative    = 0xe0
)

// timeType is the type of the extension for moments: -1.
const timeType = 0xff

// describe names what begins with a code, for errors.
func describe(code byte) string {
	switch {
	case code < fixMap, code >= negative, code >= uint8Code && code <= int64Code:
		return "an integer"
	case code < fixArray, code == map16, code == map32:
		return "a map"
	case code < fixStr, code == array16, code == array32:
		return "an array"
	case code < codeNil, code == str8, code == str16, code == str32:
		return "a string"
	case code == codeNil:
		return "nil"
	case code == codeFalse, code == codeTrue:
		return "a truth value"
	case code == bin8, code == bin16, code == bin32:
		return "bytes"
	case code == float32Code, code == float64Code:
		return "a floating-point number"
	case code == 0xc1:
		return "a byte that begins nothing"
	}
	return "an extension"
}
