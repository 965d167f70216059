import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { AppConfig } from '../../../config/index.js';
import type { Database } from '../../../persistence/index.js';
import type { Cipher } from '../../../security/index.js';
import { ContextQueue } from '../context-queue.policy.js';
import { DatabaseStateStore } from '../stores/database-state-store.js';
import { openRedisStateStore, openSqliteStateStore } from '../stores/state-store.factory.js';
import { StateChangeStore } from '../stores/state-change.store.js';
import { StateCodec } from '../stores/state-codec.mapper.js';
import type { StateStore } from '../stores/state-store.js';
import { JournalStateBackend } from './journal-state-backend.js';
import { ProjectedStateBackend } from './projected-state-backend.js';
import type { StateBackend } from './state-backend.js';

interface Means {
  readonly config: AppConfig;
  readonly database: Database;
  readonly cipher: Cipher;
}

/** Opens the configured backend of a durable manager; loads its driver on demand. */
export async function openDurableBackend(name: 'persistent' | 'distributed', means: Means): Promise<StateBackend> {
  const { config, database, cipher } = means;
  const { isCompressed, sync } = config.toolState;
  const queue = new ContextQueue();
  const store = await (name === 'persistent' ? openPersistent(means) : openShared(means));
  if (!store)
    return new JournalStateBackend(
      name,
      new DatabaseStateStore(database, new StateCodec({ cipher, isCompressed })),
      queue,
    );
  return new ProjectedStateBackend(name, store, queue, new StateChangeStore(database, cipher), sync.isOnChange);
}

/** `null` for the journal's database. */
async function openPersistent({ config, cipher }: Means): Promise<StateStore | null> {
  const { format, path, isCompressed } = config.toolState;
  if (path === null) return null;
  if (format === 'json') {
    const { FileStateStore } = await import('../stores/file-state-store.js');
    return FileStateStore.open(path, { cipher, isCompressed });
  }
  await mkdir(path, { recursive: true, mode: 0o700 });
  return openSqliteStateStore(config, join(path, 'tool-states.sqlite'), { cipher, isCompressed });
}

async function openShared({ config, cipher }: Means): Promise<StateStore | null> {
  const { redis, isCompressed } = config.toolState;
  const { url, ...place } = redis;
  return url === undefined ? null : openRedisStateStore({ url, ...place }, { cipher, isCompressed });
}
