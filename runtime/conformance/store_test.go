package conformance_test

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/internal/model"
	"github.com/echomq/echomq-go/runtime/wire"
)

// plant writes a situation into a queue.
func plant(t *testing.T, client *redis.Client, queue wire.Queue, situation string) {
	t.Helper()
	store, err := model.ParseStore(linesOf(situation))
	require.NoError(t, err, situation)
	pipe := client.Pipeline()
	for suffix, value := range store {
		key := queue.Key(suffix)
		switch value := value.(type) {
		case model.List:
			for _, element := range value {
				pipe.RPush(t.Context(), key, element)
			}
		case model.Set:
			for _, member := range value {
				pipe.SAdd(t.Context(), key, member)
			}
		case model.Hash:
			pipe.HSet(t.Context(), key, inOrder(value)...)
		case model.Stub:
			pipe.HSet(t.Context(), key, inOrder(value)...)
			pipe.Expire(t.Context(), key, hour)
		case model.ZSet:
			for member, score := range value {
				pipe.ZAdd(t.Context(), key, redis.Z{Member: member, Score: float64(score)})
			}
		case model.Text:
			pipe.Set(t.Context(), key, string(value), 0)
		default:
			t.Fatalf("a %T cannot be planted", value)
		}
	}
	_, err = pipe.Exec(t.Context())
	require.NoError(t, err)
}

// inOrder returns a hash always in the same order, in which an engine keeps it.
func inOrder(hash map[string]string) []any {
	var pairs []any
	for _, field := range slices.Sorted(maps.Keys(hash)) {
		pairs = append(pairs, field, hash[field])
	}
	return pairs
}

// unload returns what lies in a queue, times relative to now, and deletes it.
func unload(ctx context.Context, client *redis.Client, queue wire.Queue, now int64) (string, error) {
	keys, err := client.Keys(ctx, queue.Key("*")).Result()
	if err != nil || len(keys) == 0 {
		return "", err
	}
	slices.Sort(keys)
	pipe := client.Pipeline()
	kinds := make([]*redis.StatusCmd, len(keys))
	lives := make([]*redis.DurationCmd, len(keys))
	for i, key := range keys {
		kinds[i], lives[i] = pipe.Type(ctx, key), pipe.TTL(ctx, key)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return "", err
	}
	values := make([]redis.Cmder, len(keys))
	for i, key := range keys {
		values[i] = readKey(ctx, pipe, key, kinds[i].Val())
	}
	pipe.Del(ctx, keys...)
	if _, err := pipe.Exec(ctx); err != nil {
		return "", err
	}
	var text strings.Builder
	for i, key := range keys {
		fmt.Fprintf(&text, "%s %s %s expires=%t\n", strings.TrimPrefix(key, queue.Key("")), kinds[i].Val(), content(values[i]), lives[i].Val() > 0)
	}
	return relative(text.String(), now), nil
}

func readKey(ctx context.Context, pipe redis.Pipeliner, key, kind string) redis.Cmder {
	switch kind {
	case "set":
		return pipe.SMembers(ctx, key)
	case "list":
		return pipe.LRange(ctx, key, 0, -1)
	case "hash":
		return pipe.HGetAll(ctx, key)
	case "zset":
		return pipe.ZRangeWithScores(ctx, key, 0, -1)
	case "stream":
		return pipe.XRange(ctx, key, "-", "+")
	}
	return pipe.Get(ctx, key)
}

func content(cmd redis.Cmder) string {
	switch cmd := cmd.(type) {
	case *redis.StringSliceCmd:
		return fmt.Sprint(cmd.Val())
	case *redis.MapStringStringCmd:
		return fmt.Sprint(cmd.Val())
	case *redis.ZSliceCmd:
		var text strings.Builder
		for _, z := range cmd.Val() {
			fmt.Fprintf(&text, "[%v %.0f]", z.Member, z.Score)
		}
		return text.String()
	case *redis.XMessageSliceCmd:
		var text strings.Builder
		for _, entry := range cmd.Val() {
			fmt.Fprint(&text, entry.Values)
		}
		return text.String()
	case *redis.StringCmd:
		return cmd.Val()
	}
	return fmt.Sprintf("a %T", cmd)
}

// farFuture is a due time that no test lives to see.
const farFuture = 4_000_000_000_000

// moment is a time, or the time until one.
var moment = regexp.MustCompile(`\b[0-9]{13}\b`)

// relative writes the times in a text relative to now.
func relative(text string, now int64) string {
	return moment.ReplaceAllStringFunc(text, func(digits string) string {
		value, err := strconv.ParseInt(digits, 10, 64)
		switch offset := value - now; {
		case err == nil && offset > -24*hour && offset < 24*hour:
			return fmt.Sprintf("now%+d", offset)
		case value+now == farFuture:
			return "until the far future"
		}
		return digits
	})
}
