import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import type { Principal } from '../src/kernel/index.js';
import { refusalOf } from '../src/persistence/index.js';
import { RunListStore } from '../src/run/query/index.js';
import { RunUsageStore } from '../src/run/usage/index.js';
import { insertUsage } from '../src/run/run-outbox.js';
import { Ownership } from '../src/security/index.js';
import { PLAIN_CIPHER } from '../src/security/encryption/index.js';
import type { SessionService } from '../src/session/index.js';
import { SessionStore } from '../src/session/session-store.js';
import { aRun, openDatabase, RunHost, type OpenDatabase } from './support/run-host.js';
import { sessionsOn } from './support/session-host.js';
import { describeDatabases, testServers } from './support/test-databases.js';
import { BY_PRINCIPAL } from './support/run-parts.js';

Logger.overrideLogger(false);
const ANN: Principal = { id: 'ann', tenant: 'a', roles: ['user'] };
const AMY: Principal = { id: 'amy', tenant: 'a', roles: ['user'] };
const ROOT: Principal = { id: 'root', tenant: 'a', roles: ['admin'] };
const EVE: Principal = { id: 'ann', tenant: 'e', roles: ['admin'] };
const OWN_RUNS = 'OwnRuns1764000000018';
const TABLES = ['run', 'run_definition', 'run_event', 'run_usage', 'session'];
const NOON = Date.UTC(2027, 0, 15, 12);

describeDatabases('owned rows', await testServers(), (created) => {
  let opened: OpenDatabase;
  let host: RunHost;
  let sessions: SessionService;
  beforeAll(async () => {
    opened = await openDatabase({ DATABASE_URL: created().url });
    host = new RunHost(opened.database);
    ({ sessions } = sessionsOn(opened.database));
  });
  beforeEach(() => opened.database.commit(TABLES.map((table) => ({ sql: `DELETE FROM ${table}`, params: [] }))));
  afterAll(() => opened.close());

  const create = (id: string, principal: Principal) =>
    host.journal.create(aRun(id, null, { principal }), 'queued', NOON);
  const begin = (id: string, who: Principal) => opened.database.commit([sessions.beginStatement(who, id)]);
  const addUsage = (id: string, principal: Principal) =>
    opened.database.commit([
      insertUsage(
        { id, tenant: principal.tenant, principal, sessionId: id, lineage: null, agent: 'a' },
        { type: 'usage', iteration: 1, model: 'm', prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
        1,
        NOON,
      ),
    ]);

  it('are visible to their owner and to those who see all of the tenant', async () => {
    for (const who of [ANN, AMY, EVE]) {
      await create(`${who.tenant}-${who.id}`, who);
      await begin(`${who.tenant}-${who.id}`, who);
      await addUsage(`${who.tenant}-${who.id}`, who);
    }
    const [list, store, usages] = [
      new RunListStore(opened.database, PLAIN_CIPHER, BY_PRINCIPAL),
      new SessionStore(opened.database, PLAIN_CIPHER, BY_PRINCIPAL),
      new RunUsageStore(opened.database, BY_PRINCIPAL),
    ];
    const seen = async (who: Principal) => {
      const { runs } = await list.list(who, {}, 10);
      const { entries } = await usages.page({ principal: who }, 'session', 10);
      return [
        runs.map(({ id }) => id),
        (await store.list(who, 10)).map(({ id }) => id),
        entries.map(({ key }) => key),
      ].map((ids) => ids.toSorted().join(' '));
    };
    for (const [who, ids] of [
      [ANN, 'a-ann'],
      [AMY, 'a-amy'],
      [ROOT, 'a-amy a-ann'],
      [EVE, 'e-ann'],
    ] as const) {
      expect([who, await seen(who)]).toEqual([who, [ids, ids, ids]]);
    }
    expect(await host.journal.findOf(AMY, 'a-ann')).toBeNull();
    expect(await store.find(AMY, 'a-ann')).toBeNull();
    const all = new SessionStore(opened.database, PLAIN_CIPHER, new Ownership('tenant'));
    expect((await all.list(AMY, 10)).map(({ id }) => id)).toHaveLength(2);
  });

  it('of sub-sessions belong to the owner of the parent session, and never to another', async () => {
    await begin('parent', ANN);
    const start = async (id: string) => opened.database.commit(await sessions.subSessionStatements(ROOT, id, 'parent'));
    await start('sub');
    await start('sub');
    expect(await sessions.get(ANN, 'sub')).toMatchObject({ owner: 'ann', parentId: 'parent' });
    await begin('taken', AMY);
    expect(refusalOf(await start('taken').catch((thrown: unknown) => thrown))).toBe('rows');
    expect(await sessions.get(AMY, 'taken')).toMatchObject({ owner: 'amy', parentId: null });
  });

  it('of sessions are not joined by other users', async () => {
    await begin('anns', ANN);
    for (const who of [ANN, ROOT]) {
      const { check, statements } = sessions.joining(who, 'anns');
      await check();
      await opened.database.commit(statements);
    }
    const { check, statements } = sessions.joining(AMY, 'anns');
    await expect(check()).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    expect(refusalOf(await opened.database.commit(statements).catch((thrown: unknown) => thrown))).toBe('rows');
  });
});

describeDatabases('runs of a version without owners', await testServers(), (created) => {
  let opened: OpenDatabase;
  afterEach(() => opened.close());

  it('get the owner that their principal names, unless it is encrypted', async () => {
    opened = await openDatabase({ DATABASE_URL: created().url });
    const host = new RunHost(opened.database);
    for (const [id, principal] of [
      ['anns', ANN],
      ['amys', { ...AMY, id: 'amy "the \u00e9" \\' }],
      ['sealed', ANN],
    ] as const) {
      await host.journal.create(aRun(id, null, { principal }), 'queued', NOON);
      await opened.database.commit([
        insertUsage(
          { id, tenant: 'a', principal, sessionId: null, lineage: null, agent: 'a' },
          { type: 'usage', iteration: 1, model: 'm', prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
          1,
          NOON,
        ),
      ]);
    }
    await opened.database.commit([{ sql: "UPDATE run SET principal = 'jdv1.k.x' WHERE id = 'sealed'", params: [] }]);
    await undo(opened.dataSource, OWN_RUNS);
    await opened.dataSource.runMigrations();
    for (const table of ['run', 'run_usage']) {
      const id = table === 'run' ? 'id' : 'run_id';
      const rows = await opened.database.query(`SELECT ${id} AS id, principal_id FROM ${table} ORDER BY ${id}`);
      expect(rows).toEqual([
        { id: 'amys', principal_id: 'amy "the \u00e9" \\' },
        { id: 'anns', principal_id: 'ann' },
        { id: 'sealed', principal_id: null },
      ]);
    }
  });
});

/** Reverts a migration, and those after it. */
async function undo(dataSource: DataSource, migration: string): Promise<void> {
  const isDone = async () => {
    const done = await dataSource.query<{ name: string }[]>('SELECT name FROM jackdaw_migration');
    return done.some(({ name }) => name === migration);
  };
  while (await isDone()) await dataSource.undoLastMigration();
}
