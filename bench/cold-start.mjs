// Cold start of the production server: from process start to the end of the first chat's answer, and the memory then.
// node bench/cold-start.mjs [--rounds 5]        (the server answers from a fake model on 127.0.0.1)
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSocket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { record } from './results.mjs';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } });
const main = fileURLToPath(new URL('../lib/main.js', import.meta.url));
const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];

/** Answers every chat completion at once. */
const llm = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({
        id: 'x',
        object: 'chat.completion',
        created: 0,
        model: 'mock-model',
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      }),
    );
  });
});
await new Promise((resolve) => llm.listen(0, '127.0.0.1', resolve));

function freePort() {
  return new Promise((resolve) => {
    const probe = createSocket().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

async function ask(port) {
  for (;;) {
    try {
      const response = await fetch(`http://127.0.0.1:${port}/api/agent/chat`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: 'Say hello.' }),
      });
      if (response.status !== 200) throw new Error(await response.text());
      return await response.json();
    } catch (error) {
      if (error.cause?.code !== 'ECONNREFUSED') throw error;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

/** Starts the server, asks once and stops it. @returns ms to the answer, and the RSS then in MB */
async function start(folder) {
  const port = await freePort();
  const env = {
    ...process.env,
    NODE_ENV: 'production',
    PORT: String(port),
    DATA_DIR: folder,
    LLM_PROVIDER: 'openai',
    LLM_OPENAI_API: 'chat',
    LLM_MODEL: 'mock-model',
    OPENAI_API_KEY: 'test',
    OPENAI_BASE_URL: `http://127.0.0.1:${llm.address().port}/v1`,
  };
  const from = performance.now();
  const server = spawn(process.execPath, [main], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const { result } = await ask(port);
  const time = performance.now() - from;
  if (result !== 'Hello.') throw new Error(`wrong answer: ${result}`);
  const memory = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))[1]) / 1024;
  server.kill();
  await new Promise((resolve) => server.once('exit', resolve));
  return { time, memory };
}

/** The first start of an installation; the second one, which stores compiled code in the data folder; and one that finds it. */
const kinds = { first: [], second: [], later: [] };
for (let round = 0; round < Number(values.rounds); round++) {
  const folder = mkdtempSync(join(tmpdir(), 'jackdaw-cold-'));
  for (const found of Object.values(kinds)) found.push(await start(folder));
  rmSync(folder, { recursive: true, force: true });
}
llm.close();
const rows = Object.entries(kinds).flatMap(([kind, found]) => [
  {
    name: `process start to the first answer, ${kind} start`,
    result: `${Math.round(median(found.map(({ time }) => time)))} ms`,
  },
  { name: `RSS then, ${kind} start`, result: `${Math.round(median(found.map(({ memory }) => memory)))} MB` },
]);
for (const { name, result } of rows) console.log(`${name}: ${result}`);
record('cold-start', rows);
