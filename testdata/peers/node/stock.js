// What stock BullMQ sees of a queue: it reads, and writes nothing. This is part of
// `emq probe fleet`, which shows with it that BullMQ's wire and EchoMQ 2.0 do not
// meet.
//
//   node stock.js QUEUE JOB     reads the store's address from EMQ_ADDRESS, prints
//                               one JSON object: the version of BullMQ, how many
//                               jobs it sees, whether it sees that job
'use strict';

async function main(queueName, id) {
  let bullmq;
  try {
    bullmq = require('bullmq');
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error;
    process.stdout.write('{"available":false}\n');
    return;
  }
  const Redis = require('ioredis');
  const url = new URL(process.env.EMQ_ADDRESS);
  const options = { maxRetriesPerRequest: null, retryStrategy: () => null };
  const connection = url.protocol === 'unix:'
    ? new Redis({ ...options, path: decodeURIComponent(url.pathname), db: Number(url.searchParams.get('db') || 0), password: decodeURIComponent(url.password) || undefined })
    : new Redis(process.env.EMQ_ADDRESS, options);
  const queue = new bullmq.Queue(queueName, { connection, skipMetasUpdate: true });
  try {
    const counts = await queue.getJobCounts();
    const job = await queue.getJob(id);
    const jobs = Object.values(counts).reduce((sum, count) => sum + count, 0);
    const version = require('bullmq/package.json').version;
    process.stdout.write(`${JSON.stringify({ available: true, version, jobs, found: Boolean(job) })}\n`);
  } finally {
    await queue.close();
    connection.disconnect();
  }
}

main(...process.argv.slice(2)).catch((error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exitCode = 1;
});
