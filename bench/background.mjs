// Background runs (POST /api/agent/runs) from the request to their end, with the queue in PostgreSQL and in Redis, in turn: throughput, CPU of
// the server, and the share of the queue's tables in the WAL.
//        node bench/background.mjs [--runs 1500] [--rounds 3]      PostgreSQL and Redis on 127.0.0.1, in Linux
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { cleanUp, HOST, launch, Provider } from './loaded-server.mjs';
import { record } from './results.mjs';

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '1500' }, rounds: { type: 'string', default: '3' } },
});
const RUNS = Number(values.runs);
const IN_FLIGHT = 32;
const POSTGRES = new URL(process.env.TEST_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres');
const REDIS = process.env.TEST_REDIS_URL ?? 'redis://127.0.0.1:6379';
const database = `jackdaw_background_${process.pid}`;
const provider = await new Provider().start();
const admin = new Client(POSTGRES.href);
await admin.connect();

function start(env) {
  const url = Object.assign(new URL(POSTGRES), { pathname: `/${database}` }).href;
  return launch([process.execPath, 'lib/main.js'], provider, { DATABASE_URL: url, RUN_QUEUE_LIMIT: '100000', ...env });
}

/** Starts background runs, and waits until all have ended. */
async function execute(port, client, agent, count) {
  const body = '{"query":"hello"}';
  const headers = { 'content-type': 'application/json', 'content-length': body.length };
  let left = count;
  const one = () =>
    new Promise((resolve, reject) => {
      const options = { host: HOST, port, path: '/api/agent/runs', method: 'POST', agent, headers };
      const call = request(options, (response) => {
        response.resume().on('end', resolve);
        if (response.statusCode !== 202) reject(new Error(`A run got ${response.statusCode}.`));
      });
      call.on('error', reject).end(body);
    });
  const submit = async () => {
    while (left-- > 0) await one();
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, submit));
  for (;;) {
    const sql = `SELECT count(*)::int AS open FROM run WHERE status IN ('queued', 'running')`;
    const { rows } = await client.query(sql);
    if (rows[0].open === 0) return;
    await pause(20);
  }
}

function cpuOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function measure(env) {
  await admin.query(`CREATE DATABASE ${database} TEMPLATE template0`);
  const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT });
  const { child, port } = await start(env);
  const client = new Client(Object.assign(new URL(POSTGRES), { pathname: `/${database}` }).href);
  await client.connect();
  const walOf = async () => (await admin.query(`SELECT (pg_current_wal_lsn() - '0/0')::float8 AS wal`)).rows[0].wal;
  try {
    await execute(port, client, agent, RUNS / 2);
    const [from, cpu, wal] = [performance.now(), cpuOf(child.pid), await walOf()];
    await execute(port, client, agent, RUNS);
    const seconds = (performance.now() - from) / 1000;
    return {
      perSecond: RUNS / seconds,
      cpu: (cpuOf(child.pid) - cpu) / RUNS,
      wal: ((await walOf()) - wal) / RUNS / 1024,
    };
  } finally {
    agent.destroy();
    await client.end();
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
    await admin.query(`DROP DATABASE ${database} WITH (FORCE)`);
  }
}

const PLACES = { PostgreSQL: {}, Redis: { REDIS_URL: REDIS } };
const found = Object.fromEntries(Object.keys(PLACES).map((name) => [name, []]));
for (let round = 0; round < Number(values.rounds); round++) {
  for (const [name, env] of Object.entries(PLACES)) found[name].push(await measure(env));
}
const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
const rows = Object.entries(found).map(([name, all]) => {
  const of = (field) => median(all.map((one) => one[field]));
  const result = `${Math.round(of('perSecond'))}/s, ${of('cpu').toFixed(2)} ms of CPU, ${of('wal').toFixed(1)} KB of WAL`;
  console.log(name, result);
  return { name: `background runs, one process, queue in ${name}`, result };
});
record('background', rows);
await admin.end();
provider.close();
cleanUp();
process.exit(0);
