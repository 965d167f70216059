// The cost of a run and a step, without model time: an agent with a chat model that answers at once, journaled in
// a SQLite file with synchronous=FULL.       npm run bench, or node bench/run.mjs [--ms 2000]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createInstantAgent, measure, micros, STEPS, TOOL_TURNS } from './instant-agent.mjs';

const { values } = parseArgs({ options: { ms: { type: 'string', default: '2000' } } });
const WINDOW_MS = Number(values.ms);

const folder = mkdtempSync(join(tmpdir(), 'jackdaw-bench-'));
const agent = await createInstantAgent({ DATA_DIR: folder });
await measure(agent, String(TOOL_TURNS), 8, WINDOW_MS);

console.log(`Node ${process.version}, SQLite synchronous=FULL, ${WINDOW_MS} ms per measurement\n`);
console.log('                              CPU      wall');
for (const concurrency of [1, 32]) {
  const short = await measure(agent, '0', concurrency, WINDOW_MS);
  const long = await measure(agent, String(TOOL_TURNS), concurrency, WINDOW_MS);
  const label = concurrency === 1 ? 'alone' : `${concurrency} in flight`;
  console.log(`a run without tools, ${label.padEnd(12)}${micros(short.cpu)} ${micros(short.wall)}`);
  console.log(
    `a further step, ${label.padEnd(17)}${micros((long.cpu - short.cpu) / STEPS)} ${micros((long.wall - short.wall) / STEPS)}`,
  );
}
await agent.close();
rmSync(folder, { recursive: true, force: true });
