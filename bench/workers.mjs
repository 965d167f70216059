// The cost of a run with WORKERS=1, 2 and 4 on one PostgreSQL, by turns, with a fake LLM that answers at once: CPU of all
// processes of the server and of the database, round trips, commits, syncs, WAL and rows.
//        node bench/workers.mjs [--chats 1500] [--rounds 3]             TEST_POSTGRES_URL, by default on 127.0.0.1, in Linux
import { spawn } from 'node:child_process';
import { openSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { HOST, Provider, quantile } from './loaded-server.mjs';
import { record } from './results.mjs';

const { values } = parseArgs({
  options: { chats: { type: 'string', default: '1500' }, rounds: { type: 'string', default: '3' } },
});
const CHATS = Number(values.chats);
const ROUNDS = Number(values.rounds);
const IN_FLIGHT = 32;
const COUNTS = [1, 2, 4];
/** Time until PostgreSQL has published the statistics of idle backends, in ms. */
const STATISTICS_MS = 2_000;
const POSTGRES = new URL(process.env.TEST_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres');
const folder = mkdtempSync(join(tmpdir(), 'jackdaw-bench-'));
const provider = await new Provider().start();
const admin = new Client(POSTGRES.href);
await admin.connect();

/** The fields of /proc/<pid>/stat from the state on; undefined for a process that has ended. */
function statOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ');
  } catch {
    return undefined;
  }
}

const ticks = (fields, ...places) => places.reduce((sum, place) => sum + Number(fields[place]), 0) * 10;

/** CPU of a process, of its children, and of children that have ended, in ms. */
function treeCpu(parent) {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const stats = all.map((pid) => [Number(pid), statOf(pid)]).filter(([, fields]) => fields);
  const own = stats.filter(([pid]) => pid === parent).map(([, fields]) => ticks(fields, 11, 12, 13, 14));
  const children = stats
    .filter(([, fields]) => Number(fields[1]) === parent)
    .map(([, fields]) => ticks(fields, 11, 12));
  return [...own, ...children].reduce((sum, ms) => sum + ms, 0);
}

/** The process that has started the backends, if it runs on this machine. */
async function postmaster() {
  const { rows } = await admin.query('SELECT pg_backend_pid() AS pid');
  const fields = statOf(rows[0].pid);
  return fields && Number(fields[1]);
}

/** Forwards connections to PostgreSQL, and counts the requests that it must answer: queries, and ends of extended ones. */
async function countingProxy() {
  const counter = { requests: 0, port: 0, close: () => server.close() };
  const server = createServer((client) => {
    const upstream = connect({ host: POSTGRES.hostname, port: Number(POSTGRES.port || 5432) });
    let rest = Buffer.alloc(0);
    let hasStarted = false;
    client.on('data', (piece) => {
      rest = Buffer.concat([rest, piece]);
      // The first message has no type.
      for (;;) {
        const head = hasStarted ? 1 : 0;
        if (rest.length < head + 4) break;
        const end = head + rest.readUInt32BE(head);
        if (rest.length < end) break;
        if (hasStarted && (rest[0] === 0x51 || rest[0] === 0x53)) counter.requests++;
        hasStarted = true;
        rest = rest.subarray(end);
      }
    });
    client.pipe(upstream).pipe(client);
    for (const socket of [client, upstream]) socket.on('error', () => socket.destroy());
  });
  await new Promise((resolve) => server.listen(0, HOST, resolve));
  return Object.assign(counter, { port: server.address().port });
}

async function start(workers, database, port) {
  const url = new URL(POSTGRES);
  url.pathname = `/${database}`;
  if (port) url.host = `${HOST}:${port}`;
  const log = join(folder, `log-${process.hrtime.bigint()}`);
  const child = spawn(process.execPath, ['dist/main.js'], {
    env: {
      PATH: process.env.PATH,
      PORT: '0',
      WORKERS: String(workers),
      DATA_DIR: folder,
      DATABASE_URL: url.href,
      SHUTDOWN_GRACE_MS: '0',
      // The cost counts, however busy the machine is.
      RUN_QUEUE_WAIT_MS: '60000',
      DATABASE_TIMEOUT_MS: '60000',
      CLUSTER_LEASE_MS: '60000',
      LLM_PROVIDER: 'openai-compatible',
      LLM_BASE_URL: `http://${HOST}:${provider.port}/v1`,
      LLM_MODEL: 'fake',
      LLM_API_KEY: 'key',
      LOG_FORMAT: 'json',
    },
    stdio: ['ignore', openSync(log, 'w'), 'inherit'],
  });
  process.once('exit', () => child.kill('SIGKILL'));
  for (;;) {
    const found = /Jackdaw serves http:\/\/[^:"]+:(\d+)/.exec(readFileSync(log, 'utf8'));
    if (found) return { child, port: Number(found[1]) };
    if (child.exitCode !== null) throw new Error('The server ended before it listened.');
    await pause(50);
  }
}

/** @returns the latencies of the chats, in ms */
async function chats(port, count, agent) {
  const body = '{"query":"hello"}';
  const headers = { 'content-type': 'application/json', 'content-length': body.length };
  const times = [];
  let left = count;
  const chat = () =>
    new Promise((resolve, reject) => {
      const from = performance.now();
      const options = { host: HOST, port, path: '/api/agent/chat', method: 'POST', agent, headers };
      const call = request(options, (response) => {
        response.resume().on('end', () => {
          times.push(performance.now() - from);
          if (response.statusCode === 200) resolve();
          else reject(new Error(`A chat got ${response.statusCode}.`));
        });
      });
      call.on('error', reject).end(body);
    });
  const client = async () => {
    while (left-- > 0) await chat();
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, client));
  return times;
}

