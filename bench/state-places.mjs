// Backends of tool states, each beside its bare driver with the same work: read a state, change it by compare-and-set,
// store it durably with its versions, and read it again.
import { mkdtempSync, rmSync } from 'node:fs';
import { open, readFile, rename } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import mysql from 'mysql2/promise';
import { Client } from 'pg';
import { loadConfig } from '../dist/config/index.js';
import { openPersistence } from '../dist/persistence/shared-persistence.registry.js';
import { KeyedQueue } from '../dist/persistence/keyed-queue.js';
import { TOOL_STATE_MIGRATIONS } from '../dist/tool-state/index.js';
import { DatabaseStateStore } from '../dist/tool-state/backend/database-state-store.js';
import { FileStateStore } from '../dist/tool-state/backend/file-state-store.js';
import { MemoryStateStore } from '../dist/tool-state/state-backend.registry.js';
import { StateCodec } from '../dist/tool-state/backend/state-codec.js';
import { openRedisStateStore, openSqliteStateStore } from '../dist/tool-state/backend/durable-backend.factory.js';
import { ContextClosings } from '../dist/tool-state/context-closings.js';
import { StoredStateManager } from '../dist/tool-state/stored-state-manager.js';

const VERSIONS = 10;
const POLICY = {
  ttlMs: null,
  idleMs: null,
  maxStateBytes: 1_048_576,
  maxHistory: 1000,
  maxVersions: VERSIONS,
  maxContextsPerSession: null,
  conflict: 'last_write_wins',
};
/** A state of about 200 bytes. */
const dataOf = (n) => ({
  n,
  items: ['bread', 'milk', 'apples', 'tea'],
  note: 'leave it at the door, please',
  at: 1764000000000,
  total: 12.5,
  who: { name: 'Ann', city: 'Oslo' },
});
const UPDATE = 'UPDATE tool_state SET revision = ?, used_at = ? WHERE id = ? AND revision = ?';
const INSERT =
  'INSERT INTO tool_state_version (context_id, version, tenant, data, made_by, created_at) VALUES (?, ?, ?, ?, NULL, ?)';
const FORGET = 'DELETE FROM tool_state_version WHERE context_id = ? AND version < ?';
const CHANGE = 'UPDATE tool_state_entry SET data = ?, version = ?, updated_at = ? WHERE context_id = ? AND type = ?';
const SELECT = `SELECT c.*, s.type, s.data, s.version FROM tool_state c LEFT JOIN tool_state_entry s ON s.context_id = c.id
  WHERE c.id = ?`;

/** Contexts whose states are set and read together. */
export const AT_ONCE = 32;

/** One set and one get of a manager, alone and in `AT_ONCE` contexts together. */
async function ours(store) {
  const states = new StoredStateManager('bench', store, POLICY, new KeyedQueue(), new ContextClosings());
  const begin = (tool) => states.createContext({ tenant: 't', session: 's', tool });
  const [id, other] = [await begin('ours'), await begin('bare')];
  let n = 0;
  const turnOf = async (context) => {
    await states.setState(context, 'business', dataOf(n++));
    return (await states.getState(context, 'business')).data;
  };
  const turn = () => turnOf(id);
  const contexts = [];
  for (let at = 0; at < AT_ONCE; at++)
    contexts.push(await states.createContext({ tenant: 't', session: `s${at}`, tool: 'ours' }));
  const together = () => Promise.all(contexts.map(turnOf));
  // Both have their final number of versions.
  for (let at = 0; at < VERSIONS + 2; at++) {
    await turn();
    await together();
    await states.setState(other, 'business', dataOf(at));
  }
  return { turn, together, id, other, close: () => store.close() };
}

/** The same with a driver: `read` returns the context's row, `write` gets its changes, in order. */
function bare(id, { read, write }) {
  let n = 0;
  return async () => {
    const { revision, version } = await read(id);
    const [next, now, data] = [version + 1, Date.now(), JSON.stringify(dataOf(n++))];
    await write([
      [UPDATE, [revision + 1, now, id, revision]],
      [CHANGE, [data, next, now, id, 'business']],
      [INSERT, [id, next, 't', data, now]],
      [FORGET, [id, next - VERSIONS + 1]],
    ]);
    return JSON.parse((await read(id)).data);
  };
}

async function createMemory() {
  return ours(new MemoryStateStore());
}

async function createFiles() {
  const folder = mkdtempSync(join(tmpdir(), 'jackdaw-bench-'));
  const { turn, together, id, other, close } = await ours(await FileStateStore.open(folder));
  const path = join(folder, `${other}.json`);
  const directory = await open(folder, 'r');
  let n = 0;
  const raw = async () => {
    const file = JSON.parse(await readFile(path, 'utf8'));
    const version = ++file.states.business.version;
    file.context.revision++;
    file.states.business.data = dataOf(n++);
    file.versions.push({ version, at: Date.now(), by: null, data: file.states.business.data });
    file.versions.shift();
    const handle = await open(`${path}.new`, 'wx', 0o600);
    await handle.writeFile(JSON.stringify(file));
    await handle.sync();
    await handle.close();
    await rename(`${path}.new`, path);
    await directory.sync();
    return JSON.parse(await readFile(path, 'utf8')).states.business.data;
  };
  const end = async () => {
    await Promise.all([close(), directory.close()]);
    rmSync(folder, { recursive: true });
  };
  return { turn, together, raw, id, close: end };
}

