// Ten dependent tool calls by a model that answers after 400 ms and writes 100 tokens a second, with and without code mode: wall
// time, model calls, and tokens by estimate.                       node bench/code-mode.mjs
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createAgent } from 'jackdaw';
import { estimateTokens } from '../dist/llm/tokens/token-estimate.mapper.js';
import { record } from './results.mjs';

const CALLS = 10;
const ROUNDS = 5;
const FIRST_MS = 400;
const TOKEN_MS = 10;
const QUESTION = 'Sum up the totals of ten pages.';
const HOST = '127.0.0.1';
/** A page of 40 orders: the part of a result that the model does not need. */
const PAGE = Array.from({ length: 40 }, (_, n) => ({
  order: n,
  customer: `customer-${n}`,
  total: n * 7,
  status: 'paid',
}));
const TOOL = {
  name: 'orders_page',
  description: 'Returns one page of orders, and the number of the next page.',
  effect: 'read',
  parameters: { type: 'object', properties: { page: { type: 'integer' } }, required: ['page'] },
  handler: ({ page }) => ({ orders: PAGE, next: page + 1 }),
};
const SCRIPT = `
let page = 1, sum = 0;
for (let n = 0; n < ${CALLS}; n++) {
  const { orders, next } = await tools.orders_page({ page });
  for (const { total } of orders) sum += total;
  page = next;
}
return sum;`;

function replyTo(messages, isScript) {
  const turn = messages.slice(messages.findLastIndex(({ role }) => role === 'user'));
  const done = turn.filter(({ role }) => role === 'tool').length;
  if (done === (isScript ? 1 : CALLS)) return { content: 'The sum of the totals is 54,600.' };
  const call = isScript
    ? { name: 'run_script', arguments: JSON.stringify({ script: SCRIPT }) }
    : { name: 'orders_page', arguments: JSON.stringify({ page: done + 1 }) };
  return { content: null, tool_calls: [{ id: `call_${done}`, type: 'function', function: call }] };
}

async function measure(isScript) {
  const totals = { requests: 0, prompt: 0, completion: 0 };
  const server = createServer((request, response) => void answer(request, response));
  const answer = async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { messages, tools } = JSON.parse(Buffer.concat(chunks).toString());
    const message = { role: 'assistant', ...replyTo(messages, isScript) };
    const written = estimateTokens(JSON.stringify(message));
    totals.requests++;
    totals.prompt += estimateTokens(JSON.stringify([tools, messages]));
    totals.completion += written;
    await pause(FIRST_MS + written * TOKEN_MS);
    const choice = { index: 0, message, finish_reason: message.tool_calls ? 'tool_calls' : 'stop' };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({ model: 'fake', choices: [choice], usage: { prompt_tokens: 1, completion_tokens: 1 } }),
    );
  };
  await new Promise((resolve) => server.listen(0, HOST, resolve));
  const folder = mkdtempSync(join(tmpdir(), 'jackdaw-bench-'));
  const config = {
    LLM_PROVIDER: 'openai-compatible',
    LLM_MODEL: 'fake',
    LLM_API_KEY: 'key-of-the-bench',
    LLM_BASE_URL: `http://${HOST}:${server.address().port}/v1`,
    DATA_DIR: folder,
    AGENT_MAX_ITERATIONS: '20',
    LOG_LEVEL: 'silent',
  };
  const agent = await createAgent({ config, ...(isScript && { codeMode: true }) });
  agent.registerTool(TOOL);
  // Warms up the code and the thread.
  await agent.chat(QUESTION, { sessionId: 'warm-up' });
  Object.assign(totals, { requests: 0, prompt: 0, completion: 0 });
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const from = performance.now();
  for (let n = 0; n < ROUNDS; n++) await agent.chat(QUESTION, { sessionId: `round-${n}` });
  const ms = (performance.now() - from) / ROUNDS;
  delay.disable();
  await agent.close();
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
  return { ms, delayMs: delay.max / 1e6, ...totals };
}

const [direct, scripted] = [await measure(false), await measure(true)];
const show = ({ ms, requests, prompt, completion }) =>
  `${(ms / 1000).toFixed(2)} s, ${requests / ROUNDS} model calls, ${Math.round(prompt / ROUNDS)} + ${Math.round(completion / ROUNDS)} tokens`;
const rows = [
  {
    name: 'ten dependent calls by a script',
    result: show(scripted),
    reference: show(direct),
    ratio: scripted.ms / direct.ms,
  },
  {
    name: 'input tokens of the same',
    result: `${Math.round(scripted.prompt / ROUNDS)} tokens`,
    reference: `${Math.round(direct.prompt / ROUNDS)} tokens`,
    ratio: scripted.prompt / direct.prompt,
  },
  { name: 'maximum delay of the event loop', result: `${scripted.delayMs.toFixed(0)} ms`, ceiling: '50 ms' },
];
for (const row of rows) console.log(row.name.padEnd(36), row.result, row.reference ?? '');
record('code-mode', rows);
