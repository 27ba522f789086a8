// A test peer for `emq probe fleet`, and not a library: it exists to show that a
// runtime in another language can speak EchoMQ 2.0 from the bundle (lua/*.lua and
// lua/manifest.json) alone. Nobody should run jobs with it. It renews no leases,
// recovers no jobs, trims nothing and makes no first contact with a queue.
//
//   node peer.js BUNDLE      speaks the lines of docs/peers.md on stdin and stdout
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const readline = require('node:readline');
const { randomUUID } = require('node:crypto');
const { connect, servers } = require('./store.js');

const PEER = 1;
// What the protocol's page says a runtime uses where nobody says otherwise.
const EVENTS = 'final';
const HISTORY = 10000;
const LEASE = 15000;
const REPLY_LIMIT = 8 << 20;
const PAYLOAD_LIMIT = 1 << 20;
const MAX_BLOCK = 2000;
const MAX_DUE = 500;
const UNKNOWN_RETURN = 1000;
const MAX_RETURN = 300000;

// Bundle is the scripts and their manifest: it builds every call, KEYS included,
// and names every element of an answer.
class Bundle {
  constructor(dir) {
    this.manifest = JSON.parse(fs.readFileSync(path.join(dir, 'manifest.json'), 'utf8'));
    this.scripts = new Map();
    for (const script of this.manifest.scripts) {
      script.source = fs.readFileSync(path.join(dir, script.file));
      this.scripts.set(script.name, script);
    }
    this.fields = new Map(this.manifest.job.fields.map((field) => [field.wire, field]));
    // "calling" gives each pattern up to the first comma.
    this.keyPattern = this.manifest.calling.key.split(',')[0];
    this.eachPattern = this.manifest.calling.each.split(',')[0];
  }

  script(name) {
    const script = this.scripts.get(name);
    if (!script) throw new Error(`the manifest has no script ${name}`);
    return script;
  }

  // key is the key that a script declares under the suffix.
  key(name, queue, suffix) {
    if (!this.script(name).keys.some((key) => key.suffix === suffix)) {
      throw new Error(`${name} declares no key ${suffix}`);
    }
    return fill(this.keyPattern, { '{queue}': `{${queue}}`, SUFFIX: suffix });
  }

  // build returns KEYS and ARGV of a call.
  build(name, queue, args, items) {
    const script = this.script(name);
    const keys = script.keys.map((key) => this.key(name, queue, key.suffix));
    const argv = script.args.map((arg) => encode(name, arg, args));
    for (const item of items) {
      for (const each of script.each) {
        keys.push(fill(this.eachPattern, { '{queue}': `{${queue}}`, PATTERN: each.pattern, '<id>': item.id }));
      }
      argv.push(...script.items.map((arg) => encode(name, arg, item)));
    }
    return { keys, argv };
  }

  // decode names the elements of an answer.
  decode(name, reply) {
    const script = this.script(name);
    if (!Array.isArray(reply) || reply.length !== script.reply.length) {
      throw new Error(`${name} answered something else than its manifest says`);
    }
    return Object.fromEntries(script.reply.map((element, i) => [element.name, this.element(element, reply[i])]));
  }

  element(element, value) {
    switch (element.kind) {
      case 'int':
      case 'ms':
        return Number(value);
      case 'flag':
        return Number(value) === 1;
      case 'hash':
        return this.job(value);
      case 'records': {
        const records = [];
        for (let i = 0; i < value.length; i += element.record.length) {
          records.push(Object.fromEntries(element.record.map((part, n) => [part.name, this.element(part, value[i + n])])));
        }
        return records;
      }
      default:
        return value;
    }
  }

  // job gives the fields of a job's hash their long names.
  job(flat) {
    const job = {};
    for (let i = 0; i < flat.length; i += 2) {
      const field = this.fields.get(flat[i]);
      if (!field || !field.long) continue;
      job[field.long] = field.type === 'int' || field.type === 'ms' ? Number(flat[i + 1]) : flat[i + 1];
    }
    return job;
  }
}

function fill(pattern, parts) {
  return Object.entries(parts).reduce((text, [from, to]) => text.replace(from, () => to), pattern);
}

function encode(script, arg, values) {
  let value = values[arg.name];
  if (value === undefined) value = neutral(script, arg);
  if (arg.kind === 'int' || arg.kind === 'ms') return String(Math.ceil(value));
  if (arg.kind === 'flag') return value ? '1' : '0';
  if (arg.kind === 'word' && !arg.words.includes(value)) throw new Error(`${script} takes no ${arg.name} ${value}`);
  return String(value);
}

