package script_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/echomq/echomq-go/runtime/internal/model"
)

// stubTime is for how long the stub of an ended job is kept at most.
const stubTime = time.Minute

// look returns every key of the queue but the events, and the events that were
// written since the last time. If the keys are those that are expected and of
// their types, it takes one round trip.
func (b *bench) look(ctx context.Context, expected model.Store) (model.Store, model.Stream, error) {
	pipe := b.client.Pipeline()
	keys := pipe.Keys(ctx, b.queue.Key("*"))
	written := pipe.XRange(ctx, b.queue.Key("events"), b.seen, "+")
	reads := make(map[string]reading, len(expected))
	for suffix, value := range expected {
		reads[suffix] = readingOf(ctx, pipe, b.queue.Key(suffix), kindOf(value))
	}
	_, err := pipe.Exec(ctx)
	if err != nil && !redis.HasErrorPrefix(err, "WRONGTYPE") && !errors.Is(err, redis.Nil) {
		return nil, nil, err
	}
	events := b.readEvents(written.Val())
	there := 0
	for _, key := range keys.Val() {
		if _, ok := expected[b.suffix(key)]; ok {
			there++
		} else if key != b.queue.Key("events") {
			there = -len(expected)
		}
	}
	if err != nil || there != len(expected) {
		store, err := b.read(ctx)
		return store, events, err
	}
	store := make(model.Store, len(expected))
	for suffix, reading := range reads {
		store[suffix] = reading.value()
	}
	return store, events, nil
}

// read returns every key of the queue but the events.
func (b *bench) read(ctx context.Context) (model.Store, error) {
	keys, err := b.client.Keys(ctx, b.queue.Key("*")).Result()
	if err != nil {
		return nil, err
	}
	keys = slices.DeleteFunc(keys, func(key string) bool { return key == b.queue.Key("events") })
	store := model.Store{}
	if len(keys) == 0 {
		return store, nil
	}
	pipe := b.client.Pipeline()
	kinds := make([]*redis.StatusCmd, len(keys))
	for i, key := range keys {
		kinds[i] = pipe.Type(ctx, key)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, err
	}
	reads := make([]reading, len(keys))
	for i, key := range keys {
		if reads[i] = readingOf(ctx, pipe, key, kinds[i].Val()); reads[i].content == nil {
			return nil, fmt.Errorf("key %q has the type %q", key, kinds[i].Val())
		}
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, err
	}
	for i, key := range keys {
		store[b.suffix(key)] = reads[i].value()
	}
	return store, nil
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

// reading is what a key is read by.
type reading struct {
	content redis.Cmder
	expiry  *redis.DurationCmd // of a hash
}

// readingOf asks for what a key of a kind has; for nothing if the kind is unknown.
func readingOf(ctx context.Context, pipe redis.Pipeliner, key, kind string) reading {
	switch kind {
	case "list":
		return reading{content: pipe.LRange(ctx, key, 0, -1)}
	case "hash":
		return reading{content: pipe.HGetAll(ctx, key), expiry: pipe.PTTL(ctx, key)}
	case "zset":
		return reading{content: pipe.ZRangeWithScores(ctx, key, 0, -1)}
	case "set":
		return reading{content: pipe.SMembers(ctx, key)}
	case "string":
		return reading{content: pipe.Get(ctx, key)}
	}
	return reading{}
}

func (r reading) value() any {
	switch cmd := r.content.(type) {
	case *redis.StringSliceCmd:
		if cmd.Name() == "smembers" {
			return model.Set(slices.Sorted(slices.Values(cmd.Val())))
		}
		return model.List(cmd.Val())
	case *redis.MapStringStringCmd:
		if left := r.expiry.Val(); left > 0 && left <= stubTime {
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
	panic(fmt.Sprintf("unexpected command %s", r.content))
}

// readEvents returns what new entries of the stream say.
func (b *bench) readEvents(entries []redis.XMessage) model.Stream {
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
	return events
}

// readAll returns every key of the queue, the events among them.
func (b *bench) readAll(ctx context.Context) (model.Store, error) {
	store, err := b.read(ctx)
	if err != nil {
		return nil, err
	}
	entries, err := b.client.XRange(ctx, b.queue.Key("events"), "-", "+").Result()
	if events := b.readEvents(entries); len(events) > 0 {
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
