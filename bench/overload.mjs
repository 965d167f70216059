// Goodput beyond the capacity: chats at 2 and 5 times the rate that the server completes, from clients that leave after 5 s,
// then normal load. The server has one core, and the generator with the fake LLM another one.
//                          node bench/overload.mjs [--seconds 10] [--concurrency 10] [--model-ms 100] [--root ../other-checkout]
import { spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { cleanUp, ms, offer, percent, Provider, quantile, send, startServer } from './loaded-server.mjs';
import { record } from './results.mjs';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    concurrency: { type: 'string' },
    'model-ms': { type: 'string' },
    root: { type: 'string' },
  },
});
const SECONDS = Number(values.seconds);
const PROBE = fileURLToPath(new URL('liveness-probe.mjs', import.meta.url));

/** Two kinds of load: runs that wait for a model, and runs that only cost CPU. */
const KINDS = [
  { name: 'RUN_CONCURRENCY=10, model 100 ms', env: { RUN_CONCURRENCY: '10' }, modelMs: 100 },
  { name: 'default, model at once', env: {}, modelMs: 0 },
];
const OWN = {
  name: 'as given',
  env: values.concurrency ? { RUN_CONCURRENCY: values.concurrency } : {},
  modelMs: Number(values['model-ms']),
};

const provider = await new Provider().start();

/** Completed chats a second with this number of clients that wait for each answer. */
async function capacityOf(port, clients) {
  let done = 0;
  const until = performance.now() + 4_000;
  const client = async () => {
    while (performance.now() < until) if ((await send(port)).status === 200) done++;
  };
  await Promise.all(Array.from({ length: clients }, client));
  return done / 4;
}

/** Probes liveness. @returns a function that ends the probe and resolves with the longest wait in ms */
function probeLiveness(port) {
  const child = spawn(process.execPath, [PROBE, String(port)], { stdio: ['pipe', 'pipe', 'inherit'] });
  const longest = new Promise((resolve) => child.stdout.once('data', (line) => resolve(Number(line))));
  return () => {
    child.stdin.write('end\n');
    return longest;
  };
}

/** Chats at a constant rate, and a probe of liveness. */
async function measure({ port, healthPort }, perSecond, seconds) {
  const start = performance.now();
  const callsBefore = provider.calls;
  const endProbe = probeLiveness(port);
  const endHealthProbe = probeLiveness(healthPort);
  const all = await offer(port, perSecond, seconds);
  const good = all.filter(({ status }) => status === 200).map((one) => one.ms);
  const inTime = all.filter(({ status, at }) => status === 200 && at < start + 1000 * seconds);
  const refused = all.filter(({ status }) => status === 503).map((one) => one.ms);
  return {
    goodput: inTime.length / seconds,
    p99: quantile(good, 0.99),
    refusedP99: quantile(refused, 0.99),
    left: all.filter(({ status }) => status === 0).length / all.length,
    wasted: provider.calls - callsBefore - good.length,
    liveMax: await endProbe(),
    healthMax: await endHealthProbe(),
  };
}

const rows = [];
for (const kind of values['model-ms'] === undefined ? KINDS : [OWN]) {
  provider.ms = kind.modelMs;
  const server = await startServer(provider, kind.env, values.root);
  await capacityOf(server.port, 10);
  const capacity = await capacityOf(server.port, Number(kind.env.RUN_CONCURRENCY ?? 32));
  console.log(`${kind.name}: capacity ${Math.round(capacity)}/s`);
  for (const times of [2, 5]) {
    const load = await measure(server, times * capacity, SECONDS);
    console.log(
      `  ${times} x: goodput ${percent(load.goodput / capacity)}, p99 ${ms(load.p99)}, refused within ${ms(load.refusedP99)}, ` +
        `clients left ${percent(load.left)}, wasted model calls ${load.wasted}, liveness at most ${ms(load.liveMax)}, on HEALTH_PORT ${ms(load.healthMax)}`,
    );
    rows.push({ name: `${kind.name}: goodput at ${times} x`, result: percent(load.goodput / capacity) });
    rows.push({ name: `${kind.name}: liveness at ${times} x, longest`, result: ms(load.liveMax) });
    rows.push({ name: `${kind.name}: liveness on HEALTH_PORT at ${times} x, longest`, result: ms(load.healthMax) });
    await pause(2_000);
    const normal = await measure(server, capacity / 2, 3);
    console.log(
      `  normal load 2 s later: p99 ${ms(normal.p99)}, refused or left ${percent(1 - normal.goodput / (capacity / 2))}`,
    );
    rows.push({ name: `${kind.name}: p99 of normal load 2 s after ${times} x`, result: ms(normal.p99) });
  }
  await server.end();
}
provider.close();
cleanUp();
record('overload', rows);
