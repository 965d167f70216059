// The cost of setting and getting a tool's state in each backend, beside the bare driver with the same work: by turns,
// the median of the rounds; and the time of one when 32 are set and read together.
//       npm run bench, or node bench/tool-state.mjs [--ms 300] [--rounds 9] [--only sqlite,redis]
// [--postgres URL] [--mariadb URL] [--redis URL]; a server that does not answer is skipped.
import { parseArgs } from 'node:util';
import { onEach, onRedis, SERVERS } from './databases.mjs';
import { AT_ONCE, STATE_PLACES, timesOf } from './state-places.mjs';
import { record } from './results.mjs';

const { values } = parseArgs({
  options: {
    ms: { type: 'string', default: '300' },
    rounds: { type: 'string', default: '9' },
    only: { type: 'string' },
    redis: { type: 'string', default: 'redis://127.0.0.1:6379' },
    ...SERVERS,
  },
});
const isMeant = (name) => values.only?.split(',').includes(name) ?? true;
const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];

const rows = [];
async function show(name, url) {
  if (!isMeant(name)) return;
  const { turn, together, raw, close } = await STATE_PLACES[name](url);
  const turns = raw ? [turn, raw] : [turn];
  const rounds = [];
  await timesOf(turns, Number(values.ms));
  for (let round = 0; round < Number(values.rounds); round++) rounds.push(await timesOf(turns, Number(values.ms)));
  const atOnce = [];
  for (let round = 0; round < Number(values.rounds); round++)
    atOnce.push((await timesOf([together], Number(values.ms), 1))[0].wall / AT_ONCE);
  await close();
  const cells = turns.flatMap((_, at) => {
    const walls = rounds.map((round) => round[at].wall);
    const cpus = rounds.map((round) => round[at].cpu);
    return [median(walls), Math.min(...walls), median(cpus)].map((time) => time.toFixed(1));
  });
  const ratio = raw ? median(rounds.map(([one, bare]) => one.wall / bare.wall)).toFixed(2) : '';
  if (!raw) cells.push('', '', '');
  cells.push(ratio, median(atOnce).toFixed(1));
  console.log(name.padEnd(10) + cells.map((cell) => cell.padStart(9)).join(''));
  rows.push({
    name: `set and get, ${name}`,
    result: `${cells[0]} µs, ${cells.at(-1)} µs with ${AT_ONCE} at once`,
    ...(raw && { reference: `${cells[3]} µs, bare driver`, ratio: Number(ratio) }),
  });
}

console.log(`Node ${process.version}, µs for a set and a get of 200 bytes\n`);
console.log('               ours    least      CPU     bare    least      CPU    ratio  at once');
await show('memory');
await show('files');
await show('sqlite');
await onEach(values, async (kind, url) => kind !== 'sqlite' && show(kind, url));
await onRedis(values.redis, (url) => show('redis', url));
record('tool-state', rows);
