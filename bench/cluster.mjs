// The additional time of a chat in a cluster, executed in the process of its connection: two processes on one database against
// one on SQLite, interleaved, with a fake LLM that answers at once.       node bench/cluster.mjs [--chats 300]
// Needs PostgreSQL and Redis: TEST_POSTGRES_URL, TEST_REDIS_URL, by default on 127.0.0.1.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { record } from './results.mjs';

const { values } = parseArgs({ options: { chats: { type: 'string', default: '300' } } });
const CHATS = Number(values.chats);
const ROUNDS = 5;
const CHUNKS = 500;
const POSTGRES = process.env.TEST_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres';
const REDIS = process.env.TEST_REDIS_URL ?? 'redis://127.0.0.1:6379';

const folder = mkdtempSync(join(tmpdir(), 'jackdaw-bench-'));
const children = [];
const admin = new Client(POSTGRES);
await admin.connect();
const databases = [];

/** Answers at once; a streamed reply has `CHUNKS` deltas. */
const llm = createServer((request, response) => {
  let text = '';
  request.on('data', (piece) => (text += piece));
  request.on('end', () => {
    const base = { id: 'x', created: 0, model: 'fake' };
    if (!JSON.parse(text).stream) {
      const message = { role: 'assistant', content: 'ok' };
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({
          ...base,
          object: 'chat.completion',
          choices: [{ index: 0, message, finish_reason: 'stop' }],
          usage,
        }),
      );
      return;
    }
    response.setHeader('content-type', 'text/event-stream');
    const say = (choice) => {
      const chunk = { ...base, object: 'chat.completion.chunk', choices: [{ index: 0, ...choice }] };
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    };
    for (let i = 0; i < CHUNKS; i++) say({ delta: { content: 'word ' }, finish_reason: null });
    say({ delta: {}, finish_reason: 'stop' });
    response.end('data: [DONE]\n\n');
  });
});
await new Promise((resolve) => llm.listen(0, '127.0.0.1', resolve));

async function freshPostgres() {
  const name = `jackdaw_bench_${randomBytes(5).toString('hex')}`;
  await admin.query(`CREATE DATABASE ${name}`);
  databases.push(name);
  const url = new URL(POSTGRES);
  url.pathname = `/${name}`;
  return url.href;
}

/** Starts a server. @returns its address */
async function start(env) {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, ['dist/main.js'], {
    env: {
      PATH,
      HOME,
      PORT: '0',
      LOG_LEVEL: 'info',
      DATA_DIR: join(folder, randomBytes(4).toString('hex')),
      LLM_PROVIDER: 'openai',
      LLM_OPENAI_API: 'chat',
      OPENAI_API_KEY: 'x',
      OPENAI_BASE_URL: `http://127.0.0.1:${llm.address().port}/v1`,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /http:\/\/[\d.]+:\d+/.exec(line)?.[0];
    if (url) {
      child.stdout.resume();
      return url;
    }
  }
  throw new Error('The server ended before it listened.');
}

async function chat(url, path) {
  const from = performance.now();
  const response = await fetch(`${url}/api/agent/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"query":"hello"}',
  });
  await response.text();
  if (response.status !== 200) throw new Error(`${url} answered ${response.status}`);
  return performance.now() - from;
}

function percentile(times, part) {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * part)];
}

const postgres = await freshPostgres();
const both = { DATABASE_URL: await freshPostgres(), REDIS_URL: REDIS };
const contenders = [
  { name: 'SQLite, one process', url: await start({}) },
  { name: 'PostgreSQL, two processes', url: await start({ DATABASE_URL: postgres }) },
  { name: 'PostgreSQL and Redis, two processes', url: await start(both) },
];
await start({ DATABASE_URL: postgres });
await start(both);

/** The times of each contender, measured by turns; the first round is a warm-up. */
async function race(path, count) {
  const times = contenders.map(() => []);
  const turns = Array.from({ length: ROUNDS + 1 }, (_, round) => contenders.map(({ url }, at) => ({ round, url, at })));
  for (const { round, url, at } of turns.flat()) {
    const taken = [];
    while (taken.length < count / ROUNDS) taken.push(await chat(url, path));
    if (round > 0) times[at].push(...taken);
  }
  return times;
}

const rows = [];
function report(title, times) {
  console.log(`${title}, ms:`);
  for (const [at, { name }] of contenders.entries()) {
    const p50 = percentile(times[at], 0.5);
    const added = (p50 - percentile(times[0], 0.5)).toFixed(2);
    const p99 = percentile(times[at], 0.99).toFixed(2);
    if (at > 0) {
      const base = percentile(times[0], 0.5);
      const reference = `${base.toFixed(2)} ms, ${contenders[0].name}`;
      rows.push({ name: `${title} ${name}, p50`, result: `${p50.toFixed(2)} ms`, reference, ratio: p50 / base });
    }
    console.log(`  ${name.padEnd(36)} p50 ${p50.toFixed(2)}  p99 ${p99}  added at p50 ${added}`);
  }
}

try {
  report('A chat', await race('chat', CHATS));
  report(`A chat streamed in ${CHUNKS} deltas`, await race('chat/stream', Math.ceil(CHATS / 5)));
  record('cluster', rows);
} finally {
  for (const child of children) child.kill('SIGKILL');
  llm.close();
  llm.closeAllConnections();
  for (const name of databases) await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await admin.end();
  rmSync(folder, { recursive: true });
}
