// The cost of MCP servers on our side: a tool call over stdio through the whole agent beside the SDK's own call and a
// durable step, the memory of an idle server, and the start with servers whose program does not exist.
//                                        node --expose-gc bench/mcp.mjs [--ms 2000 --rounds 5 --servers 50 --dead 20]
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { NestFactory } from '@nestjs/core';
import { JackdawModule, McpRegistry, registerMcp, unregisterMcp } from 'jackdaw';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createInstantAgent, measure, micros, STEPS, TOOL_TURNS } from './instant-agent.mjs';
import { record } from './results.mjs';

const { values } = parseArgs({
  options: {
    ms: { type: 'string', default: '2000' },
    rounds: { type: 'string', default: '5' },
    servers: { type: 'string', default: '50' },
    dead: { type: 'string', default: '20' },
  },
});
const [windowMs, rounds, servers, dead] = ['ms', 'rounds', 'servers', 'dead'].map((key) => Number(values[key]));

const inputSchema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
const program = fileURLToPath(new URL('../test/support/mcp/scripted-server.mjs', import.meta.url));
const script = JSON.stringify({ tools: [{ name: 'echo', description: 'Echoes.', inputSchema }] });
const stdio = { command: process.execPath, args: [program, script] };
const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
const folders = [];
const newFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'jackdaw-bench-'));
  folders.push(folder);
  return folder;
};

/** An agent with the tool of a connected server. @param effect effect that the operator sets */
async function mcpAgent(effect) {
  registerMcp({ name: 'bench', enabled: true, type: 'stdio', stdio, effects: { echo: effect }, untrusted: false });
  const agent = await createInstantAgent({ DATA_DIR: newFolder() }, 'bench__echo');
  await unregisterMcp('bench');
  while (!(await agent.executeTool('bench__echo', { text: 'x' }).catch(() => undefined))) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return agent;
}

async function sdkClient() {
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(new StdioClientTransport(stdio));
  const call = () => client.callTool({ name: 'echo', arguments: { text: 'hello' } });
  return { agent: { chat: call }, close: () => client.close() };
}

/** CPU and wall time of one tool turn, in ms: a model step and a tool step. */
async function turnOf(agent) {
  const short = await measure(agent, '0', 1, windowMs);
  const long = await measure(agent, String(TOOL_TURNS), 1, windowMs);
  return { cpu: (long.cpu - short.cpu) / TOOL_TURNS, wall: (long.wall - short.wall) / TOOL_TURNS };
}

async function calls() {
  const native = await createInstantAgent({ DATA_DIR: newFolder() });
  const read = await mcpAgent('read');
  const once = await mcpAgent('once');
  const sdk = await sdkClient();
  const found = [];
  for (let round = 0; round <= rounds; round++) {
    const plain = await turnOf(native);
    const [ofRead, ofOnce] = [await turnOf(read), await turnOf(once)];
    const bare = await measure(sdk.agent, '', 1, windowMs);
    // The first round is a warm-up.
    if (round > 0) found.push({ plain, ofRead, ofOnce, bare });
  }
  for (const { close } of [sdk]) await close();
  for (const agent of [native, read, once]) await agent.close();
  for (const kind of ['wall', 'cpu']) print(kind, found);
}

const rows = [];

