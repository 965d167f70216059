// Compares the CPU time of this checkout with that of an earlier version, by turns in one run; fails above 1.15 times.
// npm run bench:check -- [--from v0.2.0] [--rounds 5] [--spent 2500] [--only stream]
import { execFileSync, fork, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { cleanUp, cpuOf, HOST, offer, startServer } from './loaded-server.mjs';
import { record } from './results.mjs';

const { values } = parseArgs({
  options: {
    from: { type: 'string', default: 'v0.2.0' },
    rounds: { type: 'string', default: '5' },
    /** CPU time of one measurement in ms. */
    spent: { type: 'string', default: '2500' },
    only: { type: 'string' },
  },
});
const CEILING = 1.15;
const CALL = { id: 'call_1', type: 'function', function: { name: 'calculator', arguments: '{"expression":"6*7"}' } };
const WORDS = Array.from({ length: 300 }, (_, at) => (at === 0 ? 'word0' : ` word${at}`));
const USAGE = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 };
const CASES = [
  { name: 'a chat', method: 'chat', prompt: 'Hello', answer: 'Hello.' },
  { name: 'a chat with a tool call', method: 'agent', prompt: 'Use the tool', answer: 'Hello.' },
  { name: 'a stream of 300 chunks', method: 'stream', prompt: 'Talk', answer: WORDS.join('') },
].filter(({ name }) => name.includes(values.only ?? ''));

/** A chunk of a stream, or a whole reply. */
const framed = (choice) =>
  JSON.stringify({ id: 'x', object: 'chat.completion', created: 0, model: 'm', choices: [choice], usage: USAGE });
const chunkOf = (delta, finish_reason = null) => `data: ${framed({ index: 0, delta, finish_reason })}\n\n`;

/** Sends ten words in each turn of the event loop. */
function stream(response) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  let sent = 0;
  const burst = () => {
    for (const word of WORDS.slice(sent, sent + 10)) response.write(chunkOf({ content: word }));
    sent += 10;
    if (sent < WORDS.length) return void setImmediate(burst);
    response.end(`${chunkOf({}, 'stop')}data: [DONE]\n\n`);
  };
  burst();
}

const llm = createServer({ keepAliveTimeout: 60_000 }, (incoming, response) => {
  let text = '';
  incoming.on('data', (piece) => (text += piece));
  incoming.on('end', () => {
    const request = JSON.parse(text);
    if (request.stream) return stream(response);
    const { role, content } = request.messages.at(-1);
    const isCall = role === 'user' && content === 'Use the tool';
    const message = { role: 'assistant', content: isCall ? null : 'Hello.', ...(isCall && { tool_calls: [CALL] }) };
    response.setHeader('content-type', 'application/json');
    response.end(framed({ index: 0, message, finish_reason: isCall ? 'tool_calls' : 'stop' }));
  });
});
await new Promise((done) => llm.listen(0, HOST, done));
const { port } = llm.address();

/** A tag; in a clone without tags the commit of the release. */
function commitOf(version) {
  const { status, stdout } = spawnSync('git', ['rev-parse', '--verify', `${version}^{commit}`], { encoding: 'utf8' });
  if (status === 0) return stdout.trim();
  const subject = `^chore(release): ${version.replace(/^v/, '')}$`;
  const found = execFileSync('git', ['log', '-1', '--format=%H', `--grep=${subject}`], { encoding: 'utf8' }).trim();
  if (found === '') throw new Error(`No tag and no release commit of ${version}: fetch the whole history.`);
  return found;
}

const lock = (root) => readFileSync(join(root, 'package-lock.json'), 'utf8');

/** A built checkout of the commit. */
function checkOut(commit) {
  const folder = join(mkdtempSync(join(tmpdir(), 'jackdaw-check-')), 'code');
  execFileSync('git', ['worktree', 'add', '--detach', folder, commit], { stdio: 'ignore' });
  // Both versions do the same work.
  copyFileSync('bench/peer.mjs', join(folder, 'bench/peer.mjs'));
  if (lock(folder) === lock('.')) symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  else execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  return folder;
}

const canPin = availableParallelism() > 1 && spawnSync('taskset', ['-V']).status === 0;

/** CPU time of a run for each case, in ms, in a process of its own. */
async function inProcess(root) {
  const pin = canPin ? { execPath: 'taskset', execArgv: ['-c', '0', process.execPath] } : {};
  const child = fork(new URL('check-worker.mjs', import.meta.url), [root, `http://${HOST}:${port}/v1`], pin);
  child.once('exit', (code) => {
    if (code) throw new Error(`The process of ${root} ended with ${code}: its own message is above.`);
  });
  const message = () => new Promise((done) => child.once('message', done));
  await message();
  const found = [];
  for (const one of CASES) {
    const answer = message();
    child.send({ ...one, spentMs: Number(values.spent) });
    found.push(await answer);
  }
  child.kill();
  return found;
}

/** CPU time of a start and of a chat over HTTP, in ms. */
async function overHttp(root) {
  const server = await startServer({ port }, {}, root);
  const started = cpuOf(server.pid);
  await offer(server.port, 200, 3);
  const from = cpuOf(server.pid);
  const chats = await offer(server.port, 200, 5);
  if (chats.some(({ status }) => status !== 200)) throw new Error(`A chat over HTTP failed in ${root}.`);
  const spent = cpuOf(server.pid) - from;
  await server.end();
  return [started, spent / chats.length];
}

async function measure(root) {
  return [...(await inProcess(root)), ...(values.only ? [] : await overHttp(root))];
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
const before = checkOut(commitOf(values.from));
const roots = { now: resolve('.'), before };
const found = { now: [], before: [] };
try {
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const kind of round % 2 === 0 ? ['now', 'before'] : ['before', 'now']) {
      found[kind].push(await measure(roots[kind]));
    }
  }
} finally {
  execFileSync('git', ['worktree', 'remove', '--force', before]);
  rmSync(join(before, '..'), { recursive: true, force: true });
  llm.close();
  llm.closeAllConnections();
  cleanUp();
}

const names = [...CASES.map(({ name }) => `${name}, in process`), 'a start of the server', 'a chat over HTTP'];
const rows = found.now[0].map((_, at) => {
  const of = (kind) => median(found[kind].map((figures) => figures[at]));
  const [now, earlier] = [of('now'), of('before')];
  return { name: `${names[at]}, CPU`, now, earlier, ratio: now / earlier };
});
const failed = rows.filter(({ ratio }) => ratio > CEILING);
for (const { name, now, earlier, ratio } of rows)
  console.log(`${name}: ${now.toFixed(2)} ms, ${earlier.toFixed(2)} ms in ${values.from}: ${ratio.toFixed(2)}`);
record(
  'check',
  rows.map(({ name, now, earlier, ratio }) => ({
    name,
    result: `${now.toFixed(2)} ms`,
    reference: `${earlier.toFixed(2)} ms, ${values.from}`,
    ratio: ratio.toFixed(2),
    ceiling: String(CEILING),
  })),
);
if (failed.length > 0) {
  console.error(`Above ${CEILING} times: ${failed.map(({ name }) => name).join('; ')}.`);
  process.exitCode = 1;
}
