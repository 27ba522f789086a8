package echomq

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func settingsOf(t *testing.T, spec JobSpec) settings {
	t.Helper()
	require.NoError(t, spec.check())
	set, err := decodeSettings(encodeOpts(spec))
	require.NoError(t, err)
	return set
}

func TestDefaultsTakeNoRoomOnTheWire(t *testing.T) {
	t.Parallel()
	require.Empty(t, encodeOpts(JobSpec{}))
	require.Empty(t, encodeOpts(JobSpec{
		Timeout: DefaultTimeout,
		Retry: RetrySpec{
			Attempts: DefaultAttempts, Backoff: Exponential, Base: DefaultBackoffBase, Cap: DefaultBackoffCap,
			Jitter: FullJitter, Stalls: DefaultStalls,
		},
	}))
	set := settingsOf(t, JobSpec{})
	require.Equal(t, settings{
		attempts: 10, stalls: 3, timeout: 5 * time.Minute, jitter: true, base: time.Second, cap: time.Hour,
		keepCompleted: defaultKeepCompleted, keepFailed: defaultKeepFailed, keepLogs: DefaultLogs,
	}, set)
}

func TestSettingsCrossTheWire(t *testing.T) {
	t.Parallel()
	set := settingsOf(t, JobSpec{
		Timeout: NoTimeout,
		Retry:   RetrySpec{Attempts: 1, Backoff: Fixed, Base: 3 * time.Millisecond, Cap: time.Minute, Jitter: NoJitter, Stalls: NoStalls},
		Keep:    KeepSpec{Completed: Keep{None: true}, Failed: Keep{Age: time.Hour, Count: 7}},
	})
	require.Equal(t, 1, set.attempts)
	require.Equal(t, 0, set.stalls)
	require.Zero(t, set.timeout)
	require.True(t, set.fixed)
	require.False(t, set.jitter)
	require.Equal(t, 3*time.Millisecond, set.base)
	require.Equal(t, time.Minute, set.cap)
	require.True(t, set.keepCompleted.None)
	require.Equal(t, time.Hour.Milliseconds(), set.keepFailed.Age)
	require.Equal(t, 7, set.keepFailed.Count)
	require.Equal(t, 1500*time.Millisecond, settingsOf(t, JobSpec{Timeout: 1500 * time.Millisecond}).timeout)
	require.Equal(t, 5, settingsOf(t, JobSpec{Retry: RetrySpec{Stalls: 5}}).stalls)
}

func TestKeepOnTheWire(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		keep       Keep
		age, count int64
	}{
		{Keep{}, DefaultCompletedAge.Milliseconds(), DefaultCompletedCount},
		{Keep{Age: time.Second}, 1000, 0},
		{Keep{Count: 5}, 0, 5},
		{Keep{Age: Forever, Count: 5}, 0, 5},
		{Keep{Age: time.Second, Count: NoLimit}, 1000, 0},
		{Keep{Age: Forever, Count: NoLimit}, 0, 0},
	} {
		set := settingsOf(t, JobSpec{Keep: KeepSpec{Completed: test.keep}})
		require.Equal(t, test.age, set.keepCompleted.Age, "%+v", test.keep)
		require.EqualValues(t, test.count, set.keepCompleted.Count, "%+v", test.keep)
		require.Equal(t, defaultKeepFailed, set.keepFailed, "%+v", test.keep)
	}
}

func TestOptsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	want := settingsOf(t, JobSpec{})
	for _, opts := range []string{"{", "[]", `"x"`, `{"attempts":"many"}`, `{"attempts":1e99}`, `{"backoff":7}`, "\x00"} {
		set, err := decodeSettings(opts)
		require.Error(t, err, opts)
		require.Equal(t, want, set, "the defaults hold for %q", opts)
	}
	for _, opts := range []string{"null", "{}", `{"unknown":1}`} {
		set, err := decodeSettings(opts)
		require.NoError(t, err, opts)
		require.Equal(t, want, set, opts)
	}
}

