import type { DataSource } from 'typeorm';

/** All versions of TypeORM in a process share this global for the metadata of decorators. */
const SHARED_STORAGE = 'typeormMetadataArgsStorage';

/**
 * Initialises a data source without decorated entities. TypeORM creates an empty storage in a global, which another
 * version, such as a host's, would then use for its decorators, and fail. An empty storage is therefore removed: its
 * owner creates it again when needed.
 */
export async function initialiseDataSource(dataSource: DataSource): Promise<void> {
  try {
    await dataSource.initialize();
  } finally {
    const storage: unknown = Reflect.get(globalThis, SHARED_STORAGE);
    if (isEmpty(storage)) Reflect.deleteProperty(globalThis, SHARED_STORAGE);
  }
}

function isEmpty(storage: unknown): boolean {
  if (typeof storage !== 'object' || storage === null) return false;
  return Object.values(storage).every((list) => !Array.isArray(list) || list.length === 0);
}
