// The cost of a run and a step, without model time: an agent with a chat model that answers at once, journaled in
// a SQLite file with synchronous=FULL.       npm run bench, or node bench/run.mjs [--ms 2000]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createInstantAgent, measure, micros, STEPS, TOOL_TURNS } from './instant-agent.mjs';
import { record } from './results.mjs';

const { values } = parseArgs({ options: { ms: { type: 'string', default: '2000' } } });
const WINDOW_MS = Number(values.ms);

const folder = mkdtempSync(join(tmpdir(), 'jackdaw-bench-'));
const agent = await createInstantAgent({ DATA_DIR: folder });
await measure(agent, String(TOOL_TURNS), 8, WINDOW_MS);

console.log(`Node ${process.version}, SQLite synchronous=FULL, ${WINDOW_MS} ms per measurement\n`);
console.log('                              CPU      wall');
const rows = [];
function show(name, { cpu, wall }) {
  console.log(`${name.padEnd(33)}${micros(cpu)} ${micros(wall)}`);
  rows.push({ name, result: `${micros(cpu).trim()} of CPU, ${micros(wall).trim()}` });
}
for (const concurrency of [1, 32]) {
  const short = await measure(agent, '0', concurrency, WINDOW_MS);
  const long = await measure(agent, String(TOOL_TURNS), concurrency, WINDOW_MS);
  const label = concurrency === 1 ? 'alone' : `${concurrency} in flight`;
  show(`a run without tools, ${label}`, short);
  show(`a further step, ${label}`, { cpu: (long.cpu - short.cpu) / STEPS, wall: (long.wall - short.wall) / STEPS });
}
record('run', rows);
await agent.close();
rmSync(folder, { recursive: true, force: true });
