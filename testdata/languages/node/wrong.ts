// What tsc must refuse; each line that it is to complain about is marked.

import type { QuickstartProducer } from './jobs.emq.js';
import type { PackedProducer, Order } from './packed.emq.js';

export async function wrong(quick: QuickstartProducer, all: PackedProducer, order: Order): Promise<void> {
  await quick.enqueueWelcome({}); // TS2345
  await quick.enqueueWelcome({ person: 1 }); // TS2322
  await quick.enqueueWelcome({ person: 'Ada', age: 3 }); // TS2353
  await quick.enqueueCharge({ cents: '1299' }); // TS2322
  await quick.enqueueRemind({ about: 'x' }, { delay: '1s' }); // TS2322
  await all.enqueueOrder({ ...order, lines: [{ sku: 'x', count: 1 }] }); // TS2741
  await all.enqueueOrder({ ...order, placed: 5 }); // TS2322
  await all.enqueueOrder({ ...order, labels: { a: null } }); // TS2322
  order.cents = 5; // TS2540
}
