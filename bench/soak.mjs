// The live memory of a server during many chats over HTTP, 32 in flight, each in a new session: after each tenth of them the
// garbage is collected. Fails if the memory at the end exceeds that after the first tenth by more than 5 %.
//                                                                                   node bench/soak.mjs [--chats 200000]
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { cleanUp, launch, memoryOf, Provider, send } from './loaded-server.mjs';
import { record } from './results.mjs';

const { values } = parseArgs({ options: { chats: { type: 'string', default: '200000' } } });
const CHATS = Number(values.chats);
const PARTS = 10;
const IN_FLIGHT = 32;
const MOST_GROWTH = 1.05;
const REPORT = fileURLToPath(new URL('heap-report.mjs', import.meta.url));

async function chat(port, count) {
  let left = count;
  const client = async () => {
    while (left-- > 0) {
      const { status } = await send(port, { timeoutMs: 60_000 });
      if (status !== 200) throw new Error(`A chat was answered with ${status}.`);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, client));
}

/** Live JavaScript memory of the server, in MB. */
async function heapOf({ child, dataDir }) {
  const file = join(dataDir, 'heap');
  writeFileSync(file, '');
  child.kill('SIGUSR2');
  for (;;) {
    const [line] = readFileSync(file, 'utf8').split('\n');
    if (line !== '') return Number(line) / 1e6;
    await pause(50);
  }
}

const provider = await new Provider().start();
const command = ['taskset', '-c', '0', process.execPath, '--expose-gc', '--import', REPORT, 'lib/main.js'];
const server = await launch(command, provider, {});
const heaps = [];
for (let part = 1; part <= PARTS; part++) {
  await chat(server.port, Math.ceil(CHATS / PARTS));
  heaps.push(await heapOf(server));
  const rss = Math.round(memoryOf(server.child.pid, 'VmRSS'));
  console.log(`${(part * CHATS) / PARTS} chats: ${heaps.at(-1).toFixed(1)} MB of live memory, RSS ${rss} MB`);
}
server.child.kill('SIGTERM');
await once(server.child, 'exit');
provider.close();
cleanUp();
const [first, last] = [heaps[0], heaps.at(-1)];
const result = `${last.toFixed(1)} MB`;
const reference = `${first.toFixed(1)} MB, after a tenth of them`;
record('soak', [
  {
    name: `live memory after ${CHATS.toLocaleString('en')} chats over HTTP`,
    result,
    reference,
    ratio: last / first,
    ceiling: String(MOST_GROWTH),
  },
]);
if (last > first * MOST_GROWTH) throw new Error(`The live memory grew from ${first.toFixed(1)} to ${result}.`);
