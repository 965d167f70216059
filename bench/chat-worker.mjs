// One process of chats.mjs: the server of chats, or the fake LLM.
import { on } from 'node:events';
import { createServer } from 'node:http';
import { OpenAI } from 'openai';
import { calculate, CALCULATOR, create, SYSTEM } from './peer.mjs';
import { create as createWrapped } from './wrapped-peer.mjs';

const [kind, baseURL] = process.argv.slice(2);
const PROMPTS = { W1: 'Hello', W2: 'What is 17 * 23?' };
const ANSWER = 'It is 391.';
const USAGE = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 };
const CALL = {
  id: 'call_1',
  type: 'function',
  function: { name: CALCULATOR.name, arguments: '{"expression":"17 * 23"}' },
};

const KINDS = {
  'bare provider': () => create({ baseURL }, { LLM_MAX_ATTEMPTS: '1', LLM_BREAKER_FAILURES: '0' }),
  'as by default': () => create({ baseURL }),
  'all wrappers': () => createWrapped({ baseURL }),
  'SDK loop': createLoop,
};

function createLoop() {
  const client = new OpenAI({ apiKey: 'test', baseURL, maxRetries: 0 });
  const { name, description, input: parameters } = CALCULATOR;
  const tools = [{ type: 'function', function: { name, description, parameters } }];
  const loop = async (prompt, more) => {
    const messages = [
      { role: 'system', content: SYSTEM },
      { role: 'user', content: prompt },
    ];
    for (;;) {
      const { choices } = await client.chat.completions.create({ model: 'mock-model', messages, ...more });
      const { message } = choices[0];
      if (!message.tool_calls) return message.content;
      messages.push(message);
      for (const call of message.tool_calls) {
        const { expression } = JSON.parse(call.function.arguments);
        messages.push({ role: 'tool', tool_call_id: call.id, content: String(calculate(expression)) });
      }
    }
  };
  return { chat: (prompt) => loop(prompt, {}), agent: (prompt) => loop(prompt, { tools }) };
}

function replyTo({ model, messages, tools }) {
  const isCall = tools !== undefined && messages.at(-1).role !== 'tool';
  const message = { role: 'assistant', content: isCall ? null : ANSWER, ...(isCall && { tool_calls: [CALL] }) };
  const choices = [{ index: 0, message, finish_reason: isCall ? 'tool_calls' : 'stop' }];
  return { id: 'x', object: 'chat.completion', created: 0, model, choices, usage: USAGE };
}

function serve() {
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const pieces = [];
    request.on('data', (piece) => pieces.push(piece));
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(replyTo(JSON.parse(Buffer.concat(pieces)))));
    });
  });
  server.listen(0, '127.0.0.1', () => process.send(`http://127.0.0.1:${server.address().port}/v1`));
}

async function answer(peer, { workload, inFlight, chats = Infinity, cpuMs = Infinity }) {
  const from = process.cpuUsage();
  const spent = () => {
    const { user, system } = process.cpuUsage(from);
    return user + system;
  };
  let asked = 0;
  const ask = async () => {
    while (asked < chats && spent() < 1000 * cpuMs) {
      asked++;
      const text = await peer[workload === 'W1' ? 'chat' : 'agent'](PROMPTS[workload]);
      if (text !== ANSWER) throw new Error(`wrong answer: ${text}`);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, ask));
  return spent() / asked;
}

// The parent process has ended.
process.once('disconnect', () => process.exit());
if (kind === 'llm') serve();
else {
  const peer = await KINDS[kind]();
  const questions = on(process, 'message');
  process.send('ready');
  for await (const [question] of questions) process.send(await answer(peer, question));
}
