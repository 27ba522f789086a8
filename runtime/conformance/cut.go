package conformance

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strings"
)

// cut shortens what is long among the arguments of a command. A key of the
// protocol is left whole.
func cut(args []string) []string {
	const most, longest = 40, 60
	short := make([]string, 0, min(len(args), most+1))
	for i, arg := range args {
		if i == most {
			return append(short, fmt.Sprintf("… %d more", len(args)-most))
		}
		if len(arg) > longest && !strings.HasPrefix(arg, "emq:{") {
			arg = arg[:longest] + "…"
		}
		short = append(short, strings.ToValidUTF8(arg, "?"))
	}
	return short
}

// digestOfScript returns the digest by which EVALSHA would call a script.
func digestOfScript(source string) string {
	sum := sha1.Sum([]byte(source))
	return hex.EncodeToString(sum[:])
}
