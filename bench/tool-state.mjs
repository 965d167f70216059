// What it costs to set and get a tool's state where it can be kept, beside what the bare driver takes for the same: by turns,
// the median of the rounds.       npm run build && node bench/tool-state.mjs [--ms 300] [--rounds 9] [--only sqlite,redis]
import { parseArgs } from 'node:util';
import { onEach, SERVERS } from './databases.mjs';
import { STATE_PLACES, timeOf } from './state-places.mjs';

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

async function show(name, url) {
  if (!isMeant(name)) return;
  const { turn, raw, close } = await STATE_PLACES[name](url);
  const [ours, bare] = [[], []];
  await timeOf(turn, Number(values.ms));
  for (let round = 0; round < Number(values.rounds); round++) {
    ours.push(await timeOf(turn, Number(values.ms)));
    if (raw) bare.push(await timeOf(raw, Number(values.ms)));
  }
  await close();
  const ratio = raw && median(ours.map((time, at) => time / bare[at]));
  const columns = [median(ours), Math.min(...ours), ...(raw ? [median(bare), Math.min(...bare), ratio] : [])];
  console.log(name.padEnd(10) + columns.map((column, at) => column.toFixed(at === 4 ? 2 : 1).padStart(10)).join(''));
}

console.log(`Node ${process.version}, µs for a set and a get of 200 bytes\n`);
console.log('                  ours     least      bare     least     ratio');
await show('memory');
await show('files');
await show('sqlite');
await onEach(values, async (kind, url) => kind !== 'sqlite' && show(kind, url));
await show('redis', values.redis);