// neutral is what stands for an argument that this peer makes no use of.
function neutral(script, arg) {
  switch (arg.kind) {
    case 'int':
    case 'ms':
    case 'flag':
      return 0;
    case 'word':
      return arg.words[0];
    case 'string':
    case 'bytes':
      return '';
    default:
      throw new Error(`${script} needs ${arg.name}`);
  }
}

// Peer answers requests.
class Peer {
  constructor(bundle) {
    this.bundle = bundle;
    this.worker = `node:${randomUUID()}`;
    this.picks = 0;
    this.windows = new Map(); // what is believed to come next, per queue
  }

  async hello(request) {
    this.redis = await connect(request.address);
    const scripts = {};
    for (const script of this.bundle.manifest.scripts) {
      for (const server of servers(this.redis)) {
        const sha1 = await server.script('LOAD', script.source);
        if (sha1 !== script.sha1) throw new Error(`${script.file} has the SHA-1 ${sha1}, not that of the manifest`);
        scripts[script.name] = sha1;
      }
    }
    return {
      peer: PEER, runtime: 'node', version: process.versions.node, role: 'test peer',
      protocol: this.bundle.manifest.protocol, scripts,
    };
  }

  async call(name, queue, args, items = []) {
    const { keys, argv } = this.bundle.build(name, queue, args, items);
    const script = this.bundle.script(name);
    const rest = [keys.length, ...keys, ...argv];
    const reply = await this.redis.evalsha(script.sha1, ...rest).catch((error) => {
      if (!error.message.startsWith('NOSCRIPT')) throw error;
      return this.redis.eval(script.source, ...rest); // such as a server that is new in its cluster
    });
    return this.bundle.decode(name, reply);
  }

  // lossy makes a call, and makes it again as if the answer had been lost.
  async lossy(lose, state, name, queue, args, items, again = {}) {
    if (!lose) return this.call(name, queue, args, items);
    await this.call(name, queue, args, items);
    state.lost++;
    return this.call(name, queue, { ...args, ...again }, items);
  }

  async enqueue(request) {
    const opts = {};
    if (request.attempts) opts.attempts = request.attempts;
    if (request.backoff) opts.backoff = { type: 'fixed', base: request.backoff, jitter: 'none' };
    const item = {
      id: request.id, name: request.name, data: request.payload, version: 1, delay: request.delay, priority: request.priority,
      opts: Object.keys(opts).length ? JSON.stringify(opts) : '',
    };
    const state = { lost: 0 };
    const args = { events: EVENTS, history: HISTORY };
    const { results } = await this.lossy(request.lose === 'add', state, 'add', request.queue, args, [item]);
    return { id: request.id, verdict: results[0]?.verdict ?? 'added', lost: state.lost }; // none if all were added
  }

  async process(request) {
    const state = { lost: 0 };
    const taken = await this.take(request, state);
    if (!taken) return { job: null, lost: state.lost };
    const { started, token, now } = taken;
    const job = { ...started.job, id: started.id, attemptsStarted: started.starts, processedOn: now, processedBy: this.worker };
    job.attemptsMade ??= 0;
    const settle = { ...judge(job, request), id: started.id, token, starts: started.starts, priority: job.priority };
    if (settle.outcome === 'release') settle.starts--;
    const args = { events: EVENTS, history: HISTORY };
    const { results } = await this.lossy(request.lose === 'settle', state, 'settle', request.queue, args, [settle]);
    return { job, outcome: results[0].outcome, verdict: results[0].verdict, lost: state.lost };
  }

  // take starts the next job: at once if it was declared, with a second pick if
  // it had to be reserved. While there is none it waits, promoting what is due.
  async take(request, state) {
    const { queue } = request;
    const deadline = performance.now() + (request.wait || 0);
    let reserved = [];
    for (;;) {
      const token = `${this.worker}:${++this.picks}`;
      const window = this.windows.get(queue) || [];
      const items = reserved.length ? reserved : window.slice(0, 1).map((id) => ({ id }));
      const args = {
        events: EVENTS, history: HISTORY, token, worker: this.worker, lease: LEASE,
        want: reserved.length ? 0 : 1, window: 1, limit: REPLY_LIMIT, payload: PAYLOAD_LIMIT,
      };
      const reply = await this.lossy(request.lose === 'pick', state, 'pick', queue, args, items, { again: true });
      this.windows.set(queue, reply.window);
      if (reply.started.length) return { started: reply.started[0], token, now: reply.now };
      reserved = reply.reserved.map((id) => ({ id, reservation: token }));
      if (reserved.length || reply.window.length) continue;
      const left = deadline - performance.now();
      if (left <= 0) return null;
      if (reply.due && reply.due <= reply.now) {
        await this.promote(request);
        continue;
      }
      const pause = Math.min(left, MAX_BLOCK, reply.due ? reply.due - reply.now : MAX_BLOCK);
      const woken = await this.redis.bzpopmin(this.bundle.key('pick', queue, 'marker'), Math.max(pause, 1) / 1000);
      if (woken && !woken[1].startsWith('~')) this.windows.set(queue, [woken[1]]);
    }
  }

