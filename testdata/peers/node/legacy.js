// Real queues of stock BullMQ, which the fence at a client's first contact has to
// see. The tests of the Go runtime start it.
//
//   node legacy.js WAY PREFIX QUEUE …
//
// fills each queue, by BullMQ's WAY: "queue", or "flow", whose jobs come from a
// FlowProducer and of which no Queue was ever made. Of a queue's jobs one is
// completed, and others wait, are delayed and have a priority. It prints a line of
// JSON with BullMQ's version, and waits for a line on its standard input. Then it
// lets a worker of BullMQ do what waits, prints a line with the ids of the jobs
// done, and ends. The store's address is in EMQ_ADDRESS.
'use strict';

const readline = require('node:readline');
const { FlowProducer, Queue, Worker } = require('bullmq');
const { version } = require('bullmq/package.json');
const { connect } = require('./store.js');

let connection;

function say(value) {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

const jobs = [
  { name: 'first', opts: {} },
  { name: 'plain', opts: {} },
  { name: 'ranked', opts: { priority: 3 } },
  { name: 'later', opts: { delay: 600000 } },
];

async function fill(way, prefix, queueName) {
  const options = { connection, prefix };
  const made = jobs.map(({ name, opts }) => ({ name, data: { for: name }, opts: { ...opts, jobId: `${queueName}-${name}` } }));
  if (way === 'flow') {
    const producer = new FlowProducer(options);
    await producer.addBulk(made.map((job) => ({ ...job, queueName })));
    await producer.close();
  } else {
    const queue = new Queue(queueName, options);
    await queue.addBulk(made);
    await queue.close();
  }
  await work(prefix, queueName, 1);
}

// work does so many jobs of a queue, one after the other.
async function work(prefix, queueName, count) {
  const worker = new Worker(queueName, null, { connection, prefix });
  const done = [];
  while (done.length < count) {
    const job = await worker.getNextJob('test');
    if (!job) throw new Error(`${prefix}:${queueName} has no job left after ${done.length} of ${count}`);
    await job.moveToCompleted(`done ${job.data.for}`, 'test', false);
    done.push(job.id);
  }
  await worker.close();
  return done;
}

async function main(way, ...places) {
  connection = await connect(process.env.EMQ_ADDRESS, { maxRetriesPerRequest: null });
  const queues = [];
  for (let i = 0; i < places.length; i += 2) queues.push([places[i], places[i + 1]]);
  for (const [prefix, queue] of queues) await fill(way, prefix, queue);
  say({ version });
  for await (const _ of readline.createInterface({ input: process.stdin })) break;
  const done = {};
  for (const [prefix, queue] of queues) done[`${prefix}:${queue}`] = await work(prefix, queue, 2);
  say({ done });
}

main(...process.argv.slice(2)).catch((error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exitCode = 1;
}).finally(() => connection?.disconnect());
