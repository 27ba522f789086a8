// Drives BullMQ for the benchmark: as a producer that reads a request a line and
// answers with what it did, or as a worker.
import { createInterface } from 'node:readline'
import { Queue, Worker } from 'bullmq'

const [role, text] = process.argv.slice(2)
const { addr, tuned, slots, queues, takes } = JSON.parse(text)
const [host, port] = addr.split(':')
const connection = { host, port: Number(port), maxRetriesPerRequest: null }

const sleep = ms => new Promise(resolve => setTimeout(resolve, ms))
const queueName = (n, queues) => queues <= 1 ? 'bench' : `bench${n % queues}`
const microseconds = () => { const { user, system } = process.cpuUsage(); return user + system }

// serve starts the workers of a queue.
function serve (queue, slots, handle) {
  const many = tuned ? Math.min(4, slots) : 1
  return Array.from({ length: many }, (_, n) => {
    const concurrency = Math.floor((slots + n) / many)
    return new Worker(queue, async job => handle(job.data), { connection, concurrency })
  })
}

const opened = new Map()

function open (name) {
  if (!opened.has(name)) {
    opened.set(name, new Queue(name, { connection, ...(tuned && { defaultJobOptions: { removeOnComplete: true } }) }))
  }
  return opened.get(name)
}

async function enqueue ({ jobs, producers, bulk, text, queues, atMost }) {
  let next = 0
  let added = 0
  const before = microseconds()
  const begin = performance.now()
  await Promise.all(Array.from({ length: producers }, async () => {
    while (next < jobs && !(atMost && performance.now() - begin > atMost)) {
      const first = next
      const count = Math.min(bulk, jobs - first)
      next += count
      const queue = open(queueName(first / bulk, queues))
      if (bulk === 1) {
        await queue.add('bench', { id: first, text })
      } else {
        await queue.addBulk(Array.from({ length: count }, (_, n) => ({ name: 'bench', data: { id: first + n, text } })))
      }
      added += count
    }
  }))
  return { jobs: added, took: performance.now() - begin, cpu: microseconds() - before }
}

// late measures how late handlers begin, as late.go does.
async function late ({ kind, jobs, slots, perSecond, gap, text }) {
  const queue = open('bench')
  const since = new Map()
  const found = []
  let ended = 0
  let arrived = () => {}
  const workers = serve('bench', slots, ({ id }) => {
    const took = performance.now() - since.get(id)
    if (id >= 0) found.push([id, took])
    ended++
    arrived()
  })
  const send = (id, delay) => {
    since.set(id, performance.now() + delay)
    return queue.add('bench', { id, text }, delay ? { delay } : undefined)
  }
  const until = async count => {
    while (ended < count) await new Promise(resolve => { arrived = resolve })
  }
  await Promise.all(workers.map(worker => worker.waitUntilReady()))
  await send(-1, 0)
  await until(1)
  if (kind === 'idle') {
    for (let id = 0; id < jobs; id++) {
      await sleep(gap)
      await Promise.all([send(id, 0), until(id + 2)])
    }
  } else if (kind === 'steady') {
    const begin = performance.now()
    const sent = []
    while (sent.length < jobs) {
      const due = Math.min(jobs, Math.floor((performance.now() - begin) * perSecond / 1000))
      while (sent.length < due) sent.push(send(sent.length, 0))
      await sleep(1)
    }
    await Promise.all(sent)
  } else {
    const begin = performance.now()
    for (let id = 0; id < jobs; id++) {
      await send(id, Math.round(begin + 500 + id * 1000 / perSecond - performance.now()))
    }
  }
  await until(jobs + 1)
  await Promise.all(workers.map(worker => worker.close()))
  return { late: found.sort((a, b) => a[0] - b[0]).map(([, took]) => took) }
}

if (role === 'worker') {
  const report = { handled: 0, cpu: 0 }
  let before
  const handle = async () => {
    if (report.handled++ === 0) before = microseconds()
    if (takes > 0) await sleep(takes / 1e6)
  }
  const many = Math.max(queues, 1)
  for (let n = 0; n < many; n++) serve(queueName(n, many), Math.floor(slots / many), handle)
  process.stdin.resume()
  process.stdin.on('end', () => {
    report.cpu = before === undefined ? 0 : microseconds() - before
    console.log(JSON.stringify(report))
    process.exit(0)
  })
} else {
  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line)
    try {
      console.log(JSON.stringify(await (request.do === 'late' ? late : enqueue)(request)))
    } catch (failure) {
      console.log(JSON.stringify({ error: String(failure) }))
    }
  }
  process.exit(0)
}
