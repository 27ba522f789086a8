// Enqueues jobs by the generated producers, for the tests. It prints one JSON line:
// the ids, and what was refused.
//
//   node produce.js ADDRESS BUNDLE QUICKSTART PACKED     with the names of queues

import { Redis } from 'ioredis';
import * as emq from './emq.js';
import { jobOfCharge, QuickstartProducer } from './jobs.emq.js';
import { PackedProducer, type Everything } from './packed.emq.js';

const [address, bundle, quickstart, packed] = process.argv.slice(2) as [string, string, string, string];
const url = new URL(address);
const redis = url.protocol === 'unix:' ? new Redis(url.pathname) : new Redis(address);
const client = new emq.Client(redis, new emq.Bundle(bundle));

const point = { X: 1, Y: -2 };
const empty = {
  baseId: 0, named: false, Int8: 0, Int16: 0, Int32: 0, int64: 0, Int: 0, Uint8: 0, Uint16: 0, Uint32: 0, Uint64: 0, F32: 0, Raw: null, Wait: 0,
  Big: null, Addrs: null, Grid: null, Triple: [point, point, point], Points: null, ByNumber: null, Tags: null, Forest: null, Children: null, Chain: null,
  Anon: { A: 0, B: 0 }, Opt: { set: false }, OptPoint: { set: false }, Alias: point,
  Foreign: { Min: point, Max: point }, Moment: '2026-11-30T12:00:00Z', Empty: {},
} as const satisfies Everything;

const everything: Everything = {
  ...empty,
  baseId: 2n ** 53n + 1n, note: 'note', Count: 255, named: true, Int8: -128, Int16: -32768, Int32: -2147483648, int64: -(2n ** 63n), Int: -1,
  Uint8: 255, Uint16: 65535, Uint32: 4294967295, Uint64: 2n ** 64n - 1n, uint: 7, F32: 1.5, f64: -1e300,
  text: 'Käse \u0000 🧀 <&>', bytes: Buffer.from([0, 255]), sum: [1, 2, 3, 4], Raw: { big: 2n ** 60n + 1n, list: [1, 'x'] },
  time: '2026-11-30T12:00:00.123456789Z', maybe: new Date(Date.UTC(1931, 0, 1, 0, 0, 0, 1)), Wait: 90_000_000_000n, Big: 123456789012345678901234567890n,
  addr: '2001:db8::1', Addrs: { '10.0.0.2': 2 }, Grid: [[1, -2], null, []], Triple: [point, point, { X: 3n, Y: 4 }],
  Points: [point, null], byName: { a: point, '': point }, ByNumber: { '-5': ['x'], 70000: null }, Tags: ['t', ''], Forest: [[], [[], null]],
  Children: [empty], Chain: { Name: '1', Next: { Name: '2' } }, Anon: { A: 1, B: 2 }, Opt: { value: 'optional', set: true },
  OptPoint: { value: point, set: false }, flag: true,
};

const refused: string[] = [];
async function refuses(what: Promise<unknown>): Promise<void> {
  try {
    await what;
    refused.push('nothing');
  } catch (error) {
    refused.push(`${(error as Error).name}: ${(error as Error).message}`);
  }
}

const quick = new QuickstartProducer(client, { queue: quickstart });
const all = new PackedProducer(client, { queue: packed });
const added = [
  await quick.enqueueWelcome({ person: 'Ada' }),
  await quick.enqueueCharge({ cents: 1299n }, { id: 'charge-1', priority: 3 }),
  await quick.enqueueCharge({ cents: 1299 }, { id: 'charge-1' }),
  await quick.enqueueRemind({ about: 'other languages' }),
  await all.enqueueEverything(everything),
  ...(await all.enqueueDigestBatch([{ payload: { userId: 7n, day: '2026-11-30' } }, { payload: { userId: 7, day: '2026-11-30', note: 'again' } }])),
];

await refuses(all.enqueueEverything({ ...empty, Int8: 128 }));
await refuses(all.enqueueEverything({ ...empty, baseId: 2 ** 53 }));
await refuses(all.enqueueEverything({ ...empty, Points: [point, { X: 1.5, Y: 0 }] }));
await refuses(all.enqueueEverything({ ...empty, time: '30.11.2026' }));
await refuses(all.enqueueEverything({ ...empty, unknown: 1 } as Everything));
await refuses(all.enqueueEverything({ ...empty, Tags: undefined } as unknown as Everything));
await refuses(quick.enqueueCharge({ cents: 1 }, { id: 'wait' }));
await refuses(quick.enqueueRemind({ about: 'x' }, { id: 'charge-1' }));
await refuses(client.enqueue(jobOfCharge, [{ payload: { cents: 1 } }], { queue: 'no queue' }));
await refuses(client.enqueue(jobOfCharge, [{ payload: { cents: 1 } }], { queue: `${quickstart}-x` }));

const vectors = (process.env.VECTORS ? JSON.parse(process.env.VECTORS) : []) as { job: string; values: Record<string, unknown>[] }[];
const keys = vectors.map(({ job, values }) => emq.uniqueKey(job, values.map((value) => {
  const [form, given] = Object.entries(value)[0]!;
  switch (form) {
    case 'nil': return 'n';
    case 'own': return `k${given as string}`;
    case 'uint': return emq.uniquePart('int', BigInt(given as string));
    case 'int': return emq.uniquePart('int', BigInt(given as string));
    case 'bytes': return emq.uniquePart('bytes', Buffer.from(given as string, 'base64'));
    default: return emq.uniquePart(form as 'bool' | 'text' | 'time', given);
  }
})));
process.stdout.write(`${JSON.stringify({ added, refused, keys })}\n`);
redis.disconnect();
