// The cost of encryption at rest per run and step: the agent of bench/run.mjs twice in one process, with and without
// keys, measured by turns.       npm run build && node bench/encryption.mjs [--ms 1000] [--rounds 7] [--bytes 1000]
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createInstantAgent, measure, micros, STEPS, TOOL_TURNS } from './instant-agent.mjs';
import { record } from './results.mjs';

const { values } = parseArgs({
  options: {
    ms: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '7' },
    /** Additional text of the user, which a run stores four times. */
    bytes: { type: 'string', default: '0' },
  },
});
const keys = `k1:${randomBytes(32).toString('base64')}`;
const folders = ['plain', 'sealed'].map(() => mkdtempSync(join(tmpdir(), 'jackdaw-bench-')));
const agents = await Promise.all(
  folders.map((DATA_DIR, at) => createInstantAgent({ DATA_DIR, ENCRYPTION_KEYS: at === 0 ? '' : keys })),
);
/** `Number` ignores blanks. */
const padding = ' '.repeat(Number(values.bytes));
const ask = (turns) => `${turns}${padding}`;
const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];

const rows = [];
function show(what, [plain, sealed]) {
  console.log(`${what.padEnd(34)}${micros(plain)} ${micros(sealed)}   ${(sealed / plain).toFixed(2)}`);
  const reference = `${micros(plain).trim()}, without keys`;
  rows.push({ name: `${what}, CPU`, result: micros(sealed).trim(), reference, ratio: sealed / plain });
}

for (const agent of agents) await measure(agent, ask(TOOL_TURNS), 8, Number(values.ms));
console.log(
  `Node ${process.version}, SQLite synchronous=FULL, medians of ${values.rounds} rounds of ${values.ms} ms, CPU\n`,
);
console.log(`${' '.repeat(34)}    plain    sealed   ratio`);
for (const concurrency of [1, 32]) {
  const runs = [[], []];
  const steps = [[], []];
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const [at, agent] of agents.entries()) {
      const short = await measure(agent, ask(0), concurrency, Number(values.ms));
      const long = await measure(agent, ask(TOOL_TURNS), concurrency, Number(values.ms));
      runs[at].push(short.cpu);
      steps[at].push((long.cpu - short.cpu) / STEPS);
    }
  }
  const label = concurrency === 1 ? 'alone' : `${concurrency} in flight`;
  show(`a run without tools, ${label}`, runs.map(median));
  show(`a further step, ${label}`, steps.map(median));
}
record('encryption', rows);
for (const agent of agents) await agent.close();
for (const folder of folders) rmSync(folder, { recursive: true, force: true });