func TestHostileOptsDoNoHarm(t *testing.T) {
	t.Parallel()
	for _, opts := range []string{
		`{"attempts":-1,"stalls":-5,"timeout":-9223372036854775808}`,
		`{"timeout":9223372036854775807,"backoff":{"base":9223372036854775807,"cap":9223372036854775807}}`,
		`{"backoff":{"base":-1,"cap":-9223372036854775808}}`,
		`{"backoff":{"base":1,"cap":9223372036854775807}}`,
	} {
		set, err := decodeSettings(opts)
		require.NoError(t, err, opts)
		require.GreaterOrEqual(t, set.stalls, 0)
		require.GreaterOrEqual(t, set.timeout, time.Duration(0))
		for _, attempt := range []int{1, 2, 63, 64, 65, math.MaxInt32} {
			require.NotPanics(t, func() { set.wait(attempt) }, "%s, attempt %d", opts, attempt)
		}
	}
}

func TestExponentialBackoff(t *testing.T) {
	t.Parallel()
	set := settingsOf(t, JobSpec{Retry: RetrySpec{Base: time.Second, Cap: 10 * time.Second, Jitter: NoJitter}})
	for attempt, want := range map[int]time.Duration{
		1: time.Second, 2: 2 * time.Second, 3: 4 * time.Second, 4: 8 * time.Second,
		5: 10 * time.Second, 6: 10 * time.Second, 1000: 10 * time.Second, math.MaxInt32: 10 * time.Second,
	} {
		require.Equal(t, want, set.wait(attempt), "attempt %d", attempt)
	}
}

func TestFixedBackoff(t *testing.T) {
	t.Parallel()
	set := settingsOf(t, JobSpec{Retry: RetrySpec{Backoff: Fixed, Base: 3 * time.Second, Jitter: NoJitter}})
	for _, attempt := range []int{1, 2, 100} {
		require.Equal(t, 3*time.Second, set.wait(attempt))
	}
}

func TestFullJitter(t *testing.T) {
	t.Parallel()
	set := settingsOf(t, JobSpec{Retry: RetrySpec{Base: time.Second, Cap: time.Minute}})
	for attempt, full := range map[int]time.Duration{1: time.Second, 4: 8 * time.Second, 100: time.Minute} {
		low, high := full, time.Duration(0)
		for range 2000 {
			wait := set.wait(attempt)
			low, high = min(low, wait), max(high, wait)
		}
		require.Greater(t, low, time.Duration(0))
		require.LessOrEqual(t, high, full+time.Millisecond)
		require.Less(t, low, full/20, "it spreads from nothing")
		require.Greater(t, high, full*19/20, "to the whole wait")
	}
}

func TestRetryFieldsThatAreLeftOut(t *testing.T) {
	t.Parallel()
	base := RetrySpec{Attempts: 7, Backoff: Fixed, Base: time.Second, Cap: time.Minute, Jitter: NoJitter, Stalls: 9}
	require.Equal(t, base, RetrySpec{}.over(base))
	own := RetrySpec{Attempts: 1, Backoff: Exponential, Base: 2, Cap: 3, Jitter: FullJitter, Stalls: NoStalls}
	require.Equal(t, own, own.over(base))
}

func TestCeilMilliseconds(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]int64{
		0: 0, 1: 1, time.Millisecond - 1: 1, time.Millisecond: 1, time.Millisecond + 1: 2, -1: 0,
		math.MaxInt64: math.MaxInt64/int64(time.Millisecond) + 1,
	} {
		require.Equal(t, want, ceilMilliseconds(wait), "%d", wait)
	}
}

func TestMillisecondsOfTheWire(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]time.Duration{
		0: 0, 1: time.Millisecond, -1: -time.Millisecond, math.MaxInt64: math.MaxInt64, math.MinInt64: math.MinInt64,
	} {
		require.Equal(t, want, milliseconds(n), "%d", n)
	}
}

func TestWireOptsOfALongTimeout(t *testing.T) {
	t.Parallel()
	set, err := decodeSettings(`{"timeout":` + strings.Repeat("9", 18) + `}`)
	require.NoError(t, err)
	require.EqualValues(t, math.MaxInt64, set.timeout)
}