/** Two files: a second connection to one file would wait for the first. */
async function createSqlite() {
  const folder = mkdtempSync(join(tmpdir(), 'jackdaw-bench-'));
  const { config } = loadConfig({ env: {} });
  const [store, second] = await Promise.all(
    ['a', 'b'].map((name) => openSqliteStateStore(config.database, join(folder, name))),
  );
  const [{ turn, together, close }, { other, close: closeSecond }] = [await ours(store), await ours(second)];
  await closeSecond();
  const Sqlite = createRequire(import.meta.url)('better-sqlite3-v13');
  const handle = new Sqlite(join(folder, 'b'));
  for (const pragma of ['journal_mode = WAL', 'synchronous = FULL']) handle.pragma(pragma);
  const prepared = new Map([BEGIN, COMMIT, UPDATE, CHANGE, INSERT, FORGET].map((sql) => [sql, handle.prepare(sql)]));
  // Otherwise SQLite would plan it again for each id, unlike our query.
  prepared.set(SELECT, handle.prepare(SELECT.replace('?', '(SELECT ?)')));
  const raw = bare(other, {
    read: async (id) => prepared.get(SELECT).get(id),
    write: async (statements) => {
      prepared.get(BEGIN).run();
      for (const [sql, params] of statements) prepared.get(sql).run(...params);
      prepared.get(COMMIT).run();
    },
  });
  const end = async () => {
    await close();
    handle.close();
    rmSync(folder, { recursive: true });
  };
  return { turn, together, raw, close: end };
}
const BEGIN = 'BEGIN IMMEDIATE';
const COMMIT = 'COMMIT';

async function openStore(url) {
  const { config } = loadConfig({ env: { DATABASE_URL: url, REDIS_URL: 'redis://127.0.0.1:1' } });
  const opened = await openPersistence(config.database, {
    entities: [],
    migrations: TOOL_STATE_MIGRATIONS,
  });
  return new DatabaseStateStore(opened.database, new StateCodec(), () => opened.close());
}

async function createPostgres(url) {
  const { turn, together, other, close } = await ours(await openStore(url));
  const client = new Client(url);
  await client.connect();
  const names = new Map();
  const prepared = (sql, values) => {
    if (!names.has(sql)) {
      let n = 0;
      names.set(sql, { name: `bench_${names.size}`, text: sql.replaceAll('?', () => `$${++n}`) });
    }
    return { ...names.get(sql), values };
  };
  const raw = bare(other, {
    read: async (id) => (await client.query(prepared(SELECT, [id]))).rows[0],
    write: async (statements) => {
      await client.query('BEGIN');
      for (const [sql, params] of statements) await client.query(prepared(sql, params));
      await client.query('COMMIT');
    },
  });
  return { turn, together, raw, close: () => Promise.all([close(), client.end()]) };
}

async function createMariadb(url) {
  const { turn, together, other, close } = await ours(await openStore(url));
  const connection = await mysql.createConnection(url.replace('mariadb:', 'mysql:'));
  const raw = bare(other, {
    read: async (id) => (await connection.query(SELECT, [id]))[0][0],
    write: async (statements) => {
      await connection.query('BEGIN');
      for (const [sql, params] of statements) await connection.query(sql, params);
      await connection.query('COMMIT');
    },
  });
  return { turn, together, raw, close: () => Promise.all([close(), connection.end()]) };
}

/** A compare-and-set as a script, since no single Redis command does it. */
const SCRIPT = `if redis.call('HGET', KEYS[1], 'revision') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'revision', ARGV[1] + 1, 'data', ARGV[2], 'version', ARGV[3])
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', ARGV[3] - ${VERSIONS})
return 1`;

async function createRedis(url) {
  const prefix = `jackdaw_bench_${process.pid}`;
  const { turn, together, close } = await ours(await openRedisStateStore({ url, prefix }));
  const redis = new Redis(url);
  const key = `${prefix}:bare`;
  redis.defineCommand('change', { numberOfKeys: 2, lua: SCRIPT });
  await redis.hset(key, 'revision', 1, 'version', 0);
  let n = 0;
  const raw = async () => {
    const { revision, version } = await redis.hgetall(key);
    await redis.change(key, `${key}:versions`, revision, JSON.stringify(dataOf(n++)), Number(version) + 1);
    return JSON.parse((await redis.hgetall(key)).data);
  };
  const end = async () => {
    await close();
    await redis.del(...(await redis.keys(`${prefix}*`)));
    await redis.quit();
  };
  return { turn, together, raw, close: end };
}

export const STATE_PLACES = {
  memory: createMemory,
  files: createFiles,
  sqlite: createSqlite,
  postgres: createPostgres,
  mariadb: createMariadb,
  redis: createRedis,
};

/** Operations of one contender before the next one is measured, so other load affects all alike. */
const IN_TURN = 10;
const IN_TURN_ALONE = 1000;

/** Times of one set and get of each in µs, wall and CPU, by turns for about `windowMs` each. */
export async function timesOf(turns, windowMs, inTurn = turns.length > 1 ? IN_TURN : IN_TURN_ALONE) {
  const spent = turns.map(() => ({ wall: 0, cpu: 0 }));
  let count = 0;
  for (const end = performance.now() + windowMs * turns.length; performance.now() < end; count += inTurn) {
    for (const [at, turn] of turns.entries()) {
      const [from, cpu] = [performance.now(), process.cpuUsage()];
      for (let n = 0; n < inTurn; n++) await turn();
      const { user, system } = process.cpuUsage(cpu);
      spent[at].wall += 1000 * (performance.now() - from);
      spent[at].cpu += user + system;
    }
  }
  return spent.map(({ wall, cpu }) => ({ wall: wall / count, cpu: cpu / count }));
}
