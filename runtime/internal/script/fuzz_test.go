package script_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/lua"
	"github.com/echomq/echomq-go/runtime/internal/script"
)

func decoding[T any](decode func(any) (T, error)) func(any) error {
	return func(reply any) error {
		_, err := decode(reply)
		return err
	}
}

// decoders are those of all scripts.
var decoders = []func(any) error{
	decoding(script.DecodeAcknowledge),
	decoding(script.DecodeAdd),
	decoding(script.DecodeCancel),
	decoding(script.DecodeChange),
	decoding(script.DecodeCollect),
	decoding(script.DecodeCounts),
	decoding(script.DecodeDeclare),
	decoding(script.DecodeDeliver),
	decoding(script.DecodeDrain),
	decoding(script.DecodeDue),
	decoding(script.DecodeErase),
	decoding(script.DecodeExpel),
	decoding(script.DecodeExtend),
	decoding(script.DecodeHeal),
	decoding(script.DecodeInspect),
	decoding(script.DecodeLeave),
	decoding(script.DecodeList),
	decoding(script.DecodeLog),
	decoding(script.DecodeObliterate),
	decoding(script.DecodeOverride),
	decoding(script.DecodePause),
	decoding(script.DecodePick),
	decoding(script.DecodeProgress),
	decoding(script.DecodePromote),
	decoding(script.DecodePrune),
	decoding(script.DecodeRecover),
	decoding(script.DecodeRemove),
	decoding(script.DecodeReplace),
	decoding(script.DecodeReport),
	decoding(script.DecodeResume),
	decoding(script.DecodeRetry),
	decoding(script.DecodeSchedule),
	decoding(script.DecodeSettle),
	decoding(script.DecodeSweep),
	decoding(script.DecodeTick),
	decoding(script.DecodeTrim),
	decoding(script.DecodeUnschedule),
	decoding(script.DecodeVerify),
	decoding(script.DecodeView),
}

// FuzzReplies has every decoder read replies that no script gives, as a server of
// another version or a proxy might: each reads them, or says what is wrong.
func FuzzReplies(f *testing.F) {
	scripts := slices.DeleteFunc(lua.All(), func(s lua.Script) bool { return s.Of != "" })
	require.Len(f, decoders, len(scripts))
	f.Add([]byte{})
	f.Add([]byte{isList, 2, isText, 2, 'o', 'k', isNumber, 1})
	f.Add([]byte{isList, 3, isNumber, 1, isList, 2, isText, 0, isNothing, isNumber, 0})
	f.Add([]byte{isList, 4, isText, 2, 'o', 'k', isNumber, 1, isList, 0, isList, 1, isList, 0})
	f.Fuzz(func(t *testing.T, form []byte) {
		reply, _ := replyOf(form, 0)
		for _, decode := range decoders {
			if err := decode(reply); err != nil {
				require.ErrorIs(t, err, script.ErrReply)
				require.Less(t, len(err.Error()), 500)
			}
		}
	})
}

// What a byte of a form begins.
const (
	isNothing = iota
	isNumber
	isText
	isList
	forms
)

// replyOf makes a reply, as go-redis returns it, of the beginning of a form, and
// returns the rest.
func replyOf(form []byte, depth int) (any, []byte) {
	if len(form) == 0 || depth > 8 {
		return nil, nil
	}
	kind, form := form[0]%forms, form[1:]
	switch kind {
	case isNumber:
		number, n := binary.Varint(form)
		return number, form[max(n, 0):]
	case isText:
		if len(form) == 0 {
			return "", nil
		}
		length := min(int(form[0]), len(form)-1)
		return string(form[1 : 1+length]), form[1+length:]
	case isList:
		if len(form) == 0 {
			return []any{}, nil
		}
		list, length := []any{}, int(form[0]%32)
		form = form[1:]
		for range length {
			var element any
			element, form = replyOf(form, depth+1)
			list = append(list, element)
		}
		return list, form
	}
	return nil, form
}