/** Counters of the database and its server, in their order in `COLUMNS`. */
async function counters(database) {
  const client = new Client(Object.assign(new URL(POSTGRES), { pathname: `/${database}` }).href);
  await client.connect();
  const { rows } = await client.query(
    `SELECT xact_commit::float8 AS commits,
    (SELECT wal_sync FROM pg_stat_wal)::float8 AS syncs, (pg_current_wal_lsn() - '0/0')::float8 AS wal,
    (SELECT SUM(n_tup_ins) FROM pg_stat_user_tables)::float8 AS inserts,
    (SELECT SUM(n_tup_upd) FROM pg_stat_user_tables)::float8 AS updates,
    (SELECT SUM(n_tup_del) FROM pg_stat_user_tables)::float8 AS deletes,
    pg_database_size(datname)::float8 AS bytes
    FROM pg_stat_database WHERE datname = $1`,
    [database],
  );
  await client.end();
  return rows[0];
}

/** One server with an empty database. @returns the cost per run */
async function measure(workers, hasProxy) {
  const database = `jackdaw_workers_${process.pid}`;
  await admin.query(`CREATE DATABASE ${database} TEMPLATE template0`);
  const proxy = hasProxy ? await countingProxy() : undefined;
  const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT });
  const { child, port } = await start(workers, database, proxy?.port);
  try {
    // Each worker compiles its code.
    await chats(port, (CHATS / 2) * workers, agent);
    await pause(STATISTICS_MS);
    const before = await counters(database);
    const server = await postmaster();
    const [cpu, databaseCpu, requests] = [treeCpu(child.pid), server ? treeCpu(server) : 0, proxy?.requests ?? 0];
    const [from, own] = [performance.now(), process.cpuUsage()];
    const times = await chats(port, CHATS, agent);
    const seconds = (performance.now() - from) / 1000;
    const { user, system } = process.cpuUsage(own);
    const used = { cpu: treeCpu(child.pid) - cpu, database: server ? treeCpu(server) - databaseCpu : Number.NaN };
    const sent = (proxy?.requests ?? Number.NaN) - requests;
    await pause(STATISTICS_MS);
    const after = await counters(database);
    const perRun = Object.fromEntries(Object.keys(after).map((name) => [name, (after[name] - before[name]) / CHATS]));
    return {
      ...perRun,
      cpu: used.cpu / CHATS,
      database: used.database / CHATS,
      clients: (user + system) / 1000 / CHATS,
      requests: sent / CHATS,
      perSecond: CHATS / seconds,
      p50: quantile(times, 0.5),
      p99: quantile(times, 0.99),
    };
  } finally {
    agent.destroy();
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
    proxy?.close();
    await admin.query(`DROP DATABASE ${database} WITH (FORCE)`);
  }
}

const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
const fixed = (value, digits = 1) => value.toFixed(digits);

const found = new Map(COUNTS.map((count) => [count, []]));
for (let round = 0; round < ROUNDS; round++) {
  const order = round % 2 === 0 ? COUNTS : COUNTS.toReversed();
  for (const count of order) found.get(count).push(await measure(count, false));
}
const { requests } = await measure(1, true);
const of = (count, name) => median(found.get(count).map((one) => one[name]));

const rows = [];
for (const count of COUNTS) {
  const ratios = found.get(count).map(({ cpu }, round) => cpu / found.get(1)[round].cpu);
  const result = `${fixed(of(count, 'cpu'), 2)} ms of CPU, ${fixed(of(count, 'database'), 2)} ms of the database, ${fixed(of(count, 'clients'), 2)} ms of the clients, ${Math.round(of(count, 'perSecond'))}/s, p50 ${Math.round(of(count, 'p50'))} ms, p99 ${Math.round(of(count, 'p99'))} ms`;
  const ratio = count === 1 ? {} : { reference: 'CPU of one process', ratio: median(ratios), ceiling: '1.15' };
  rows.push({ name: `a chat, WORKERS=${count}, ${IN_FLIGHT} in flight`, result, ...ratio });
  console.log(rows.at(-1).name, result, ratio.ratio?.toFixed(2) ?? '');
}
const cost = `${fixed(requests)} round trips, ${fixed(of(1, 'commits'))} transactions, ${fixed(of(1, 'syncs'), 2)} syncs, ${fixed(of(1, 'wal') / 1024)} KB of WAL, ${fixed(of(1, 'inserts'))} rows inserted, ${fixed(of(1, 'updates'))} updated, ${fixed(of(1, 'deletes'))} deleted, ${fixed(of(1, 'bytes') / 1024)} KB of disk`;
rows.push({ name: 'a chat on PostgreSQL, in the database', result: cost });
console.log(cost);
record('workers', rows);
provider.close();
await admin.end();
rmSync(folder, { recursive: true });
process.exit(0);
