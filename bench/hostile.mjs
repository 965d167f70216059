// The delay that hostile MCP servers cause to others: the longest block of the event loop and the longest chat while a
// server lists 4 MB of tools again and again, or while tools with schemas that are slow to check are called; by turns
// with the same chats alone.                                   node bench/hostile.mjs [--ms 5000 --rounds 5]
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createInstantAgent } from './instant-agent.mjs';
import { record } from './results.mjs';

const { values } = parseArgs({
  options: { ms: { type: 'string', default: '5000' }, rounds: { type: 'string', default: '5' } },
});
const [windowMs, rounds] = [Number(values.ms), Number(values.rounds)];
const program = fileURLToPath(new URL('hostile-schemas-server.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'jackdaw-bench-'));
const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];

/** Arguments that make the checks slow. */
const ARGUMENTS = {
  pattern: `${'a'.repeat(40)}!`,
  lookahead: `${'a'.repeat(40)}!`,
  unique: Array.from({ length: 20_000 }, (_, n) => ({ n })),
  web: 'x',
  conditions: 'x',
};

/** Chats one after another. @returns the longest block of the event loop and the longest chat, in ms */
async function chats(agent) {
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  const until = performance.now() + windowMs;
  let longest = 0;
  let count = 0;
  while (performance.now() < until) {
    const from = performance.now();
    await agent.chat('0', { newSession: true });
    longest = Math.max(longest, performance.now() - from);
    count++;
    await pause(2);
  }
  delays.disable();
  return { delay: delays.max / 1e6, longest, count };
}

/** Hostile work until the signal aborts. */
const WORK = {
  'a list of 4 MB, again and again': { kind: 'list', run: (_agent, signal) => once(signal, 'abort') },
  'checks against slow schemas': {
    kind: 'schemas',
    run: async (agent, signal) => {
      const call = async (name) => {
        while (!signal.aborted) {
          await agent.executeTool(`hostile_schemas__${name}`, { value: ARGUMENTS[name] }).catch(() => undefined);
          await pause(1);
        }
      };
      await Promise.all(Object.keys(ARGUMENTS).map(call));
    },
  },
};

/** An agent that the hostile server is connected to. */
async function victim(kind) {
  const agent = await createInstantAgent({ DATA_DIR: mkdtempSync(join(folder, kind)), LOG_LEVEL: 'silent' });
  await agent.connectMcpServer(`hostile_${kind}`, { command: process.execPath, args: [program, kind] });
  return agent;
}

async function beside(agent, run) {
  const end = new AbortController();
  const working = run(agent, end.signal);
  const found = await chats(agent);
  end.abort();
  await working;
  return found;
}

console.log(`Node ${process.version}, ${windowMs} ms a measurement, medians of ${rounds} rounds\n`);
const calm = await createInstantAgent({ DATA_DIR: mkdtempSync(join(folder, 'calm')), LOG_LEVEL: 'silent' });
await chats(calm);
const rows = [];
for (const [name, { kind, run }] of Object.entries(WORK)) {
  const [alone, together] = [[], []];
  for (let round = 0; round < rounds; round++) {
    alone.push(await chats(calm));
    const agent = await victim(kind);
    together.push(await beside(agent, run));
    await agent.close();
  }
  const of = (found, what) => median(found.map((one) => one[what]));
  const text = (found) => `event loop ${of(found, 'delay').toFixed(0)} ms, chat ${of(found, 'longest').toFixed(0)} ms`;
  console.log(
    `${name}: ${text(together)} (${of(together, 'count')} chats); alone: ${text(alone)} (${of(alone, 'count')} chats)`,
  );
  rows.push({
    name: `the longest delay beside ${name}`,
    result: text(together),
    reference: `${text(alone)} alone`,
    ceiling: 'event loop 50 ms, chat 200 ms more',
  });
}
record('hostile', rows);
await calm.close();
rmSync(folder, { recursive: true, force: true });