/** A turn is a model step and a tool step; the difference to a model step is the call. */
function print(kind, found) {
  const of = (pick) => median(found.map(pick));
  const step = of(({ plain }) => plain[kind] / (STEPS / TOOL_TURNS));
  const bare = of(({ bare: sdk }) => sdk[kind]);
  const ratio = (steps) => (pick) =>
    of((row) => (pick(row)[kind] - row.plain[kind] / 2) / (row.bare[kind] + (steps * row.plain[kind]) / 2));
  const read = of(({ plain, ofRead }) => ofRead[kind] - plain[kind] / 2);
  const once = of(({ plain, ofOnce }) => ofOnce[kind] - plain[kind] / 2);
  console.log(`${kind}: a durable step${micros(step)}, the SDK's callTool${micros(bare)}`);
  const suffix = kind === 'cpu' ? ', CPU' : '';
  const both = `the SDK's \`callTool\` (${micros(bare).trim()}) and a durable step (${micros(step).trim()})`;
  rows.push(
    {
      name: `a call of a repeatable tool${suffix}`,
      result: micros(read).trim(),
      reference: both,
      ratio: ratio(1)((row) => row.ofRead),
      ceiling: '1.50',
    },
    {
      name: `a call of a \`once\` tool${suffix}`,
      result: micros(once).trim(),
      reference: 'the same and the step of its claim',
      ratio: ratio(2)((row) => row.ofOnce),
    },
  );
  console.log(
    `  a call of a tool that may repeat ${micros(read)}: ${ratio(1)((row) => row.ofRead).toFixed(2)} of both`,
  );
  console.log(
    `  of one that must not, with its claim ${micros(once)}: ${ratio(2)((row) => row.ofOnce).toFixed(2)} of both and the claim's step`,
  );
}

function context() {
  return NestFactory.createApplicationContext(
    JackdawModule.forRoot({ config: { DATA_DIR: newFolder() }, recovery: 'manual' }),
    {
      logger: false,
    },
  );
}

function idleServer(name) {
  return {
    name,
    isEnabled: true,
    transport: { kind: 'stdio', ...stdio, env: {} },
    timeoutMs: 1000,
    isTrusted: false,
    isUntrusted: true,
    effects: {},
    isStateful: false,
    source: 'the measurement',
    origin: 'declared',
  };
}

/** Memory after a garbage collection, in bytes: of the process, and of JavaScript in it. */
async function settledRss() {
  for (let n = 0; n < 5; n++) {
    globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss, heap: heapUsed + external };
}

async function memory() {
  const app = await context();
  const registry = app.get(McpRegistry, { strict: false });
  const connect = async (name) => registry.add(idleServer(name)).connection.until(({ status }) => status === 'ready');
  for (let n = 0; n < 3; n++) await connect(`first${n}`);
  const before = await settledRss();
  for (let n = 0; n < servers; n++) await connect(`idle${n}`);
  const after = await settledRss();
  await app.close();
  const each = (kind) => `${((after[kind] - before[kind]) / servers / 1024).toFixed(0)} KB`;
  console.log(
    `an idle server of stdio: ${each('rss')} of our memory, ${each('heap')} of JavaScript's (${servers} servers)`,
  );
  const result = `${each('rss')} of RSS, ${each('heap')} of JavaScript memory`;
  rows.push({ name: 'an idle server', result, ceiling: '2 MB' });
}

async function start(count) {
  const names = Array.from({ length: count }, (_, n) => `dead${n}`);
  for (const name of names) registerMcp({ name, enabled: true, type: 'stdio', stdio: { command: '/no/such/program' } });
  const from = performance.now();
  const app = await context();
  const took = performance.now() - from;
  await app.close();
  for (const name of names) await unregisterMcp(name);
  return took;
}

async function starts() {
  const [without, beside] = [[], []];
  for (let round = 0; round <= rounds; round++) {
    const [none, some] = [await start(0), await start(dead)];
    if (round === 0) continue;
    without.push(none);
    beside.push(some);
  }
  const [none, some] = [without, beside].map((times) => `${median(times).toFixed(0)} ms`);
  console.log(`a start in a warm process: ${none}, beside ${dead} dead servers ${some}`);
  const name = `a start in a warm process with ${dead} dead servers`;
  rows.push({ name, result: some, reference: `${none} without`, ratio: median(beside) / median(without) });
}

console.log(
  `Node ${process.version}, SQLite synchronous=FULL, ${windowMs} ms a measurement, medians of ${rounds} rounds\n`,
);
await memory();
await calls();
await starts();
record('mcp', rows);
for (const folder of folders) rmSync(folder, { recursive: true, force: true });
