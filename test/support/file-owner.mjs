// Owns the database of a folder until SIGTERM, or until it is killed. With `run` it has an unfinished run. Prints `ready`.
import { createAgent } from '../../dist/index.js';

const [, , dataDir, isRunning] = process.argv;
const called = Promise.withResolvers();
const chatModel = {
  name: 'mute',
  capabilities: {},
  generate: () => new Promise(() => called.resolve()),
  stream: () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => called.resolve()) }) }),
};
const agent = await createAgent({ config: { DATA_DIR: dataDir, LLM_PROVIDER: 'offline' }, chatModel });
if (isRunning === 'run') {
  void agent.chat('Wait.');
  await called.promise;
}
process.once('SIGTERM', () => void agent.close().then(() => process.exit(0)));
setInterval(() => undefined, 60_000);
process.stdout.write('ready\n');
