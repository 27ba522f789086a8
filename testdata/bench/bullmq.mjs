// Drives BullMQ for the benchmark: as a producer that reads a request a line and
// answers with milliseconds, or as a worker.
import { createInterface } from 'node:readline'
import { Queue, Worker } from 'bullmq'

const [role, addr, concurrency] = process.argv.slice(2)
const [host, port] = addr.split(':')
const connection = { host, port: Number(port), maxRetriesPerRequest: null }

const serve = (slots, handle) => new Worker('peer', async job => handle(job.data), { connection, concurrency: slots })

async function enqueue (queue, { jobs, producers, bulk, text }) {
  let next = 0
  const begin = performance.now()
  await Promise.all(Array.from({ length: producers }, async () => {
    while (next < jobs) {
      const first = next
      const count = Math.min(bulk, jobs - first)
      next += count
      if (bulk === 1) {
        await queue.add('bench', { id: first, text })
      } else {
        await queue.addBulk(Array.from({ length: count }, (_, n) => ({ name: 'bench', data: { id: first + n, text } })))
      }
    }
  }))
  return [performance.now() - begin]
}

async function idle (queue, { jobs }) {
  let arrived
  const worker = serve(10, () => arrived(performance.now()))
  await worker.waitUntilReady()
  const took = []
  for (let n = 0; n <= jobs; n++) {
    await new Promise(resolve => setTimeout(resolve, 15))
    const came = new Promise(resolve => { arrived = resolve })
    const begin = performance.now()
    await queue.add('bench', { id: n, text: 'a'.repeat(60) })
    took.push(await came - begin)
  }
  await worker.close()
  return took.slice(1)
}

if (role === 'worker') {
  serve(Number(concurrency), () => {})
  process.stdin.resume()
  process.stdin.on('end', () => process.exit(0))
} else {
  const queue = new Queue('peer', { connection })
  await queue.waitUntilReady()
  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line)
    try {
      const took = await (request.do === 'idle' ? idle : enqueue)(queue, request)
      console.log(JSON.stringify({ took }))
    } catch (failure) {
      console.log(JSON.stringify({ error: String(failure) }))
    }
  }
  process.exit(0)
}
