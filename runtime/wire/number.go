package wire

import (
	"fmt"
	"strconv"
)

// setNumber sets a field to the number that value says, and returns what is
// wrong with value, or "".
func setNumber[T ~int | ~int64](value string, to *T) (reason string) {
	number, err := strconv.ParseInt(value, 10, 64)
	if err != nil || int64(T(number)) != number {
		return fmt.Sprintf("is %q and not a whole number", shorten(value))
	}
	*to = T(number)
	return ""
}
