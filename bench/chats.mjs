// The cost of a chat with the wrappers around its model, beside the bare SDK's loop. Each has a process of its own. They run by turns,
// against a fake LLM in another process that answers at once.
// npm run bench, or node bench/chats.mjs [--generations 8] [--rounds 12] [--chats 320] [--warm 3000] [--only W1]
import { fork, spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { record } from './results.mjs';

const { values } = parseArgs({
  options: {
    generations: { type: 'string', default: '8' },
    rounds: { type: 'string', default: '12' },
    chats: { type: 'string', default: '320' },
    warm: { type: 'string', default: '3000' },
    only: { type: 'string' },
  },
});
const KINDS = ['bare provider', 'as by default', 'all wrappers', 'SDK loop'];
/** W1 is a chat; W2 is a chat with one tool call and two model calls. */
const WORKLOADS = ['W1', 'W2'].filter((one) => one === (values.only ?? one));
const IN_FLIGHT = 32;
const canPin = availableParallelism() > 1 && spawnSync('taskset', ['-V']).status === 0;

/** Starts a separate process, on its own core if possible. */
function start(kind, core, ...args) {
  const pin = canPin ? { execPath: 'taskset', execArgv: ['-c', String(core), process.execPath] } : {};
  const child = fork(new URL('chat-worker.mjs', import.meta.url), [kind, ...args], pin);
  child.once('exit', (code) => {
    if (code) throw new Error(`The process of "${kind}" ended with ${code}: its own message is above.`);
  });
  const message = () => new Promise((resolve) => child.once('message', resolve));
  const ask = (question) => {
    const answer = message();
    child.send(question);
    return answer;
  };
  return { kind, message, ask, stop: () => child.kill() };
}

/** The lower quintile: other load on the machine only adds to the time. */
const quintile = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 5)];
const mean = (numbers) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
/** Mean and its standard error: processes of one build differ by more than the measured effect. */
function shown(ratios) {
  const middle = mean(ratios);
  const spread = mean(ratios.map((one) => (one - middle) ** 2)) / Math.max(1, ratios.length - 1);
  return `${middle.toFixed(2)} ±${Math.sqrt(spread).toFixed(2)}`;
}

/** CPU of a chat in µs, by kind. The process that starts first is slower for its whole life, so each kind starts first in turn. */
async function generation(workload, first, url) {
  const workers = KINDS.map((_, at) => start(KINDS[(at + first) % KINDS.length], 0, url));
  for (const worker of workers) await worker.message();
  for (const worker of workers) await worker.ask({ workload, inFlight: 8, cpuMs: Number(values.warm) });
  const found = new Map(KINDS.map((kind) => [kind, []]));
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const at of workers.keys()) {
      const worker = workers[(at + round) % workers.length];
      const cpu = await worker.ask({ workload, inFlight: IN_FLIGHT, chats: Number(values.chats) });
      found.get(worker.kind).push(cpu);
    }
  }
  for (const worker of workers) worker.stop();
  return new Map([...found].map(([kind, cpus]) => [kind, quintile(cpus)]));
}

const llm = start('llm', 1);
const url = await llm.message();
console.log(`Node ${process.version}, CPU of a chat with ${IN_FLIGHT} in flight, µs, durable except the SDK's loop`);
const rows = [];
for (const workload of WORKLOADS) {
  const generations = [];
  for (let first = 0; first < Number(values.generations); first++)
    generations.push(await generation(workload, first, url));
  console.log(`\n${workload}                   CPU   of bare provider   of SDK loop`);
  const ratiosOf = (kind, other) => generations.map((one) => one.get(kind) / one.get(other));
  const of = (kind, other) => shown(ratiosOf(kind, other));
  for (const [kind, other] of [
    ['all wrappers', KINDS[0]],
    ['as by default', 'SDK loop'],
    ['all wrappers', 'SDK loop'],
  ]) {
    rows.push({ name: `${workload}, ${kind}, CPU`, result: '', reference: other, ratio: mean(ratiosOf(kind, other)) });
  }
  for (const kind of KINDS) {
    const cpu = mean(generations.map((one) => one.get(kind))).toFixed(0);
    console.log(
      kind.padEnd(16) + cpu.padStart(9) + of(kind, KINDS[0]).padStart(19) + of(kind, 'SDK loop').padStart(14),
    );
  }
}
record('chats', rows);
llm.stop();
