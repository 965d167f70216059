// A process that changes a tool's state endlessly, to be killed: PLACE is json, sqlite or postgres, WHERE its folder,
// file or URL. It prints "ready <n>" with the stored number, then "written <how many> <n>" after each acknowledged
// change.
import { loadConfig } from '../../dist/config/index.js';
import { openPersistence } from '../../dist/persistence/shared-persistence.registry.js';
import { KeyedQueue } from '../../dist/persistence/keyed-queue.js';
import { TOOL_STATE_MIGRATIONS } from '../../dist/tool-state/index.js';
import { DatabaseStateStore } from '../../dist/tool-state/backend/database-state-store.js';
import { FileStateStore } from '../../dist/tool-state/backend/file-state-store.js';
import { StateCodec } from '../../dist/tool-state/backend/state-codec.js';
import { openSqliteStateStore } from '../../dist/tool-state/backend/durable-backend.factory.js';
import { ContextClosings } from '../../dist/tool-state/context-closings.js';
import { StoredStateManager } from '../../dist/tool-state/stored-state-manager.js';

const { PLACE, WHERE } = process.env;

async function openPostgres() {
  const { config } = loadConfig({ env: { DATABASE_URL: WHERE } });
  const { database } = await openPersistence(config.database, {
    entities: [],
    migrations: TOOL_STATE_MIGRATIONS,
    isPart: true,
  });
  return new DatabaseStateStore(database, new StateCodec());
}

function open() {
  if (PLACE === 'json') return FileStateStore.open(WHERE);
  return PLACE === 'sqlite' ? openSqliteStateStore(loadConfig({ env: {} }).config.database, WHERE) : openPostgres();
}

/** Every fifth text is large, so that it takes several disk writes. */
const textOf = (n) => `${n};`.repeat(n % 5 === 0 ? 40_000 : 3);

const policy = {
  ttlMs: null,
  idleMs: null,
  maxStateBytes: 1_000_000,
  maxHistory: 7,
  maxVersions: 4,
  maxContextsPerSession: null,
  conflict: 'error',
};
const states = new StoredStateManager('test', await open(), policy, new KeyedQueue(), new ContextClosings());
const id = await states.createContext({ tenant: 't', session: 's', tool: 'writer' });
let n = Number((await states.getState(id, 'business'))?.data.n ?? 0);
process.stdout.write(`ready ${n}\n`);
for (let written = 1; ; written++) {
  n++;
  await states.edit(id, (draft) => {
    draft.put('business', { n, text: textOf(n) });
    draft.put('cache', { n });
    draft.note('execution_success', `call-${n}`, { n });
  });
  process.stdout.write(`written ${written} ${n}\n`);
}
