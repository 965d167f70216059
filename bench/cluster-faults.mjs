// Three nodes of a cluster under a steady load of background runs while one of them loses its database, or Redis fails: the time
// from the acceptance of a run to its end, of the runs that were accepted during the fault. The model answers at once.
//        node bench/cluster-faults.mjs [--only <text>] [--per-second 12]      PostgreSQL on 127.0.0.1; redis-server is started
import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { FaultProxy } from '../test/support/fault-proxy.ts';
import { cleanUp, HOST, launch, percent, Provider } from './loaded-server.mjs';
import { record } from './results.mjs';

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, 'per-second': { type: 'string', default: '12' } },
});
const PER_SECOND = Number(values['per-second']);
const NODES = 3;
const NORMAL_S = 4;
const FAULT_S = 25;
/** Longest time until all accepted runs have ended. */
const END_MS = 120_000;
/** A run that takes longer is late. */
const LATE_MS = 2_000;
const POSTGRES = new URL(process.env.TEST_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres');
const database = `jackdaw_faults_${process.pid}`;
const provider = await new Provider().start();
const admin = new Client(POSTGRES.href);
await admin.connect();

/** Starts a Redis that ends with this process. */
async function startRedis() {
  const port = 20_000 + (process.pid % 20_000);
  const child = spawn('redis-server', ['--port', String(port), '--save', '', '--dir', tmpdir()], { stdio: 'ignore' });
  process.once('exit', () => child.kill('SIGKILL'));
  for (;;) {
    const socket = connect(port, HOST);
    const isUp = await new Promise((resolve) => {
      socket.once('connect', () => resolve(true));
      socket.once('error', () => resolve(false));
    });
    socket.destroy();
    if (isUp) return new URL(`redis://${HOST}:${port}`);
    await pause(20);
  }
}

/** Submits runs to nodes in turn. @returns the ids of the accepted ones, and the number of refused ones */
async function submit(ports, seconds) {
  const calls = [];
  const end = performance.now() + seconds * 1000;
  for (let n = 0; performance.now() < end; n++) {
    const url = `http://${HOST}:${ports[n % ports.length]}/api/agent/runs`;
    const headers = { 'content-type': 'application/json' };
    calls.push(
      fetch(url, { method: 'POST', headers, body: '{"query":"hello"}' }).then(
        async (answer) => (answer.status === 202 ? (await answer.json()).run_id : null),
        () => null,
      ),
    );
    await pause(1000 / PER_SECOND);
  }
  const ids = await Promise.all(calls);
  return { ids: ids.filter(Boolean), refused: ids.filter((id) => id === null).length };
}

/** Waits until all runs have ended, at most a time. @returns ms from acceptance to end of each run */
async function timesOf(client, ids) {
  const end = performance.now() + END_MS;
  for (;;) {
    const sql = 'SELECT created_at::float8 AS created, finished_at::float8 AS finished FROM run WHERE id = ANY($1)';
    const { rows } = await client.query(sql, [ids]);
    if (rows.length !== ids.length) throw new Error(`${ids.length - rows.length} accepted runs do not exist.`);
    const isEnded = rows.every(({ finished }) => finished !== null);
    if (!isEnded && performance.now() < end) {
      await pause(50);
      continue;
    }
    return rows.map(({ created, finished }) => (finished === null ? END_MS : finished - created));
  }
}

/** Three nodes behind a proxy each for their database and, with a queue in Redis, for Redis. Node 0 is the oldest. */
async function startCluster(url, redis) {
  const cluster = { nodes: [], databases: [], queues: [] };
  for (let n = 0; n < NODES; n++) {
    const journal = await FaultProxy.start(url, 5432);
    const queue = redis && (await FaultProxy.start(redis, 6379));
    const env = { DATABASE_URL: journal.through(url.href), ...(queue && { REDIS_URL: queue.through(redis.href) }) };
    cluster.databases.push(journal);
    if (queue) cluster.queues.push(queue);
    // One after another: some duties of a cluster belong to its oldest node.
    cluster.nodes.push(await launch([process.execPath, 'lib/main.js'], provider, env));
  }
  return cluster;
}

async function stopCluster({ nodes, databases, queues }) {
  const ends = nodes.map(({ child }) => new Promise((resolve) => child.once('exit', resolve)));
  for (const { child } of nodes) child.kill('SIGKILL');
  await Promise.all(ends);
  await Promise.all([...databases, ...queues].map((proxy) => proxy.close()));
}

/**
 * @param fault `queue` is `postgres` or `redis`; `databases` and `queues` are the nodes, by number, whose connections get the `state`;
 * `loaded` are the nodes that get the runs
 */
async function measure(fault) {
  await admin.query(`CREATE DATABASE ${database} TEMPLATE template0`);
  const url = Object.assign(new URL(POSTGRES), { pathname: `/${database}` });
  const redis = fault.queue === 'redis' ? redisUrl : null;
  if (redis) await flush(redis);
  const cluster = await startCluster(url, redis);
  const client = new Client(url.href);
  await client.connect();
  try {
    return await timesDuring(fault, cluster, client, redis);
  } finally {
    await client.end();
    await stopCluster(cluster);
    await admin.query(`DROP DATABASE ${database} WITH (FORCE)`);
  }
}

async function timesDuring(
  { databases = [], queues = [], state, isFlushed, loaded = [0, 1, 2] },
  cluster,
  client,
  redis,
) {
  const ports = cluster.nodes.map(({ port }) => port);
  await submit(ports, NORMAL_S);
  const failing = [...databases.map((n) => cluster.databases[n]), ...queues.map((n) => cluster.queues[n])];
  for (const proxy of failing) proxy.become(state);
  const load = submit(
    loaded.map((n) => ports[n]),
    FAULT_S,
  );
  if (isFlushed) {
    await pause(1000);
    await flush(redis);
  }
  const { ids, refused } = await load;
  return { times: await timesOf(client, ids), refused };
}

function flush(url) {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(url.port), HOST, () => socket.end('FLUSHALL\r\n'));
    socket.on('error', reject).on('close', resolve).resume();
  });
}

