// The share of the input tokens of a run that repeats the start of its last request, so that a provider's cache can
// serve it: 20 model calls around 19 tool calls, by an agent with 200 words of instructions and one tool. Fails
// below 90 %.                        node bench/prompt-cache.mjs
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAgent } from 'jackdaw';
import { estimateTokens } from '../dist/llm/tokens/token-estimate.mapper.js';
import { record } from './results.mjs';

const STEPS = 20;
const LEAST = 0.9;
const HOST = '127.0.0.1';
const SENTENCE =
  'You compute series of numbers for engineers, one value at a time, and you state the unit of every value that you report. ';
/** About 200 words. */
const INSTRUCTIONS = SENTENCE.repeat(9);
const CALCULATOR = {
  name: 'calculator',
  description: 'Computes an arithmetic expression exactly.',
  parameters: { type: 'object', properties: { expression: { type: 'string' } }, required: ['expression'] },
  handler: ({ expression }) => `${expression} = 7`,
};
const KINDS = [
  { provider: 'openai', model: 'gpt-4o' },
  { provider: 'anthropic', model: 'claude-haiku-5-5' },
];

/** The body of a reply: a call of the calculator, or the answer. */
function replyTo({ model, messages }, isAnthropic, number) {
  const input = { expression: `${number} * 1234 + 5678` };
  const isLast = number === STEPS;
  const text = isLast ? 'All results are there.' : `Step ${number}: I compute the next value of the series.`;
  if (isAnthropic) {
    const call = { type: 'tool_use', id: `call_${number}`, name: 'calculator', input };
    const content = [{ type: 'text', text }, ...(isLast ? [] : [call])];
    const usage = { input_tokens: 1, output_tokens: 1 };
    return { type: 'message', model, content, stop_reason: isLast ? 'end_turn' : 'tool_use', usage };
  }
  const call = { name: 'calculator', arguments: JSON.stringify(input) };
  const tool_calls = isLast ? undefined : [{ id: `call_${number}`, type: 'function', function: call }];
  const choice = {
    message: { role: 'assistant', content: text, tool_calls },
    finish_reason: isLast ? 'stop' : 'tool_calls',
  };
  return { model, choices: [choice], usage: { prompt_tokens: messages.length, completion_tokens: 1 } };
}

/** The prompt in the order in which providers cache it, without the marks of the cache. */
function promptOf({ tools, system, messages }) {
  return JSON.stringify([tools, system, ...messages], (key, value) => (key === 'cache_control' ? undefined : value));
}

function commonLength(a, b) {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

/** The prompts of a run of 20 model calls. */
async function promptsOf({ provider, model }) {
  const bodies = [];
  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString());
      bodies.push(body);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(replyTo(body, provider === 'anthropic', bodies.length)));
    });
  });
  await new Promise((resolve) => server.listen(0, HOST, resolve));
  const folder = mkdtempSync(join(tmpdir(), 'jackdaw-bench-'));
  const config = {
    LLM_PROVIDER: provider,
    ...(provider === 'openai' && { LLM_OPENAI_API: 'chat' }),
    LLM_MODEL: model,
    LLM_API_KEY: 'key-of-the-bench',
    LLM_BASE_URL: `http://${HOST}:${server.address().port}/v1`,
    DATA_DIR: folder,
    AGENT_MAX_ITERATIONS: String(STEPS),
    LOG_LEVEL: 'silent',
  };
  const agent = await createAgent({ config, instructions: INSTRUCTIONS });
  agent.registerTool(CALCULATOR);
  await agent.chat('Compute the series.');
  await agent.close();
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
  return bodies.map(promptOf);
}

const rows = [];
for (const kind of KINDS) {
  const prompts = await promptsOf(kind);
  if (prompts.length !== STEPS) throw new Error(`${prompts.length} requests instead of ${STEPS}`);
  let [all, cached] = [0, 0];
  for (const [at, prompt] of prompts.entries()) {
    all += estimateTokens(prompt);
    if (at > 0) cached += estimateTokens(prompt.slice(0, commonLength(prompts[at - 1], prompt)));
  }
  const share = cached / all;
  console.log(`${kind.provider}: ${(share * 100).toFixed(1)} % of ${all} input tokens repeat the request before`);
  rows.push({ name: `${kind.provider}, 20 model calls, cacheable input`, result: `${(share * 100).toFixed(1)} %` });
  if (share < LEAST) process.exitCode = 1;
}
record('prompt-cache', rows);
