package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// open returns a client of the store at an address: of all its nodes, if it is
// one of a cluster.
func open(ctx context.Context, address string) (redis.UniversalClient, error) {
	options, err := connection(address)
	if err != nil {
		return nil, err
	}
	single := redis.NewClient(options)
	info, err := single.Info(ctx, "cluster").Result()
	var answered redis.Error
	if err != nil && !errors.As(err, &answered) {
		return nil, errors.Join(fmt.Errorf("store: %w", err), single.Close())
	}
	if !strings.Contains(info, "cluster_enabled:1") {
		return single, nil // an engine that does not tell is one server
	}
	return redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: []string{options.Addr}, Username: options.Username, Password: options.Password, TLSConfig: options.TLSConfig,
		DisableIdentity: options.DisableIdentity, MaintNotificationsConfig: options.MaintNotificationsConfig,
	}), single.Close()
}

// connection returns the options for a client of the store at an address,
// without noise in the handshake.
func connection(address string) (*redis.Options, error) {
	options, err := redis.ParseURL(address)
	if err != nil {
		return nil, fmt.Errorf("address: %w", err)
	}
	options.DialerRetries = 1
	options.DisableIdentity = true
	options.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return options, nil
}

// engine returns what the store says that it is.
func engine(ctx context.Context, store redis.UniversalClient) (string, error) {
	text, err := store.Info(ctx, "server").Result()
	var refused redis.Error
	switch {
	case errors.As(err, &refused) && store.Ping(ctx).Err() == nil:
		return "an engine that does not say what it is", nil
	case err != nil:
		return "", fmt.Errorf("store: %w", err)
	}
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		fields[name] = value
	}
	name := strings.TrimSpace("redis " + fields["redis_version"])
	if version := fields["valkey_version"]; version != "" {
		name = "valkey " + version
	}
	cluster, ok := store.(*redis.ClusterClient)
	if !ok {
		return name, nil
	}
	var primaries, replicas atomic.Int64
	err = errors.Join(
		cluster.ForEachMaster(ctx, func(context.Context, *redis.Client) error { primaries.Add(1); return nil }),
		cluster.ForEachSlave(ctx, func(context.Context, *redis.Client) error { replicas.Add(1); return nil }),
	)
	return fmt.Sprintf("%s, a cluster of %d primaries and %d replicas", name, primaries.Load(), replicas.Load()), err
}