const HEALTHY = [1, 2];
const CASES = {
  'no fault, queue in PostgreSQL': { queue: 'postgres', loaded: HEALTHY },
  'one node without its database, queue in PostgreSQL': {
    queue: 'postgres',
    databases: [0],
    state: 'cut',
    loaded: HEALTHY,
  },
  'one node with a silent database, queue in PostgreSQL': {
    queue: 'postgres',
    databases: [0],
    state: 'silent',
    loaded: HEALTHY,
  },
  'no fault, queue in Redis': { queue: 'redis', loaded: HEALTHY },
  'one node without its database, queue in Redis': { queue: 'redis', databases: [0], state: 'cut', loaded: HEALTHY },
  'one node with a silent database, queue in Redis': {
    queue: 'redis',
    databases: [0],
    state: 'silent',
    loaded: HEALTHY,
  },
  'Redis cut off from the oldest node': { queue: 'redis', queues: [0], state: 'cut' },
  'Redis silent for the oldest node': { queue: 'redis', queues: [0], state: 'silent' },
  'Redis cut off from all nodes': { queue: 'redis', queues: [0, 1, 2], state: 'cut' },
  'Redis silent for all nodes': { queue: 'redis', queues: [0, 1, 2], state: 'silent' },
  'Redis loses its data': { queue: 'redis', isFlushed: true },
};

const redisUrl = await startRedis();
const rows = [];
for (const [name, fault] of Object.entries(CASES)) {
  if (!name.includes(values.only)) continue;
  const { times, refused } = await measure(fault);
  const sorted = times.toSorted((a, b) => a - b);
  const late = times.filter((time) => time > LATE_MS).length / times.length;
  const result = `${percent(late)} above 2 s, p50 ${Math.round(sorted[sorted.length >> 1])} ms, longest ${(sorted.at(-1) / 1000).toFixed(1)} s, ${refused} refused`;
  console.log(`${name}: ${result}`);
  rows.push({ name, result, ceiling: '5 s' });
}
if (!values.only) record('cluster-faults', rows);
await admin.end();
provider.close();
cleanUp();
process.exit(0);
