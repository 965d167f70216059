// The time of each operation with 1,000,000 stored runs (10 million events, 100,000 sessions), beside the same with 10,000, by
// turns, on SQLite and PostgreSQL; the disk of a run by table. The model answers at once.
// npm run build && node bench/scale.mjs [--runs 1000000] [--base 10000] [--rounds 40] [--databases sqlite,postgres] [--only usage]
// The stored runs are copies of recorded ones over 100 days; results have the same size in both databases.
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { AgentService } from '../dist/index.js';
import { bytesOf, collectStatistics, fill } from './bulk-runs.mjs';
import { SERVERS } from './databases.mjs';
import { record } from './results.mjs';
import { CHATS_A_SESSION, DAYS, QUESTION, recordTemplates, seedLongSession, start, sumUp, WHO } from './scale-app.mjs';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000000' },
    base: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '40' },
    only: { type: 'string', default: '' },
    databases: { type: 'string', default: 'sqlite,postgres' },
    postgres: SERVERS.postgres,
  },
});
const { AgentForkService } = await import('../dist/agent/index.js');
const { RunHistoryService } = await import('../dist/agent/history/index.js');
const { WaitingRunStore } = await import('../dist/run/decision/index.js');
const { DAY_MS } = await import('../dist/kernel/index.js');
const { RunRetentionService } = await import('../dist/run/retention/run-retention.service.js');

const SIZES = { small: Number(values.base), large: Number(values.runs) };
const ROUNDS = Number(values.rounds);
const WARM_UP = 5;
const STARTS = 5;
/** Runs that a round of the retention prunes. */
const PRUNED = 100;
const USER = { id: 'user-42', tenant: 'default', roles: ['user'] };

const sumOf = (numbers) => numbers.reduce((sum, number) => sum + number, 0);
const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];

/** Lists and sums: each returns the size of its result. */
function reads(app, found, { from }) {
  const history = app.of(RunHistoryService);
  const list =
    (filter, who = WHO) =>
    async () =>
      (await history.list(who, filter)).runs.length;
  const usage =
    (query, who = WHO) =>
    async () =>
      (await history.usage(who, query)).entries.length;
  const someDay = from + 50 * DAY_MS;
  return {
    runs: list({}),
    'runs, next page': async () => (await history.list(WHO, { after: found.after })).runs.length,
    'runs, by status': list({ statuses: ['failed'] }),
    'runs, waiting': list({ statuses: ['waiting'] }),
    'runs, by agent': list({ agent: 'clerk' }),
    'runs, by a rare agent': list({ agent: 'rare' }),
    'runs, by kind': list({ kind: 'agent' }),
    'runs, by a kind without runs': list({ kind: 'workflow' }),
    'runs, by error code': list({ errorCode: 'RARE' }),
    'runs, by session': async () => (await history.list(WHO, { sessionId: found.sessionId })).runs.length,
    'runs, by time': list({ from: someDay, to: someDay + DAY_MS }),
    'runs, of a user': list({}, USER),
    'runs, of a user by status': list({ statuses: ['failed', 'completed'] }, USER),
    'usage by day': usage({}),
    'usage by day, of a user': usage({}, USER),
    'usage by session': usage({ by: 'session' }),
    'usage by session, of a user': usage({ by: 'session' }, USER),
    'usage by agent': usage({ by: 'agent' }),
    'latency by day': async () => (await history.latency(WHO, {})).entries.length,
    'usage by tenant': async () => (await history.usageOfTenants({})).entries.length,
    'waiting list': async () => (await app.of(WaitingRunStore).list(WHO, {}, 50)).length,
    'expired runs': async () => (await app.of(WaitingRunStore).expired(Date.now())).length,
    'a run with its journal': async () => {
      const answer = await app.of(AgentService).shown(WHO, found.runId);
      const { events } = await history.journal(WHO, found.runId);
      return `${answer.status} ${events.length}`;
    },
  };
}

/** The operations that write, and all others: each returns the size of its result, which must be equal in both databases. */
function operations(app, { from, to, count }) {
  let pruned = 0;
  const forked = [];
  const found = { after: null, runId: null, sessionId: null };
  const list = {
    'W1, a chat': async () => (await app.chat({ query: QUESTION })).status,
    'W6, a turn on 200 messages': async () => (await app.chat({ query: QUESTION, sessionId: 'long' })).status,
    ...reads(app, found, { from }),
    'retention of 100 runs': async () => {
      pruned += PRUNED;
      const now = from + ((to - from) * pruned) / count + (DAYS + 1) * DAY_MS;
      const size = await app.of(RunRetentionService).sweep(now);
      return size > 0.8 * PRUNED && size < 1.2 * PRUNED ? 'about 100' : size;
    },
    'a fork': async () => {
      forked.push(await app.of(AgentForkService).fork(WHO, found.runId, { fromStep: 'model:2' }));
      return 'forked';
    },
  };
  return { found, forked, list };
}

/** Chooses the run, the session and the page of the reads. */
async function choose({ app, ops }) {
  const history = app.of(RunHistoryService);
  ops.found.after = (await history.list(WHO, {})).next;
  const { runs: chats } = await history.list(WHO, { statuses: ['completed'], limit: 200 });
  for (const { id: runId, sessionId } of chats) {
    const { runs: ofSession } = await history.list(WHO, { sessionId });
    if (ofSession.length === CHATS_A_SESSION) Object.assign(ops.found, { runId, sessionId });
  }
}

