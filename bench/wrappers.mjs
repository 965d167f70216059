// The cost of the wrappers around a model: a provider's model bare, and inside all wrappers, against a server in another
// process that answers at once.       npm run build && node bench/wrappers.mjs [--calls 2000] [--rounds 7]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { record } from './results.mjs';

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '2000' },
    rounds: { type: 'string', default: '7' },
    dist: { type: 'string', default: 'dist' },
  },
});
const SERVER = `
  const reply = JSON.stringify({ model: 'm', choices: [{ index: 0, finish_reason: 'stop',
    message: { role: 'assistant', content: 'It is 42.' } }], usage: { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 } });
  const server = require('node:http').createServer({ keepAliveTimeout: 60000 }, (request, response) => {
    request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end(reply));
  }).listen(0, '127.0.0.1', () => console.log(server.address().port));`;
const REQUEST = {
  messages: [
    { role: 'system', content: 'You are a helpful agent.' },
    { role: 'user', content: 'What is the answer?' },
  ],
  parameters: { temperature: 0.7 },
};
const load = (path) => import(pathToFileURL(`${resolve(values.dist)}/${path}`));
const { loadConfig } = await load('config/index.js');
const { KeyPoolRegistry, ModelStackFactory } = await load('llm/index.js');
const { createModelRegistry } = await load('llm/model-registry.factory.js');
const { MemoryCache } = await load('cache/index.js');

const server = spawn(process.execPath, ['-e', SERVER], { stdio: ['ignore', 'pipe', 'inherit'] });
const [port] = await once(server.stdout, 'data');
const access = { OPENAI_BASE_URL: `http://127.0.0.1:${String(port).trim()}/v1`, LLM_MODEL: 'gpt-4o' };
const all = {
  OPENAI_API_KEYS: 'one,two',
  LLM_CONCURRENCY: '100',
  LLM_FALLBACK: 'ollama:qwen3',
};
const registry = createModelRegistry();
const settings = {
  provider: 'openai',
  model: 'gpt-4o',
  apiKey: 'one',
  baseUrl: access.OPENAI_BASE_URL,
  timeoutMs: 30_000,
};

function stackOf(env, cache) {
  const { config } = loadConfig({ env: { ...access, ...env } });
  return new ModelStackFactory(registry, new KeyPoolRegistry(config.llm), config.llm, cache, null);
}
const models = {
  bare: registry.create(settings),
  'as by default': stackOf({ OPENAI_API_KEY: 'one' }).create(settings),
  'all wrappers': stackOf(all, new MemoryCache(3_600_000, 67_108_864)).create({ ...settings, totalMs: 60_000 }, [
    { provider: 'ollama', model: 'qwen3', timeoutMs: 30_000 },
  ]),
};

/** CPU of a call in µs. */
async function measure(model, concurrency) {
  let left = Number(values.calls);
  const from = process.cpuUsage();
  const options = { signal: new AbortController().signal, tenant: 't', deadlineAt: Date.now() + 300_000 };
  const worker = async () => {
    while (left-- > 0) await model.generate(REQUEST, options);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  const { user, system } = process.cpuUsage(from);
  return (user + system) / Number(values.calls);
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
for (const model of Object.values(models)) await measure(model, 32);
console.log(`Node ${process.version}, CPU of a call, medians of ${values.rounds} rounds of ${values.calls} calls`);
const rows = [];
for (const concurrency of [1, 32]) {
  const found = Object.fromEntries(Object.keys(models).map((name) => [name, []]));
  for (let round = 0; round < Number(values.rounds); round++)
    for (const [name, model] of Object.entries(models)) found[name].push(await measure(model, concurrency));
  console.log(concurrency === 1 ? '\nalone' : `\n${concurrency} in flight`);
  const bare = median(found.bare);
  for (const [name, cpu] of Object.entries(found)) {
    const ratio = median(cpu) / bare;
    console.log(`${name.padEnd(16)}${median(cpu).toFixed(0).padStart(6)} µs   ${ratio.toFixed(2)}`);
    const label = concurrency === 1 ? 'alone' : `${concurrency} in flight`;
    const result = `${median(cpu).toFixed(0)} µs`;
    if (name !== 'bare') rows.push({ name: `${name}, ${label}, CPU`, result, reference: 'a bare call', ratio });
  }
}
record('wrappers', rows);
await registry.close();
server.kill();
