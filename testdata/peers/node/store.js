// The way to the store, for the programs beside it.
'use strict';

const Redis = require('ioredis');

// connect returns a client of the store at redis://… or unix://…, of all nodes if
// it is one of a cluster, which gives up where it cannot reach it.
async function connect(address, options = {}) {
  const url = new URL(address);
  const all = { maxRetriesPerRequest: 0, retryStrategy: () => null, lazyConnect: true, ...options };
  let redis;
  if (url.protocol === 'unix:') {
    const db = Number(url.searchParams.get('db') || 0);
    redis = new Redis({ ...all, path: decodeURIComponent(url.pathname), db, password: decodeURIComponent(url.password) || undefined });
  } else {
    redis = new Redis(address, all);
  }
  await redis.connect();
  const info = await redis.info('cluster').catch(() => ''); // one that does not tell is one server
  if (!info.includes('cluster_enabled:1')) return redis;
  const { host, port, username, password } = redis.options;
  redis.disconnect();
  const cluster = new Redis.Cluster([{ host, port }], {
    lazyConnect: true,
    slotsRefreshTimeout: 5000,
    retryDelayOnTryAgain: 20,
    maxRedirections: 500, // a slot may be under way for seconds
    redisOptions: { username, password, maxRetriesPerRequest: options.maxRetriesPerRequest },
  });
  await cluster.connect();
  return cluster;
}

// servers returns a client of each server that takes writes.
function servers(redis) {
  return redis.isCluster ? redis.nodes('master') : [redis];
}

module.exports = { connect, servers };
