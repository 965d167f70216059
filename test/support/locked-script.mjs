// Fails on the database of another process (with `call` in a call), or with a wrong policy. `caught` and `policy` print the
// message of the error; else Node reports it.
import { createAgent } from '../../dist/index.js';

const [, , dataDir, mode] = process.argv;
const securityPolicy = { allow: true };
const created = createAgent({
  config: { DATA_DIR: dataDir, LLM_PROVIDER: 'offline' },
  requireStore: mode !== 'call',
  ...(mode === 'policy' && { securityPolicy }),
});
if (mode === 'call') await (await created).chat('x');
else if (mode) await created.catch(({ message }) => process.stderr.write(`${message}\n`));
else await created;
