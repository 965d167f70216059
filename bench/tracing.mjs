// The overhead of traces: chats of the built server without telemetry, with a collector that answers, and with an unreachable
// one, by turns in one run. The servers have one core; the collector and the fake LLM another one.
//                                        node bench/tracing.mjs [--rounds 15] [--chats 400] [--model-ms 20] [--in-flight 8]
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { cleanUp, cpuOf, HOST, Provider, send, startServer } from './loaded-server.mjs';
import { record } from './results.mjs';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '15' },
    chats: { type: 'string', default: '400' },
    'model-ms': { type: 'string', default: '20' },
    'in-flight': { type: 'string', default: '8' },
  },
});
const [ROUNDS, CHATS] = [Number(values.rounds), Number(values.chats)];
/** With 32 the core is used up, so that the latency is the CPU of all chats. */
const IN_FLIGHT = Number(values['in-flight']);

let requests = 0;
const collector = createServer((incoming, response) => {
  incoming.resume().on('end', () => {
    requests++;
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
});
await new Promise((resolve) => collector.listen(0, HOST, resolve));
const provider = await new Provider().start();
provider.ms = Number(values['model-ms']);

const KINDS = {
  'no telemetry': {},
  'a live collector': { OTEL_EXPORTER_OTLP_ENDPOINT: `http://${HOST}:${collector.address().port}` },
  'an unreachable collector': { OTEL_EXPORTER_OTLP_ENDPOINT: `http://${HOST}:1` },
};

/** @returns CPU of the server and the median latency, both in ms per chat */
async function round({ pid, port }, count) {
  const before = cpuOf(pid);
  const times = [];
  let left = count;
  const client = async () => {
    while (left-- > 0) {
      const { status, ms } = await send(port, { timeoutMs: 30_000 });
      if (status !== 200) throw new Error(`A chat failed with ${status}.`);
      times.push(ms);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, client));
  return { cpu: (cpuOf(pid) - before) / count, ms: median(times) };
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

const names = Object.keys(KINDS);
const servers = new Map();
for (const name of names) servers.set(name, await startServer(provider, KINDS[name]));
for (const server of servers.values()) await round(server, 4 * CHATS);
const found = new Map(names.map((name) => [name, []]));
for (let at = 0; at < ROUNDS; at++) {
  // Each kind is first in turn.
  for (const i of names.keys()) {
    const name = names[(at + i) % names.length];
    found.get(name).push(await round(servers.get(name), CHATS));
  }
}
const [base] = names;
const rows = [];
for (const name of names) {
  // Ratios within a round: other load changes slowly.
  const ratio = (key) => median(found.get(name).map((one, i) => one[key] / found.get(base)[i][key]));
  const [cpu, ms] = ['cpu', 'ms'].map((key) => median(found.get(name).map((one) => one[key])));
  const result = `${cpu.toFixed(2)} ms of CPU, median ${ms.toFixed(1)} ms`;
  console.log(`${name}: ${result}; ${ratio('cpu').toFixed(3)} and ${ratio('ms').toFixed(3)} times ${base}`);
  if (name === base) continue;
  const latency = { name: `${name}: median latency of a chat`, result: `${ms.toFixed(1)} ms`, reference: base };
  rows.push({ ...latency, ratio: Number(ratio('ms').toFixed(3)), ceiling: '5 % more' });
  rows.push({
    name: `${name}: CPU of a chat`,
    result: `${cpu.toFixed(2)} ms`,
    reference: base,
    ratio: Number(ratio('cpu').toFixed(3)),
  });
}
console.log(`The collector received ${requests} requests.`);
record('tracing', rows);
for (const server of servers.values()) await server.end();
provider.close();
collector.close();
collector.closeAllConnections();
cleanUp();
