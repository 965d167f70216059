import type { AppConfig } from '../../../config/index.js';
import type { Database } from '../../../persistence/index.js';
import type { Cipher } from '../../../security/index.js';
import { ContextQueue } from '../context-queue.policy.js';
import { DatabaseStateStore } from '../stores/database-state-store.js';
import { StateChangeStore } from '../stores/state-change.store.js';
import { StateCodec } from '../stores/state-codec.mapper.js';
import type { StateStore } from '../stores/state-store.js';
import { JournalStateHome } from './journal-state-home.js';
import { ProjectedStateHome } from './projected-state-home.js';
import type { StateHome } from './state-home.js';

interface Means {
  readonly config: AppConfig;
  readonly database: Database;
  readonly cipher: Cipher;
}

/** Where the managers keep states that outlive the process, as configured; what it needs is loaded only now. */
export async function openDurableHome(name: 'persistent' | 'distributed', means: Means): Promise<StateHome> {
  const { config, database, cipher } = means;
  const { isCompressed, sync } = config.toolState;
  const queue = new ContextQueue();
  const store = await (name === 'persistent' ? openPersistent(means) : openShared(means));
  if (!store)
    return new JournalStateHome(
      name,
      new DatabaseStateStore(database, new StateCodec({ cipher, isCompressed })),
      queue,
    );
  return new ProjectedStateHome(name, store, queue, new StateChangeStore(database, cipher), sync.isOnChange);
}

/** `null` for the journal's database. */
async function openPersistent(_means: Means): Promise<StateStore | null> {
  return null;
}

async function openShared(_means: Means): Promise<StateStore | null> {
  return null;
}
