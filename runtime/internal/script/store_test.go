package script_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/echomq/echomq-go/runtime/internal/model"
)

// stubTime is for how long the stub of an ended job is kept at most.
const stubTime = time.Minute

// read returns every key of the queue but the events. What hint has at a key
// says which type is expected there, which saves a question.
func (b *bench) read(ctx context.Context, hint model.Store) (model.Store, error) {
	keys, err := b.client.Keys(ctx, b.queue.Key("*")).Result()
	if err != nil {
		return nil, err
	}
	keys = slices.DeleteFunc(keys, func(key string) bool { return key == b.queue.Key("events") })
	kinds := map[string]string{}
	pipe := b.client.Pipeline()
	asked := map[string]*redis.StatusCmd{}
	for _, key := range keys {
		if kind := kindOf(hint[b.suffix(key)]); kind != "" {
			kinds[key] = kind
		} else {
			asked[key] = pipe.Type(ctx, key)
		}
	}
	if len(asked) > 0 {
		if _, err := pipe.Exec(ctx); err != nil {
			return nil, err
		}
		for key, cmd := range asked {
			kinds[key] = cmd.Val()
		}
	}
	store, err := b.readKinds(ctx, keys, kinds)
	if err != nil && hint != nil && redis.HasErrorPrefix(err, "WRONGTYPE") {
		return b.read(ctx, nil)
	}
	return store, err
}

func (b *bench) suffix(key string) string { return strings.TrimPrefix(key, b.queue.Key("")) }

func kindOf(value any) string {
	switch value.(type) {
	case model.List:
		return "list"
	case model.Hash, model.Stub:
		return "hash"
	case model.ZSet:
		return "zset"
	case model.Set:
		return "set"
	case model.Text:
		return "string"
	}
	return ""
}

// readKinds reads keys of known types in one round trip.
func (b *bench) readKinds(ctx context.Context, keys []string, kinds map[string]string) (model.Store, error) {
	store := model.Store{}
	if len(keys) == 0 {
		return store, nil
	}
	pipe := b.client.Pipeline()
	values := make([]redis.Cmder, len(keys))
	expiries := make([]*redis.DurationCmd, len(keys))
	for i, key := range keys {
		switch kinds[key] {
		case "list":
			values[i] = pipe.LRange(ctx, key, 0, -1)
		case "hash":
			values[i] = pipe.HGetAll(ctx, key)
			expiries[i] = pipe.PTTL(ctx, key)
		case "zset":
			values[i] = pipe.ZRangeWithScores(ctx, key, 0, -1)
		case "set":
			values[i] = pipe.SMembers(ctx, key)
		case "string":
			values[i] = pipe.Get(ctx, key)
		default:
			return nil, fmt.Errorf("key %q has the type %q", key, kinds[key])
		}
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, err
	}
	for i, key := range keys {
		store[b.suffix(key)] = valueOf(values[i], expiries[i])
	}
	return store, nil
}

func valueOf(cmd redis.Cmder, expiry *redis.DurationCmd) any {
	switch cmd := cmd.(type) {
	case *redis.StringSliceCmd:
		if cmd.Name() == "smembers" {
			return model.Set(slices.Sorted(slices.Values(cmd.Val())))
		}
		return model.List(cmd.Val())
	case *redis.MapStringStringCmd:
		if left := expiry.Val(); left > 0 && left <= stubTime {
			return model.Stub(cmd.Val())
		}
		return model.Hash(cmd.Val())
	case *redis.ZSliceCmd:
		set := model.ZSet{}
		for _, z := range cmd.Val() {
			set[z.Member.(string)] = int64(z.Score)
		}
		return set
	case *redis.StringCmd:
		return model.Text(cmd.Val())
	}
	panic(fmt.Sprintf("unexpected command %s", cmd))
}

// events returns the events that were written since the last time.
func (b *bench) events(ctx context.Context) (model.Stream, error) {
	entries, err := b.client.XRange(ctx, b.queue.Key("events"), b.seen, "+").Result()
	if err != nil {
		return nil, err
	}
	var events model.Stream
	for _, entry := range entries {
		name, _ := entry.Values["event"].(string)
		id, _ := entry.Values["jobId"].(string)
		var fields []string
		for field, value := range entry.Values {
			if field != "event" && field != "jobId" {
				fields = append(fields, field, value.(string))
			}
		}
		events = append(events, model.Event{Name: name, ID: id, Fields: model.EventFields(fields)})
		b.seen = "(" + entry.ID
	}
	return events, nil
}

// readAll returns every key of the queue, the events among them.
func (b *bench) readAll(ctx context.Context) (model.Store, error) {
	store, err := b.read(ctx, nil)
	if err != nil {
		return nil, err
	}
	b.seen = "-"
	events, err := b.events(ctx)
	if len(events) > 0 {
		store["events"] = events
	}
	return store, err
}

// plant writes a store into the queue.
func (b *bench) plant(ctx context.Context, store model.Store) error {
	pipe := b.client.Pipeline()
	for suffix, value := range store {
		key := b.queue.Key(suffix)
		switch value := value.(type) {
		case model.List:
			pipe.RPush(ctx, key, anys(value)...)
		case model.Set:
			pipe.SAdd(ctx, key, anys(value)...)
		case model.Hash:
			pipe.HSet(ctx, key, map[string]string(value))
		case model.Stub:
			pipe.HSet(ctx, key, map[string]string(value))
			pipe.PExpire(ctx, key, stubTime)
		case model.ZSet:
			for member, score := range value {
				pipe.ZAdd(ctx, key, redis.Z{Member: member, Score: float64(score)})
			}
		case model.Text:
			pipe.Set(ctx, key, string(value), 0)
		default:
			return fmt.Errorf("a %T at %q cannot be planted", value, suffix)
		}
	}
	_, err := pipe.Exec(ctx)
	return err
}

func anys(words []string) []any {
	values := make([]any, len(words))
	for i, word := range words {
		values[i] = word
	}
	return values
}
