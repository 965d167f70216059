import { afterAll, beforeAll, describe, it } from 'vitest';
import { Redis } from 'ioredis';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/index.js';
import { KeyedQueue, type Database } from '../../src/persistence/index.js';
import { AesGcmCipher } from '../../src/security/encryption/aes-gcm-cipher.js';
import { DatabaseStateStore } from '../../src/tool-state/backend/database-state-store.js';
import { FileStateStore } from '../../src/tool-state/backend/file-state-store.js';
import { MemoryStateStore } from '../../src/tool-state/state-backend.registry.js';
import { StateCodec, type StateCodecOptions } from '../../src/tool-state/backend/state-codec.js';
import { openRedisStateStore, openSqliteStateStore } from '../../src/tool-state/backend/durable-backend.factory.js';
import type { StateStore } from '../../src/tool-state/backend/state-store.js';
import { StoredStateManager } from '../../src/tool-state/stored-state-manager.js';
import type { StatePolicy } from '../../src/tool-state/tool-state.types.js';
import { openDatabase } from './run-host.js';
import { testRedisUrl, testServers, type TestDatabase } from './test-databases.js';
import { ContextClosings } from '../../src/tool-state/context-closings.js';

export const POLICY: StatePolicy = {
  ttlMs: null,
  idleMs: null,
  maxStateBytes: 100_000,
  maxHistory: 5,
  maxVersions: 3,
  maxContextsPerSession: null,
  conflict: 'error',
};

/** A storage location of states. */
export interface StatePlace {
  /** A store as another process would open it, if the location can be shared; in memory it is the same store. */
  open(): Promise<StateStore>;
  /** The names of everything that is stored for a context id. */
  traces(id: string): Promise<string[]>;
  close(): Promise<void>;
}

interface StateKind {
  readonly name: string;
  readonly answers: boolean;
  readonly isShared: boolean;
  create(): Promise<StatePlace>;
}

/** Texts are compressed and encrypted. */
function guarded(): StateCodecOptions {
  const key = randomBytes(32).toString('base64');
  return { cipher: new AesGcmCipher([{ id: 'k', key }], true), isCompressed: true };
}

async function one(store: StateStore, traces: StatePlace['traces'], then = () => {}): Promise<StatePlace> {
  return {
    open: async () => store,
    traces,
    close: async () => {
      await store.close();
      then();
    },
  };
}

function newFolder(): { folder: string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'jackdaw-states-'));
  return { folder, remove: () => rmSync(folder, { recursive: true }) };
}

async function createMemory(): Promise<StatePlace> {
  const store = new MemoryStateStore();
  return one(store, async (id) => {
    const [context, versions, history] = await Promise.all([store.load(id), store.versions(id), store.history(id, 1)]);
    return [context, ...versions, ...history].filter(Boolean).map(() => id);
  });
}

async function createFiles(options: StateCodecOptions): Promise<StatePlace> {
  const { folder, remove } = newFolder();
  const store = await FileStateStore.open(folder, options);
  return one(store, async (id) => readdirSync(folder).filter((name) => name.includes(id)), remove);
}

async function createOwnSqlite(options: StateCodecOptions): Promise<StatePlace> {
  const { folder, remove } = newFolder();
  const file = join(folder, 'states.db');
  const store = await openSqliteStateStore(loadConfig({ env: {} }).config.database, file, options);
  const { database } = store as unknown as { database: Database };
  return one(store, (id) => tracesIn(database, id), remove);
}

const COLUMNS = Object.entries({ tool_state: 'id', tool_state_entry: 'context_id' }).concat([
  ['tool_state_version', 'context_id'],
  ['tool_state_history', 'context_id'],
]);

async function tracesIn(database: Database, id: string): Promise<string[]> {
  const found = COLUMNS.map(async ([table, column]) => {
    const rows = await database.query(`SELECT ${column} FROM ${table} WHERE ${column} = ?`, [id]);
    return rows.map(() => table);
  });
  return (await Promise.all(found)).flat();
}

