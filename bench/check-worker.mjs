// One process of check.mjs: an agent of one version in this process.      node bench/check-worker.mjs ROOT BASE_URL
import { on } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [root, baseURL] = process.argv.slice(2);
const WARM_MS = 1500;
const IN_FLIGHT = 32;

/** CPU time of this process in ms. */
function cpu() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Asks until the process has spent this CPU time. @returns CPU time of one run, in ms */
async function measure(ask, spentMs) {
  const from = cpu();
  let runs = 0;
  const work = async () => {
    while (cpu() - from < spentMs) {
      await ask();
      runs++;
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, work));
  return (cpu() - from) / runs;
}

// The parent process has ended.
process.once('disconnect', () => process.exit());
const { create } = await import(pathToFileURL(join(root, 'bench/peer.mjs')).href);
const peer = await create({ baseURL });
const questions = on(process, 'message');
process.send('ready');
for await (const [{ method, prompt, answer, spentMs }] of questions) {
  const ask = async () => {
    const text = await peer[method](prompt, () => undefined);
    if (text !== answer) throw new Error(`wrong answer: ${text}`);
  };
  await measure(ask, WARM_MS);
  process.send(await measure(ask, spentMs));
}
