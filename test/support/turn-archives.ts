import { Redis } from 'ioredis';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/index.js';
import type { Database } from '../../src/persistence/index.js';
import { FileTurnArchive } from '../../src/session/projection/file-turn-archive.js';
import { MemoryTurnArchive, openTurnArchive } from '../../src/session/projection/turn-archive.factory.js';
import { RedisTurnArchive } from '../../src/session/projection/redis-turn-archive.js';
import type { TurnArchive } from '../../src/session/projection/turn-archive.js';
import { testRedisUrl, testServers, type TestDatabase } from './test-databases.js';

/** A turn archive outside of the journal's database. */
export interface TurnPlace {
  readonly name: string;
  readonly answers: boolean;
  /** Whether several processes may use it at once. */
  readonly isShared: boolean;
  open(): Promise<TurnArchive>;
}

/** Prefix of this test run in Redis. */
export const REDIS_PREFIX = `test-${process.pid}-${Date.now()}:`;

/** Every kind of archive. @returns them, and a function that removes the created ones */
export async function turnPlaces(): Promise<{ places: readonly TurnPlace[]; clear: () => Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'jackdaw-turns-'));
  const redisUrl = await testRedisUrl();
  const created: TestDatabase[] = [];
  const servers = await testServers();
  const places: readonly TurnPlace[] = [
    { name: 'memory', answers: true, isShared: false, open: async () => new MemoryTurnArchive() },
    { name: 'files', answers: true, isShared: false, open: async () => new FileTurnArchive(folder) },
    {
      name: 'redis',
      answers: redisUrl !== null,
      isShared: true,
      open: async () => new RedisTurnArchive(new Redis(redisUrl!), REDIS_PREFIX, 60),
    },
    ...servers.map((server) => ({
      name: `another ${server.kind}`,
      answers: server.answers,
      isShared: true,
      open: async () => {
        const database = await server.create();
        created.push(database);
        const { config } = loadConfig({ env: { SESSION_STORE: database.url } });
        // Archives in files and in memory do not use the journal's database.
        return (await openTurnArchive(config.session, config.database, {} as Database))!;
      },
    })),
  ];
  const clear = async () => {
    rmSync(folder, { recursive: true });
    await Promise.all(created.map((one) => one.drop()));
  };
  return { places, clear };
}
