// Creates an agent that cannot start: on the database of another process, or with a wrong policy. `caught` and `policy` print
// the message of the error; else Node reports it.
import { createAgent } from '../../dist/index.js';

const [, , dataDir, isCaught] = process.argv;
const securityPolicy = { allow: true };
const created = createAgent({
  env: { DATA_DIR: dataDir, LLM_PROVIDER: 'offline' },
  ...(isCaught === 'policy' && { securityPolicy }),
});
if (isCaught) await created.catch(({ message }) => process.stderr.write(`${message}\n`));
else await created;