/** Performs an operation once, with the runs that it leaves. @returns its time, in ms */
async function time({ app, ops }, name, sizes, size) {
  const since = performance.now();
  sizes[size] = await ops.list[name]();
  const taken = performance.now() - since;
  for (const id of ops.forked.splice(0)) await app.of(AgentService).outcome(WHO, id);
  return taken;
}

/** Times each operation on both databases, by turns. */
async function measure(apps, rows, kind) {
  const both = Object.entries(apps);
  for (const [, one] of both) await choose(one);
  for (const name of Object.keys(apps.small.ops.list).filter((one) => one.includes(values.only))) {
    const times = { small: [], large: [] };
    const sizes = {};
    for (let round = 0; round < WARM_UP + ROUNDS; round++) {
      for (const [size, one] of round % 2 === 0 ? both : both.toReversed())
        times[size].push(await time(one, name, sizes, size));
    }
    const [small, large] = [times.small, times.large].map((all) => median(all.slice(WARM_UP)));
    const detail = sizes.small === sizes.large ? `${sizes.large}` : `results differ: ${sizes.small}, ${sizes.large}`;
    report(rows, `${name}, ${kind}`, small, large, detail);
  }
}

const ms = (taken) => `${taken.toFixed(2)} ms`;
const seconds = (taken) => `${(taken / 1000).toFixed(0)} s`;

function report(rows, name, small, large, detail = '') {
  const ratio = large / small;
  console.log(`${name.padEnd(44)} ${ms(small).padStart(11)} ${ms(large).padStart(11)}  ${ratio.toFixed(2)}  ${detail}`);
  rows.push({ name, result: ms(large), reference: `${ms(small)}, ${SIZES.small} runs`, ratio });
}

async function measureStarts(places, rows, kind) {
  const times = { small: [], large: [] };
  for (let round = 0; round < STARTS; round++) {
    for (const [size, place] of Object.entries(places)) {
      const since = performance.now();
      const app = await start(place);
      times[size].push(performance.now() - since);
      await app.close();
    }
  }
  report(rows, `server start, ${kind}`, median(times.small), median(times.large));
}

/** Prints the bytes of a run by table. */
async function reportBytes({ url }, rows, kind) {
  const found = await bytesOf(url);
  const byTable = Object.groupBy(found, ({ owner }) => owner);
  const shares = Object.entries(byTable)
    .map(([table, parts]) => ({ table, parts, bytes: sumOf(parts.map(({ bytes }) => Number(bytes))) / SIZES.large }))
    .toSorted((a, b) => b.bytes - a.bytes)
    .filter(({ bytes }) => bytes >= 10);
  const total = sumOf(shares.map(({ bytes }) => bytes));
  for (const { table, parts, bytes } of shares) {
    const each = parts.map((part) => `${part.name} ${Math.round(Number(part.bytes) / SIZES.large)}`).join(', ');
    console.log(`  ${table.padEnd(20)} ${Math.round(bytes)} B a run: ${each}`);
  }
  const detail = shares.slice(0, 6).map(({ table, bytes }) => `${table} ${Math.round(bytes)}`);
  console.log(`  total ${Math.round(total)} B a run`);
  rows.push({
    name: `disk of a chat with one tool call, ${kind}`,
    result: `${(total / 1024).toFixed(1)} KB: ${detail.join(', ')} B`,
  });
}

async function onPostgres(sql) {
  const client = new Client(values.postgres);
  await client.connect();
  await client.query(sql).finally(() => client.end());
}

/** Creates a database for each size, and deletes it after the work. */
async function withPlaces(kind, work) {
  const folder = mkdtempSync(join(tmpdir(), 'jackdaw-scale-'));
  const places = {};
  for (const size of Object.keys(SIZES)) {
    const name = `jackdaw_scale_${size}_${process.pid}`;
    if (kind === 'postgres') await onPostgres(`CREATE DATABASE ${name} TEMPLATE template0`);
    const server = Object.assign(new URL(values.postgres), { pathname: `/${name}` }).href;
    places[size] = {
      name,
      folder: join(folder, size),
      url: kind === 'postgres' ? server : `sqlite://${folder}/${size}.db`,
    };
  }
  try {
    await work(places);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    if (kind === 'postgres')
      for (const { name } of Object.values(places)) await onPostgres(`DROP DATABASE ${name} WITH (FORCE)`);
  }
}

const rows = [];
// The pauses of background work do not keep a process alive.
const alive = setInterval(() => {}, 60_000);
for (const kind of values.databases.split(',')) {
  await withPlaces(kind, async (places) => {
    const to = Date.now() - DAY_MS / 2;
    const span = { from: to - DAYS * DAY_MS, to };
    const apps = {};
    for (const [size, place] of Object.entries(places)) {
      const count = SIZES[size];
      const recorder = await start(place);
      const templates = await recordTemplates(recorder);
      await recorder.close();
      const since = performance.now();
      await fill(place.url, { templates, count, ...span });
      const app = await start(place);
      const [, filled] = [await seedLongSession(app), performance.now()];
      await sumUp(app);
      await collectStatistics(place.url);
      console.log(
        `${kind}: ${count} runs in ${seconds(filled - since)}, summed in ${seconds(performance.now() - filled)}`,
      );
      apps[size] = { app, ops: operations(app, { ...span, count }) };
    }
    await reportBytes(places.large, rows, kind);
    await measure(apps, rows, kind);
    for (const { app } of Object.values(apps)) await app.close();
    await measureStarts(places, rows, kind);
  });
}
clearInterval(alive);
record('scale', rows);
