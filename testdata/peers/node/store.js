// The way to the store, for the programs beside it.
'use strict';

const Redis = require('ioredis');

// connect returns a client of the store at redis://… or unix://…, which gives up
// where it cannot reach it.
function connect(address, options = {}) {
  const url = new URL(address);
  const all = { maxRetriesPerRequest: 0, retryStrategy: () => null, ...options };
  if (url.protocol !== 'unix:') return new Redis(address, all);
  const db = Number(url.searchParams.get('db') || 0);
  return new Redis({ ...all, path: decodeURIComponent(url.pathname), db, password: decodeURIComponent(url.password) || undefined });
}

module.exports = { connect };
