package script_test

import (
	"encoding/binary"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/internal/script"
)

func reading[T any](decode func(any) (T, error)) func(any) error {
	return func(reply any) error {
		_, err := decode(reply)
		return err
	}
}

// decoders are those of all scripts.
var decoders = []func(any) error{
	reading(script.DecodeAcknowledge),
	reading(script.DecodeAdd),
	reading(script.DecodeCancel),
	reading(script.DecodeChange),
	reading(script.DecodeCollect),
	reading(script.DecodeCounts),
	reading(script.DecodeDeliver),
	reading(script.DecodeDrain),
	reading(script.DecodeDue),
	reading(script.DecodeErase),
	reading(script.DecodeExpel),
	reading(script.DecodeExtend),
	reading(script.DecodeHeal),
	reading(script.DecodeInspect),
	reading(script.DecodeLeave),
	reading(script.DecodeList),
	reading(script.DecodeLog),
	reading(script.DecodeObliterate),
	reading(script.DecodeOverride),
	reading(script.DecodePause),
	reading(script.DecodePick),
	reading(script.DecodeProgress),
	reading(script.DecodePromote),
	reading(script.DecodePrune),
	reading(script.DecodeRecover),
	reading(script.DecodeRemove),
	reading(script.DecodeReplace),
	reading(script.DecodeReport),
	reading(script.DecodeResume),
	reading(script.DecodeRetry),
	reading(script.DecodeSchedule),
	reading(script.DecodeSettle),
	reading(script.DecodeSweep),
	reading(script.DecodeTick),
	reading(script.DecodeTrim),
	reading(script.DecodeUnschedule),
	reading(script.DecodeVerify),
	reading(script.DecodeView),
}

// FuzzReplies has every decoder read replies that no script gives, as a server of
// another version or a proxy might: each reads them, or says what is wrong.
func FuzzReplies(f *testing.F) {
	scripts, err := filepath.Glob("../../../lua/*.lua")
	require.NoError(f, err)
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
