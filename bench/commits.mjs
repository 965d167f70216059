// The share of commits in the event loop of a server on SQLite, with 32 chats in flight and a fake LLM that answers at once: the upper
// limit of the gain of a thread for commits. On the disk of this folder and in memory, by turns.
//        node bench/commits.mjs [--chats 2000] [--rounds 3]             on Linux
import { spawn } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { HOST, Provider, quantile } from './loaded-server.mjs';
import { record } from './results.mjs';

const { values } = parseArgs({
  options: { chats: { type: 'string', default: '2000' }, rounds: { type: 'string', default: '3' } },
});
const CHATS = Number(values.chats);
const IN_FLIGHT = 32;
const PLACES = { 'on the disk': resolve('.'), 'in memory': '/dev/shm' };
const provider = await new Provider().start();

async function start(place) {
  const folder = mkdtempSync(join(place, '.jackdaw-bench-'));
  const log = join(folder, 'log');
  const child = spawn(process.execPath, ['--import', resolve('bench/commit-probe.mjs'), 'dist/main.js'], {
    env: {
      PATH: process.env.PATH,
      PORT: '0',
      DATA_DIR: folder,
      LLM_PROVIDER: 'openai-compatible',
      LLM_BASE_URL: `http://${HOST}:${provider.port}/v1`,
      LLM_MODEL: 'fake',
      LLM_API_KEY: 'key',
      LOG_FORMAT: 'json',
      RUN_QUEUE_WAIT_MS: '60000',
    },
    stdio: ['ignore', openSync(log, 'w'), 'inherit'],
  });
  process.once('exit', () => child.kill('SIGKILL'));
  const line = async (pattern) => {
    for (;;) {
      const found = pattern.exec(readFileSync(log, 'utf8'));
      if (found) return found[1];
      if (child.exitCode !== null) throw new Error('The server has ended.');
      await pause(20);
    }
  };
  const port = Number(await line(/Jackdaw serves http:\/\/[^:"]+:(\d+)/));
  const end = async () => {
    const ended = new Promise((done) => child.once('exit', done));
    child.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true });
  };
  return { port, line, signal: () => child.kill('SIGUSR2'), end };
}

async function chats(port, count) {
  const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT });
  const body = '{"query":"hello"}';
  const headers = { 'content-type': 'application/json', 'content-length': body.length };
  const times = [];
  let left = count;
  const chat = () =>
    new Promise((done, reject) => {
      const from = performance.now();
      const options = { host: HOST, port, path: '/api/agent/chat', method: 'POST', agent, headers };
      const call = request(options, (response) => {
        response.resume().on('end', () => {
          times.push(performance.now() - from);
          if (response.statusCode === 200) done();
          else reject(new Error(`A chat got ${response.statusCode}.`));
        });
      });
      call.on('error', reject).end(body);
    });
  const client = async () => {
    while (left-- > 0) await chat();
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, client));
  agent.destroy();
  return times;
}

async function measure(place) {
  const server = await start(place);
  try {
    await chats(server.port, CHATS / 2);
    server.signal();
    await server.line(/probe (started)/);
    const times = await chats(server.port, CHATS);
    server.signal();
    const probe = JSON.parse(await server.line(/probe (\{.*\})/));
    return { ...probe, p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
  } finally {
    await server.end();
  }
}

const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
const found = new Map(Object.keys(PLACES).map((name) => [name, []]));
for (let round = 0; round < Number(values.rounds); round++) {
  for (const [name, place] of Object.entries(PLACES)) found.get(name).push(await measure(place));
}
const rows = [...found].map(([name, list]) => {
  const of = (field) => median(list.map((one) => one[field]));
  const ms = (field) => `${of(field).toFixed(1)} ms`;
  const result = `${(100 * of('share')).toFixed(1)} % of the CPU of the event loop, ${of('batches').toFixed(1)} batches a group, a group ${ms('groupP50')} (p99 ${ms('groupP99')}), delay of the event loop ${ms('delayP50')} (p99 ${ms('delayP99')}), a chat ${ms('p50')} (p99 ${ms('p99')})`;
  console.log(name, result);
  return { name: `commits of 32 chats in flight, SQLite ${name}`, result };
});
record('commits', rows);
provider.close();
process.exit(0);
