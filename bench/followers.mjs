// The cost of idle followers: streams of executing runs, opened by a separate process, while this process calls
// /api/health/live continuously.     npm run bench:followers [-- --followers 10000 --runs 100 --idle 35]
import { fork, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, createServer, get } from 'node:http';
import { connect, createServer as createSocket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { record } from './results.mjs';

const { values } = parseArgs({
  options: {
    followers: { type: 'string', default: '10000' },
    runs: { type: 'string', default: '100' },
    idle: { type: 'string', default: '35' },
    target: { type: 'string' },
  },
});
const rows = [];
const FOLLOWERS = Number(values.followers);
const RUNS = Number(values.runs);
/** Longer than two heartbeats. */
const IDLE_S = Number(values.idle);
/** Connections that are opened concurrently. */
const OPENING = 64;
const LAST_CHUNK = '\r\n0\r\n\r\n';
const HOST = '127.0.0.1';
const main = fileURLToPath(new URL('../dist/main.js', import.meta.url));

if (values.target) await follow(JSON.parse(values.target));
else await measure();

/** The followers' process: bare sockets, to keep its own cost low. */
async function follow({ port, runs }) {
  const ended = Promise.withResolvers();
  let ends = 0;
  let wrong = 0;
  const open = (i) => {
    const { promise, resolve, reject } = Promise.withResolvers();
    const runId = runs[i % runs.length];
    const socket = connect(port, HOST);
    let tail = '';
    socket.setEncoding('latin1').setNoDelay();
    socket.write(`GET /api/runs/${runId}/events HTTP/1.1\r\nhost: ${HOST}:${port}\r\n\r\n`);
    socket.on('data', (text) => {
      tail = (tail + text).slice(-4_000);
      if (tail.includes('"text":"Hello"')) resolve();
      if (tail.endsWith(LAST_CHUNK)) socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => {
      reject(new Error(`A follower was cut off early: ${tail}`));
      if (!/event: run.completed.*"result":"Hello world"/s.test(tail)) wrong++;
      if (++ends === FOLLOWERS) ended.resolve();
    });
    return promise;
  };
  let next = 0;
  const worker = async () => {
    while (next < FOLLOWERS) await open(next++);
  };
  await Promise.all(Array.from({ length: OPENING }, worker));
  process.send({ type: 'open' });
  await ended.promise;
  process.send({ type: 'ended', wrong });
  process.disconnect();
}

/** A chunk of a streamed chat completion. */
function chunk(choice, more) {
  const choices = choice ? [{ index: 0, finish_reason: null, delta: {}, ...choice }] : [];
  const whole = { id: 'x', object: 'chat.completion.chunk', created: 0, model: 'mock-model', choices, ...more };
  return `data: ${JSON.stringify(whole)}\n\n`;
}

/** A model that sends one word and then pauses. */
async function startModel() {
  const waiting = [];
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(chunk({ delta: { role: 'assistant', content: 'Hello' } }));
      waiting.push(() => {
        response.write(chunk({ delta: { content: ' world' } }));
        response.write(chunk({ finish_reason: 'stop' }));
        const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
        response.end(`${chunk(null, { usage })}data: [DONE]\n\n`);
      });
    });
  });
  await new Promise((resolve) => server.listen(0, HOST, resolve));
  return { port: server.address().port, close: () => server.close(), finish: () => waiting.map((end) => end()) };
}