  async promote(request) {
    const { queue } = request;
    const { due } = await this.call('due', queue, { limit: MAX_DUE });
    const promoted = [];
    if (due.length) {
      const args = { events: EVENTS, history: HISTORY };
      const { results } = await this.call('promote', queue, args, due.map((id) => ({ id })));
      results.forEach((result, i) => { if (result.verdict === 'promoted') promoted.push(due[i]); });
    }
    const { now, nextDue, due: left } = await this.call('due', queue, { limit: 1 });
    return { promoted, now, due: left.length ? now : nextDue };
  }

  async result(request) {
    const { results: [found] } = await this.call('inspect', request.queue, {}, [{ id: request.id }]);
    return { state: found.state, value: found.value, reason: found.reason, attempts: found.attempts };
  }

  async quit() {
    this.redis?.disconnect();
    return {};
  }
}

// judge says what is to become of a job: the part of the settle that depends on
// what was asked for and on the settings that the producer gave.
function judge(job, request) {
  const opts = job.opts ? JSON.parse(job.opts) : {};
  const unknown = job.unknownCount || 0;
  const common = { attempts: job.attemptsMade, unknown, keep: true };
  const trace = (reason) => JSON.stringify([...JSON.parse(job.stacktrace || '[]'), reason]);
  const kept = (keep) => !(keep && keep.none);
  if (job.deferredFailure) {
    const value = job.deferredFailure;
    return { ...common, outcome: 'failed', value, trace: trace(value), keep: kept(opts.keepFailed) };
  }
  if (job.name !== request.name || job.codec || (job.payloadVersion || 1) > 1) {
    return { ...common, outcome: 'release', unknown: unknown + 1, delay: Math.min(UNKNOWN_RETURN * 2 ** unknown, MAX_RETURN) };
  }
  const attempts = job.attemptsMade + 1;
  if (request.behaviour === 'echo' || request.behaviour === 'return') {
    const value = request.behaviour === 'echo' ? job.data : request.result;
    return { ...common, outcome: 'completed', attempts, value, keep: kept(opts.keepCompleted) };
  }
  if (request.behaviour !== 'fail') throw new Error(`no such behaviour: ${request.behaviour}`);
  const failure = { ...common, attempts, value: request.reason, trace: trace(request.reason) };
  if (attempts >= (opts.attempts || 10)) return { ...failure, outcome: 'failed', keep: kept(opts.keepFailed) };
  return { ...failure, outcome: 'retry', delay: backoff(opts.backoff || {}, attempts) };
}

function backoff({ type = 'exponential', base = 1000, cap = 3600000, jitter = 'full' }, attempt) {
  const wait = Math.min(type === 'fixed' ? base : base * 2 ** (attempt - 1), cap);
  return jitter === 'none' ? wait : 1 + Math.floor(Math.random() * wait);
}

const REQUESTS = ['hello', 'enqueue', 'process', 'promote', 'result', 'quit'];

async function main(dir) {
  if (!dir) throw new Error('give the directory of the bundle: node peer.js BUNDLE');
  const peer = new Peer(new Bundle(dir));
  for await (const line of readline.createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    let answer;
    let over = false;
    try {
      const request = JSON.parse(line);
      if (!REQUESTS.includes(request.do)) throw new Error(`no such request: ${request.do}`);
      if (!peer.redis && request.do !== 'hello') throw new Error('hello goes first');
      answer = { ok: true, ...(await peer[request.do](request)) };
      over = request.do === 'quit';
    } catch (error) {
      answer = { ok: false, error: error.message };
    }
    process.stdout.write(`${JSON.stringify(answer)}\n`);
    if (over) return;
  }
  await peer.quit();
}

main(process.argv[2]).catch((error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exitCode = 1;
});
