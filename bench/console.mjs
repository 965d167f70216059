// The console in Chromium on loopback: first paint, frames while a run of 5,000 steps scrolls; and the cost of idle pages for
// the server.    node --expose-gc bench/console.mjs [--rounds 9] [--pages 500] [--browser /usr/bin/chromium]
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { record } from './results.mjs';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    pages: { type: 'string', default: '500' },
    browser: { type: 'string', default: '/usr/bin/chromium' },
  },
});
const ROUNDS = Number(values.rounds);
const PAGES = Number(values.pages);
const STEPS = 5_000;
const IDLE_MS = 10_000;
const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];

const folder = mkdtempSync(join(tmpdir(), 'jackdaw-console-'));
Object.assign(process.env, { DATA_DIR: folder, LLM_PROVIDER: 'offline', LOG_LEVEL: 'error', NODE_ENV: 'production' });
const { createApp } = await import('../dist/server/bootstrap.js');
const { Database } = await import('../dist/persistence/index.js');
const app = await createApp();
await app.listen(0, '127.0.0.1');
const { port } = app.getHttpServer().address();
const url = `http://127.0.0.1:${port}`;

async function runWithSteps() {
  const answer = await fetch(`${url}/api/agent/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: 'hello' }),
  });
  const { run_id: runId } = await answer.json();
  const sql = `INSERT INTO run_step (run_id, name, tenant, kind, subject, result, epoch, created_at, started_at)
    SELECT run_id, ?, tenant, 'tool', 'echo', '{"success":true}', epoch, created_at + ?, created_at FROM run_step
    WHERE run_id = ? AND name = 'model:1'`;
  const statements = Array.from({ length: STEPS }, (_, n) => ({ sql, params: [`tool:1:${n + 1}`, n, runId] }));
  await app.get(Database, { strict: false }).commit(statements);
  return runId;
}

/** Times of the first paint with content, in ms; each page has an empty cache. */
async function firstPaints(browser) {
  const times = [];
  for (let round = 0; round < ROUNDS; round++) {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${url}/console/`);
    await page.locator('main h1').waitFor();
    times.push(
      await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN),
    );
    await context.close();
  }
  return times;
}

/** The longest time between two frames while the list scrolls from its start to its end, in ms. */
async function longestFrame(browser, runId) {
  const page = await browser.newPage();
  await page.goto(`${url}/console/#/runs/${runId}`);
  const list = page.getByRole('list', { name: 'Steps' });
  await list.waitFor();
  await list.getByText('tool:1:1', { exact: true }).waitFor();
  const longest = await list.evaluate(async (element) => {
    const end = element.scrollHeight;
    let [last, most] = [performance.now(), 0];
    for (let at = 0; at <= 300; at++) {
      element.scrollTop = (end * at) / 300;
      const now = await new Promise(requestAnimationFrame);
      if (at > 0) most = Math.max(most, now - last);
      last = now;
    }
    return most;
  });
  await page.close();
  return longest;
}

function used() {
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function idleCpu() {
  const from = process.cpuUsage();
  await sleep(IDLE_MS);
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1_000;
}

/** Memory of the server for an open page, in KB, and CPU of all of them, in ms per second. */
async function idlePages() {
  await fetch(`${url}/api/me`);
  const [cpuBefore, before] = [await idleCpu(), used()];
  const sockets = await Promise.all(
    Array.from({ length: PAGES }, async () => {
      const socket = connect(port, '127.0.0.1');
      socket.write(`GET /api/events HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`);
      await new Promise((resolve, reject) => {
        socket.once('data', resolve);
        socket.once('error', reject);
      });
      socket.resume();
      return socket;
    }),
  );
  await sleep(1_000);
  // A socket of this process is in the sum, too.
  const kilobytes = (used() - before) / PAGES / 1_024;
  const cpu = Math.max(0, (await idleCpu()) - cpuBefore) / (IDLE_MS / 1_000);
  for (const socket of sockets) socket.destroy();
  return { kilobytes, cpu };
}

const runId = await runWithSteps();
const browser = await chromium.launch({
  executablePath: values.browser,
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
});
const paints = await firstPaints(browser);
const frames = [];
for (let round = 0; round < 3; round++) frames.push(await longestFrame(browser, runId));
await browser.close();
const { kilobytes, cpu } = await idlePages();
const rows = [
  { name: 'first paint on loopback, empty cache', result: `${Math.round(median(paints))} ms` },
  { name: 'longest frame while 5,000 steps scroll', result: `${Math.round(median(frames))} ms` },
  { name: 'memory of the server for an idle page', result: `${Math.round(kilobytes)} KB` },
  { name: `CPU of the server for ${PAGES} idle pages`, result: `${cpu.toFixed(1)} ms/s` },
];
for (const { name, result } of rows) console.log(`${name}: ${result}`);
console.log(`first paints: ${paints.map(Math.round).join(' ')}; frames: ${frames.map(Math.round).join(' ')}`);
record('console', rows);
await app.close();
rmSync(folder, { recursive: true, force: true });
