// How many of our files and functions one request executes: V8's precise coverage of a warm server over real HTTP, with a fake
// OpenAI provider and SQLite.        npm run build && node bench/hops.mjs [--files chat]
// `--files <request>` also lists the files of that request. The smallest of several samples counts, so that timers of the
// server do not. It fails above a ceiling.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { record } from './results.mjs';

const { values } = parseArgs({ options: { files: { type: 'string' } } });
const SAMPLES = 5;
const WARM_UP = 20;
const DIST = new URL('../dist/', import.meta.url);
/** Highest number of files; a commit that raises one gives the reason. */
const CEILINGS = { chat: 120, 'chat + tool': 154, 'chat + approval': 186 };

/** Requests the tool that the question names, then answers. */
function replyTo({ messages }) {
  const tool = /use (\w+)/.exec(messages.findLast(({ role }) => role === 'user').content)?.[1];
  const isAnswered = messages.at(-1).role === 'tool';
  if (!tool || isAnswered) return { message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' };
  const call = {
    id: `call_${messages.length}`,
    type: 'function',
    function: { name: tool, arguments: '{"text":"hello"}' },
  };
  return { message: { role: 'assistant', content: null, tool_calls: [call] }, finish_reason: 'tool_calls' };
}

async function complete(request, response) {
  const body = JSON.parse(Buffer.concat(await request.toArray()).toString());
  response.setHeader('content-type', 'application/json');
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const choices = [{ index: 0, ...replyTo(body) }];
  response.end(JSON.stringify({ id: 'x', object: 'chat.completion', created: 0, model: 'mock-model', choices, usage }));
}
const llm = createServer((request, response) => void complete(request, response));
await new Promise((resolve) => llm.listen(0, '127.0.0.1', resolve));

const folder = mkdtempSync(join(tmpdir(), 'jackdaw-hops-'));
Object.assign(process.env, {
  PORT: '0',
  DATA_DIR: folder,
  LOG_LEVEL: 'error',
  LLM_PROVIDER: 'openai',
  LLM_OPENAI_API: 'chat',
  LLM_MODEL: 'mock-model',
  OPENAI_API_KEY: 'test',
  OPENAI_BASE_URL: `http://127.0.0.1:${llm.address().port}/v1`,
});
// The compiled files, since the package is one bundle.
const { serve, Tool } = await import(new URL('index.js', DIST));

class EchoTools {
  echo({ text }) {
    return text;
  }
  guarded({ text }) {
    return text;
  }
}
const input = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
for (const [name, approval] of [
  ['echo', undefined],
  ['guarded', 'always'],
]) {
  const descriptor = Object.getOwnPropertyDescriptor(EchoTools.prototype, name);
  const options = { name, description: 'Echoes.', effect: 'read', input, ...(approval && { approval }) };
  Tool(options)(EchoTools.prototype, name, descriptor);
}

const server = await serve({ tools: [EchoTools] });

async function post(path, body) {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(answer)}`);
  return answer;
}

async function untilCompleted(runId) {
  const response = await fetch(`${server.url}/api/runs/${runId}/events`);
  if (!(await response.text()).includes('event: run.completed')) throw new Error(`Run ${runId} did not complete`);
}

const REQUESTS = {
  chat: () => post('/api/agent/chat', { query: 'Say hello.' }),
  'chat + tool': () => post('/api/agent/chat', { query: 'Please use echo.' }),
  'chat + approval': async () => {
    const { run_id: runId } = await post('/api/agent/chat', { query: 'Please use guarded.' });
    await post(`/api/runs/${runId}/approve`, {});
    await untilCompleted(runId);
  },
};

const session = new Session();
session.connect();
await session.post('Profiler.enable');

/** Our functions that were called since the last sample, by file. */
async function sample() {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const files = new Map();
  for (const { url, functions } of result) {
    if (!url.startsWith(DIST.href)) continue;
    const called = functions.filter(({ ranges }) => ranges[0].count > 0).length;
    if (called > 0) files.set(relative(fileURLToPath(DIST), fileURLToPath(url)), called);
  }
  return files;
}

async function measure(request) {
  for (let count = 0; count < WARM_UP; count++) await request();
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  let least;
  for (let count = 0; count < SAMPLES; count++) {
    await sample();
    await request();
    const files = await sample();
    if (!least || files.size < least.size) least = files;
  }
  await session.post('Profiler.stopPreciseCoverage');
  return least;
}

const linesOf = (file) =>
  readFileSync(new URL(`../src/${file.replace(/\.js$/, '.ts')}`, import.meta.url), 'utf8').split('\n').length - 1;

const rows = [];
console.log('| request | files executed | functions | lines in those files |');
console.log('| --- | ---: | ---: | ---: |');
for (const [name, request] of Object.entries(REQUESTS)) {
  const files = await measure(request);
  if (files.size === 0) throw new Error(`No executed file of ${DIST.href} was seen`);
  const functions = [...files.values()].reduce((sum, count) => sum + count, 0);
  const lines = [...files.keys()].reduce((sum, file) => sum + linesOf(file), 0);
  console.log(`| ${name} | ${files.size} | ${functions} | ${lines} |`);
  rows.push({ name, result: `${files.size} files, ${functions} functions`, ceiling: `${CEILINGS[name]} files` });
  if (files.size > CEILINGS[name]) {
    console.error(`"${name}" executes ${files.size} files, at most ${CEILINGS[name]} are allowed: see CEILINGS`);
    process.exitCode = 1;
  }
  if (values.files === name)
    for (const file of [...files.keys()].toSorted((a, b) => a.localeCompare(b)))
      console.log(`    ${file} (${files.get(file)})`);
}
record('hops', rows);
session.disconnect();
await server.close();
llm.close();
rmSync(folder, { recursive: true, force: true });
