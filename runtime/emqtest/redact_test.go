package emqtest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/emqtest"
)

// A failure shows nothing of the fields that are redacted, and says so if it is
// they that differ.
func TestFailuresHideWhatIsRedacted(t *testing.T) {
	t.Parallel()
	job := echomq.NewJobType[welcome, string](echomq.JobSpec{Queue: "mail", Name: "Welcome", Redact: []string{"/template", "/Tags/*"}})
	told := func(look func(kit *emqtest.Kit)) string {
		return failure(t, func(f testing.TB) {
			kit := emqtest.New(f)
			enqueue(t, kit, welcome{UserID: 7, Template: "secret one", Tags: []string{"secret two"}}, echomq.ID("one"))
			look(kit)
		})
	}
	const shown = `payload {"Tags":["[redacted]"],"template":"[redacted]","userId":7}`
	said := told(func(kit *emqtest.Kit) { emqtest.NotEnqueued(kit, job) })
	require.Contains(t, said, shown)
	require.NotContains(t, said, "secret")

	for wanted, differs := range map[string]string{
		"secret three": "payload.userId: want 8, got 7",
		"secret four":  "payload: fields differ that are redacted",
	} {
		payload := welcome{UserID: 7, Template: wanted, Tags: []string{"secret two"}}
		if wanted == "secret three" {
			payload.UserID = 8
		}
		said = told(func(kit *emqtest.Kit) { emqtest.Enqueued(kit, job, emqtest.Payload(payload)) })
		require.Contains(t, said, shown)
		require.Contains(t, said, differs)
		require.Contains(t, said, "payload: fields differ that are redacted")
		require.NotContains(t, said, "secret")
	}
	require.Empty(t, told(func(kit *emqtest.Kit) {
		emqtest.Enqueued(kit, job, emqtest.Payload(welcome{UserID: 7, Template: "secret one", Tags: []string{"secret two"}}))
	}), "it is the payload itself that is compared")
}
