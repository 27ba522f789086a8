// Package store connects the services of the shop to their store.
package store

import (
	"cmp"
	"fmt"
	"os"

	"github.com/redis/go-redis/v9"
)

// Open returns the store that REDIS_URL names, such as redis://localhost:6379,
// which is the default, or unix:///run/valkey.sock. It does not connect yet.
func Open() (*redis.Client, error) {
	options, err := redis.ParseURL(cmp.Or(os.Getenv("REDIS_URL"), "redis://localhost:6379"))
	if err != nil {
		return nil, fmt.Errorf("REDIS_URL: %w", err)
	}
	return redis.NewClient(options), nil
}
