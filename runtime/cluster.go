package echomq

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// refresh makes the client of a cluster ask again who serves what, after an
// error that may come of not knowing. By itself it asks once a minute, and when
// a node answers that a slot has moved, which the one that died does not.
func refresh(store redis.UniversalClient, err error) {
	cluster, ok := store.(*redis.ClusterClient)
	if ok && err != nil && (!isReply(err) || hasWord(err, "MOVED")) {
		cluster.ReloadState(context.Background())
	}
}
