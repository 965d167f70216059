import { afterEach, expect, it } from 'vitest';
import { setImmediate } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { insert } from '../src/persistence/statement/index.js';
import { SessionStore } from '../src/session/session-store.js';
import { ownerOf, TurnOutbox } from '../src/session/projection/projected-turn-store.js';
import { openDatabase, type OpenDatabase } from './support/run-host.js';
import { describeDatabases, testServers } from './support/test-databases.js';
import { PLAIN_CIPHER } from '../src/security/encryption/index.js';
import { BY_PRINCIPAL } from './support/run-parts.js';

const MIGRATION = 'CountTurnChanges1764000000017';
const opened: OpenDatabase[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});

/** Reverts the migration, and those after it. */
async function undo(dataSource: DataSource): Promise<void> {
  const isDone = async () => {
    const done = await dataSource.query<{ name: string }[]>('SELECT name FROM jackdaw_migration');
    return done.some(({ name }) => name === MIGRATION);
  };
  while (await isDone()) await dataSource.undoLastMigration();
}

describeDatabases('pending changes of turns', await testServers(), (database, kind) => {
  const KEY = { tenant: 't', id: 's' };
  const OTHER = { tenant: 't', id: 'other' };
  const old = ({ tenant, id }: typeof KEY, at: number, name: string, through: number) =>
    insert('session_change', {
      tenant,
      session_id: id,
      id: name,
      change_data: JSON.stringify({ kind: 'remove', through }),
      created_at: at,
    });

  const open = async () => {
    const one = await openDatabase({ DATABASE_URL: database().url, REDIS_URL: 'redis://127.0.0.1:1' });
    opened.push(one);
    return { ...one, changes: new TurnOutbox(one.database) };
  };

  if (kind !== 'sqlite') {
    it('are numbered in commit order: a reader of one change sees all before it', async () => {
      const { database: journal, changes } = await open();
      const key = { tenant: 't', id: 'busy' };
      const sessions = new SessionStore(journal, PLAIN_CIPHER, BY_PRINCIPAL);
      await journal.commit([sessions.create(key, { owner: 'o', now: 1 })]);
      const change = (through: number) => [sessions.stillThere(key, 0), changes.add(key, { kind: 'remove', through })];
      const slow = { sql: kind === 'postgres' ? 'SELECT pg_sleep(1)' : 'DO SLEEP(1)', params: [] };
      const first = journal.commit([...change(1), slow]);
      while ((await database().sleeping()) === 0) await setImmediate();
      await journal.commit(change(2));
      expect((await changes.pending(ownerOf(key))).map((one) => one.change)).toMatchObject([
        { through: 1 },
        { through: 2 },
      ]);
      await first;
    });
  }

  it('are migrated in their order, and counted on from there', async () => {
    const { dataSource, database: journal, changes } = await open();
    const waiting = async (key = KEY) =>
      (await changes.pending(ownerOf(key))).map(({ change }) => ('through' in change ? change.through : 0));
    const began = Date.now();

    await undo(dataSource);
    await journal.commit([
      old(KEY, 30, 'a', 4),
      old(KEY, 20, 'c', 3),
      old(OTHER, 25, 'z', 9),
      old(KEY, 20, 'b', 2),
      old(KEY, 10, 'd', 1),
    ]);
    await dataSource.runMigrations();
    await journal.commit([changes.add(KEY, { kind: 'remove', through: 5 })]);
    expect([await waiting(), await waiting(OTHER)]).toEqual([[1, 2, 3, 4, 5], [9]]);

    const all = await changes.pending(ownerOf(KEY));
    expect(all.every(({ seq }) => Number.isSafeInteger(seq) && seq >= began * 1000)).toBe(true);
    await changes.done(all.map(({ seq }) => seq));
    await journal.commit([changes.add(KEY, { kind: 'remove', through: 6 })]);
    const [next] = await changes.pending(ownerOf(KEY));
    expect(next!.seq).toBeGreaterThan(all.at(-1)!.seq);

    await undo(dataSource);
    await dataSource.runMigrations();
    expect([await waiting(), await waiting(OTHER)]).toEqual([[6], [9]]);
  });

  if (kind === 'mariadb') {
    it('are migrated once, also after a crash in between', async () => {
      const { dataSource, database: journal, changes } = await open();
      const key = { tenant: 't', id: 'half' };
      await undo(dataSource);
      await journal.commit([old(key, 10, 'a', 1), old(key, 20, 'b', 2)]);
      await dataSource.query('CREATE TABLE retained AS SELECT * FROM session_change');
      await dataSource.runMigrations();
      await dataSource.query('RENAME TABLE retained TO session_change');
      await dataSource.query('DELETE FROM jackdaw_migration WHERE name = ?', [MIGRATION]);
      await dataSource.runMigrations();
      expect((await changes.pending(ownerOf(key))).map(({ change }) => change)).toMatchObject([
        { through: 1 },
        { through: 2 },
      ]);
    });
  }
});