function freePort() {
  return new Promise((resolve) => {
    const probe = createSocket().listen(0, HOST, () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

/** Calls `health/live` every 10 ms, one request at a time, on one connection. */
function watchHealth(port) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let times = [];
  const state = { isOver: false };
  const ask = () =>
    new Promise((resolve, reject) => {
      const request = get({ host: HOST, port, path: '/api/health/live', agent }, (response) => {
        response.resume().on('end', () => (response.statusCode === 200 ? resolve() : reject(new Error('not alive'))));
      });
      request.on('error', reject);
    });
  const done = (async () => {
    while (!state.isOver) {
      const from = performance.now();
      await ask();
      times.push(performance.now() - from);
      await sleep(10);
    }
    agent.destroy();
  })();
  const take = () => {
    const sorted = times.toSorted((a, b) => a - b);
    times = [];
    const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
    return `p50 ${at(0.5).toFixed(1)} ms, p99 ${at(0.99).toFixed(1)} ms, worst ${at(1).toFixed(1)} ms (${sorted.length} asked)`;
  };
  return { take, stop: () => ((state.isOver = true), done) };
}

async function startServer(port, modelPort, folder) {
  const env = {
    ...process.env,
    NODE_ENV: 'production',
    PORT: String(port),
    DATA_DIR: folder,
    LOG_LEVEL: 'warn',
    LLM_PROVIDER: 'openai',
    LLM_OPENAI_API: 'chat',
    LLM_TIMEOUT_MS: '600000',
    AGENT_RUN_TIMEOUT_MS: '900000',
    LLM_MODEL: 'mock-model',
    OPENAI_API_KEY: 'test',
    OPENAI_BASE_URL: `http://${HOST}:${modelPort}/v1`,
  };
  const server = spawn(process.execPath, [main], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  for (;;) {
    if (server.exitCode !== null) throw new Error('The server did not start.');
    const isUp = await fetch(`http://${HOST}:${port}/api/health/live`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return server;
    await sleep(20);
  }
}

/** Starts a streamed chat and disconnects: the run continues. */
async function startRun(port) {
  const response = await fetch(`http://${HOST}:${port}/api/agent/chat/stream`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: 'Say hello.' }),
  });
  const runId = response.headers.get('x-run-id');
  await response.body.cancel();
  return runId;
}

function residentKb(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);
}

function assertOpenFiles() {
  const limit = Number(/Max open files\s+(\d+)/.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? Infinity);
  if (limit >= FOLLOWERS + 200) return;
  throw new Error(`${FOLLOWERS} followers need as many open files per process; the limit is ${limit}: ulimit -n 20000`);
}

/** @param result times of `health/live` in this phase */
function show(phase, result) {
  console.log(`health/live ${phase}: ${result}`);
  rows.push({ name: `\`health/live\`, ${FOLLOWERS} followers, ${phase}`, result });
}

async function measure() {
  assertOpenFiles();
  const folder = mkdtempSync(join(tmpdir(), 'jackdaw-followers-'));
  const model = await startModel();
  const port = await freePort();
  const server = await startServer(port, model.port, folder);
  const runs = [];
  for (let i = 0; i < RUNS; i++) runs.push(await startRun(port));
  await sleep(2_000);
  const health = watchHealth(port);
  await sleep(3_000);
  console.log(`Node ${process.version}, ${FOLLOWERS} followers of ${RUNS} runs`);
  const take = (phase) => show(phase, health.take());
  take('without followers');
  const before = residentKb(server.pid);

  const from = performance.now();
  const target = JSON.stringify({ port, runs });
  const followers = fork(fileURLToPath(import.meta.url), [...process.argv.slice(2), '--target', target]);
  const eventsOf = (type) =>
    new Promise((resolve) => followers.on('message', (message) => message.type === type && resolve(message)));
  const ended = eventsOf('ended');
  await eventsOf('open');
  console.log(`opened in ${((performance.now() - from) / 1000).toFixed(1)} s`);
  take('while they connect');
  const opened = residentKb(server.pid);
  await sleep(IDLE_S * 1_000);
  const idle = residentKb(server.pid);
  const each = (kb) => ((kb - before) / FOLLOWERS).toFixed(1);
  take('while they wait');
  console.log(
    `memory a follower: ${each(idle)} KB (${each(opened)} KB when all had come; RSS ${Math.round(before / 1024)} → ${Math.round(idle / 1024)} MB)`,
  );

  const endFrom = performance.now();
  model.finish();
  const { wrong } = await ended;
  console.log(`the end reached all of them in ${((performance.now() - endFrom) / 1000).toFixed(2)} s; wrong: ${wrong}`);
  take('while they end');
  rows.push({ name: 'memory of a follower', result: `${each(idle)} KB` });
  record('followers', rows);
  await health.stop();
  server.kill();
  await new Promise((resolve) => server.once('exit', resolve));
  model.close();
  rmSync(folder, { recursive: true, force: true });
  process.exitCode = wrong === 0 ? 0 : 1;
}
