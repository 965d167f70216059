// The cost of a commit on each database, alone and with 32 in flight: a fenced step with two events, 1 KB in all.
// npm run build && node bench/database.mjs [--ms 2000] [--postgres URL] [--mariadb URL]
// The databases are created on the servers and dropped at the end; a server that does not answer is skipped.
import { parseArgs } from 'node:util';
import { onEach, SERVERS } from './databases.mjs';
import { record } from './results.mjs';

const { values } = parseArgs({
  options: {
    ms: { type: 'string', default: '2000' },
    dist: { type: 'string', default: '../dist' },
    ...SERVERS,
  },
});
const load = (path) => import(`${values.dist}/${path}/index.js`);
const [{ loadConfig }, { RUN_MIGRATIONS }, { insert }] = await Promise.all(['config', 'run', 'persistence'].map(load));
const { openPersistence } = await import(`${values.dist}/persistence/shared-persistence.registry.js`);

const IN_FLIGHT = [1, 32];
const result = JSON.stringify({ text: 'x'.repeat(600) });
const data = JSON.stringify({ type: 'tool.completed', text: 'y'.repeat(150) });

function fence(run) {
  const sql = `UPDATE run SET attempts = 0 WHERE id = ? AND epoch = ? AND status = 'running'`;
  return { sql, params: [run, 1], rows: 1 };
}

function stepBatch(run, n) {
  const event = { run_id: run, tenant: 't', type: 'tool.completed', data, created_at: Date.now() };
  const step = { run_id: run, name: `tool:${n}:1`, tenant: 't', kind: 'tool', subject: 'calculator', result };
  return [
    fence(run),
    insert('run_step', { ...step, epoch: 1, created_at: Date.now() }),
    insert('run_event', { ...event, n: 2 * n }),
    insert('run_event', { ...event, n: 2 * n + 1 }),
  ];
}

async function makeRuns(database, count) {
  const run = {
    tenant: 't',
    principal: '{}',
    kind: 'agent',
    agent: 'a',
    status: 'running',
    epoch: 1,
    attempts: 0,
    loop_version: 1,
    definition_hash: 'h',
    input: '{}',
    timeout_ms: 1000,
    created_at: Date.now(),
  };
  await database.commit(Array.from({ length: count }, (_, at) => insert('run', { id: `run-${at}`, ...run })));
}

const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

let n = 0;

/** Times in ms, for one commit. */
async function measure(database, inFlight, windowMs) {
  let commits = 0;
  const [cpu, from] = [cpuMs(), performance.now()];
  const work = async (at) => {
    while (performance.now() - from < windowMs) {
      await database.commit(stepBatch(`run-${at}`, ++n));
      commits++;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, (_, at) => work(at)));
  const wall = performance.now() - from;
  return { perSecond: (1000 * commits) / wall, latency: (wall * inFlight) / commits, cpu: (cpuMs() - cpu) / commits };
}

const rows = [];
console.log('database   in flight  commits/s  latency ms  our CPU ms');
await onEach(values, async (kind, url) => {
  const { config } = loadConfig({ env: { DATABASE_URL: url } });
  const opened = await openPersistence(config.database, { entities: [], migrations: RUN_MIGRATIONS });
  await makeRuns(opened.database, Math.max(...IN_FLIGHT));
  for (const inFlight of IN_FLIGHT) {
    await measure(opened.database, inFlight, Number(values.ms) / 4);
    const { perSecond, latency, cpu } = await measure(opened.database, inFlight, Number(values.ms));
    const cells = [String(inFlight).padStart(9), perSecond.toFixed(0).padStart(10), latency.toFixed(2).padStart(11), cpu.toFixed(3).padStart(11)]; // prettier-ignore
    console.log(`${kind.padEnd(10)} ${cells.join(' ')}`);
    const measured = `${perSecond.toFixed(0)} commits/s, ${latency.toFixed(2)} ms, ${(1000 * cpu).toFixed(0)} µs of CPU`;
    rows.push({ name: `${kind}, ${inFlight} in flight`, result: measured });
  }
  await opened.close();
});
record('database', rows);
