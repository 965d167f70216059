// A model of queues with the measured cost of a run (bench/workers.mjs): throughput of 1, 2 and 4 processes on this machine beside
// the measurement, and the processes that a load needs.
//        node bench/queueing.mjs [--rate 1000]                          figures from results.json
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { readResults, record } from './results.mjs';

const { values } = parseArgs({ options: { rate: { type: 'string', default: '1000' } } });
const IN_FLIGHT = 32;
/** Highest planned share of a core that is busy. */
const TARGET = 0.7;

/** @returns the figures of a row of `workers`: CPU of the processes, of the database and of the clients, and the throughput */
function measured(workers) {
  const row = readResults().workers.rows.find(({ name }) => name.includes(`WORKERS=${workers},`));
  const [node, database, clients, perSecond] =
    /([\d.]+) ms of CPU, ([\d.]+) ms of the database, ([\d.]+) ms of the clients, (\d+)\/s/
      .exec(row.result)
      .slice(1)
      .map(Number);
  return { node, database, clients, perSecond };
}

/**
 * Throughput of a closed system: `IN_FLIGHT` clients without pauses, event loops that execute one thing at a time, and cores that all
 * processes share. The lower of two limits; the wait follows from Little's law.
 */
function closed(workers, { node, database, clients }, cores) {
  const perSecond = Math.min((1000 * workers) / node, (1000 * cores) / (node + database + clients));
  return { perSecond, ms: (1000 * IN_FLIGHT) / perSecond };
}

/** Erlang C: the probability that an arrival waits, with `servers` and the offered load in Erlang. */
export function waits(servers, load) {
  if (load >= servers) return 1;
  // The inverse of Erlang B, recursively, which does not overflow.
  let inverse = 1;
  for (let n = 1; n <= servers; n++) inverse = 1 + (inverse * n) / load;
  const blocked = 1 / inverse;
  const busy = load / servers;
  return blocked / (1 - busy + busy * blocked);
}

/** The least number of servers of which at most `TARGET` is busy, the probability to wait, and the mean wait in ms. */
function open(perSecond, serviceMs) {
  const load = (perSecond * serviceMs) / 1000;
  const servers = Math.ceil(load / TARGET);
  const probability = waits(servers, load);
  return { servers, probability, waitMs: (probability * serviceMs) / (servers - load) };
}

const one = measured(1);
const rows = [];
for (const workers of [1, 2, 4]) {
  const real = measured(workers);
  const model = closed(workers, real, availableParallelism());
  const ratio = real.perSecond / model.perSecond;
  rows.push({
    name: `WORKERS=${workers}, ${IN_FLIGHT} in flight, the model`,
    result: `${Math.round(real.perSecond)}/s`,
    reference: `${Math.round(model.perSecond)}/s, ${Math.round(model.ms)} ms, by the model`,
    ratio,
  });
  console.log(rows.at(-1).name, rows.at(-1).result, rows.at(-1).reference, ratio.toFixed(2));
}
for (const perSecond of [Number(values.rate), 40, 100, 300]) {
  const [node, database] = [open(perSecond, one.node), open(perSecond, one.database)];
  console.log(
    `${perSecond}/s: ${node.servers} processes (${(100 * node.probability).toFixed(0)} % of requests wait, ${node.waitMs.toFixed(2)} ms on average), ${database.servers} cores of the database`,
  );
}
record('queueing', rows);