async function createShared(created: TestDatabase): Promise<StatePlace> {
  // With a Redis, several processes may share a MariaDB.
  const env = { DATABASE_URL: created.url, ...(created.kind === 'mariadb' && { REDIS_URL: 'redis://127.0.0.1:1' }) };
  const opened = [await openDatabase(env)];
  return {
    open: async () => {
      if (created.kind !== 'sqlite') opened.push(await openDatabase(env));
      return new DatabaseStateStore(opened.at(-1)!.database, new StateCodec());
    },
    traces: (id) => tracesIn(opened[0]!.database, id),
    close: async () => {
      for (const connection of opened) await connection.close();
      await created.drop();
    },
  };
}

async function createRedis(url: string, options: StateCodecOptions): Promise<StatePlace> {
  const redis = new Redis(url);
  const prefix = `test-${process.pid}-${Date.now()}-${randomBytes(3).toString('hex')}`;
  const opened: StateStore[] = [];
  const keys = () => redis.keys(`${prefix}*`);
  return {
    open: async () => {
      opened.push(await openRedisStateStore({ url, prefix }, options));
      return opened.at(-1)!;
    },
    traces: async (id) => {
      const texts = await Promise.all((await keys()).map((key) => membersOf(redis, key)));
      return texts.flat().filter((text) => text.includes(id));
    },
    close: async () => {
      await Promise.all(opened.map((store) => store.close()));
      await redis.del(...(await keys()), 'none');
      await redis.quit();
    },
  };
}

/** A key, and the members of an index. */
async function membersOf(redis: Redis, key: string): Promise<string[]> {
  return (await redis.type(key)) === 'zset' ? [key, ...(await redis.zrange(key, 0, -1))] : [key];
}

/** Every storage location of states. */
export async function stateKinds(): Promise<readonly StateKind[]> {
  const redis = await testRedisUrl();
  const local = { answers: true, isShared: false };
  const remote = { answers: redis !== null, isShared: true };
  return [
    { ...local, name: 'memory', create: createMemory },
    { ...local, name: 'files', create: () => createFiles({}) },
    { ...local, name: 'compressed files', create: () => createFiles({ isCompressed: true }) },
    { ...local, name: 'files, compressed and sealed', create: () => createFiles(guarded()) },
    { ...local, name: 'a SQLite file of its own', create: () => createOwnSqlite({}) },
    { ...local, name: 'a SQLite file, compressed and sealed', create: () => createOwnSqlite(guarded()) },
    ...(await testServers()).map((server) => ({
      name: `the journal’s ${server.kind}`,
      answers: server.answers,
      isShared: server.kind !== 'sqlite',
      create: async () => createShared(await server.create()),
    })),
    { ...remote, name: 'redis', create: () => createRedis(redis!, {}) },
    { ...remote, name: 'redis, compressed and sealed', create: () => createRedis(redis!, guarded()) },
  ];
}

/** The manager of a process that uses the location alone, unless another manager is created. */
export function managerOf(store: StateStore, policy: Partial<StatePolicy> = {}): StoredStateManager {
  return new StoredStateManager('test', store, { ...POLICY, ...policy }, new KeyedQueue(), new ContextClosings());
}

/** Runs the same tests on each kind; a kind without a reachable server is skipped by name, and fails in CI. */
export function describeStates(
  title: string,
  kinds: readonly StateKind[],
  define: (place: () => StatePlace, kind: StateKind) => void,
): void {
  for (const kind of kinds) {
    const isLeftOut = !kind.answers && !process.env['CI'];
    (isLeftOut ? describe.skip : describe)(`${title} in ${kind.name}`, () => {
      if (!kind.answers) {
        it('has a server to be tested on', () => expectServer(kind));
        return;
      }
      let place: StatePlace;
      beforeAll(async () => {
        place = await kind.create();
      });
      afterAll(() => place.close());
      define(() => place, kind);
    });
  }
}

function expectServer({ name }: StateKind): void {
  throw new Error(`No ${name} answers: start it, or say where it is (TEST_POSTGRES_URL, TEST_REDIS_URL, …).`);
}
