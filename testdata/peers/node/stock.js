// What stock BullMQ sees of a queue: it reads, and writes nothing. This is part of
// `emq probe fleet`, which shows with it that BullMQ's wire and EchoMQ 2.0 do not
// meet.
//
//   node stock.js QUEUE JOB     reads the store's address from EMQ_ADDRESS, prints
//                               one JSON object: the version of BullMQ, how many
//                               jobs it sees, whether it sees that job
'use strict';

const { connect } = require('./store.js');

async function main(queueName, id) {
  let bullmq;
  try {
    bullmq = require('bullmq');
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error;
    process.stdout.write('{"available":false}\n');
    return;
  }
  const connection = await connect(process.env.EMQ_ADDRESS, { maxRetriesPerRequest: null });
  // On a cluster it has to be given a hash tag.
  const prefix = connection.isCluster ? '{bull}' : 'bull';
  const queue = new bullmq.Queue(queueName, { connection, prefix, skipMetasUpdate: true });
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
