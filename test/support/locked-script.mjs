// Creates an agent on the database of another process. `caught` prints the message of the error; else Node reports it.
import { createAgent } from '../../dist/index.js';

const [, , dataDir, isCaught] = process.argv;
const created = createAgent({ env: { DATA_DIR: dataDir, LLM_PROVIDER: 'offline' } });
if (isCaught === 'caught') await created.catch(({ message }) => process.stderr.write(`${message}\n`));
else await created;
