import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { loadConfig } from '../src/config/index.js';
import { createAgent } from '../src/index.js';
import { Database } from '../src/persistence/index.js';
import type { Statement } from '../src/persistence/statement/index.js';
import { AccessLogService } from '../src/security/access-log/index.js';
import { AccessLogRetentionService } from '../src/security/access-log/access-log-retention.service.js';
import { AccessLogStore } from '../src/security/access-log/access-log.store.js';
import type { AccessEntry } from '../src/security/access-log/access-log.types.js';
import { DistantDatabase } from './support/distant-database.js';
import { FakeLlm } from './support/fake-llm.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { ALICE, openDatabase, type OpenDatabase } from './support/run-host.js';
import { describeDatabases, testServers } from './support/test-databases.js';

Logger.overrideLogger(false);
const DAY_MS = 86_400_000;
const NOW = 1_764_000_000_123;
const { config } = loadConfig({ env: { ACCESS_LOG: 'on', ACCESS_LOG_RETENTION_DAYS: '30' } });

function entry(n: number, more: Partial<AccessEntry> = {}): AccessEntry {
  const id = `id-${String(n).padStart(6, '0')}`;
  return { id, tenant: 't', at: NOW, principal: 'ann', action: 'read', targetKind: 'run', targetId: 'r', ...more };
}

describeDatabases('the access log', await testServers(), (created) => {
  let opened: OpenDatabase;
  let store: AccessLogStore;
  beforeAll(async () => {
    opened = await openDatabase({ DATABASE_URL: created().url });
    store = new AccessLogStore(opened.database);
  });
  afterAll(() => opened.close());

  it("lists a tenant's entries in pages, the newest first", async () => {
    const tenant = 'paged';
    // Several entries have the same time.
    const entries = Array.from({ length: 25 }, (_, n) => entry(n, { tenant, at: NOW + Math.floor(n / 4) }));
    await store.add([...entries, entry(100, { tenant: 'other' })]);
    const newest = entries.toReversed().toSorted((a, b) => b.at - a.at);
    const listed: AccessEntry[] = [];
    for (let page = await store.list([tenant], {}, 7); page.length > 0;) {
      listed.push(...page);
      page = await store.list([tenant], {}, 7, page.at(-1));
    }
    expect(listed).toEqual(newest);
  });

  it('finds entries by principal, target and time', async () => {
    const tenant = 'found';
    await store.add([
      entry(200, { tenant }),
      entry(201, { tenant, principal: 'bob', action: 'erase', targetKind: 'session', targetId: 's' }),
      entry(202, { tenant, at: NOW + 5, targetKind: 'run.journal' }),
    ]);
    const ids = async (filter: Parameters<AccessLogStore['list']>[1]) =>
      (await store.list([tenant], filter, 9)).map(({ id }) => id.slice(-3));
    expect(await ids({ principal: 'bob' })).toEqual(['201']);
    expect(await ids({ targetKind: 'run' })).toEqual(['200']);
    expect(await ids({ targetKind: 'session', targetId: 's' })).toEqual(['201']);
    expect(await ids({ from: NOW + 1 })).toEqual(['202']);
    expect(await ids({ to: NOW + 1, targetId: 'r' })).toEqual(['200']);
  });

  it('deletes only old entries, in small batches', async () => {
    const tenant = 'aging';
    const retained = entry(3000, { tenant, at: NOW - 30 * DAY_MS });
    await store.add([
      retained,
      ...Array.from({ length: 1100 }, (_, n) => entry(4000 + n, { tenant, at: NOW - 31 * DAY_MS })),
    ]);
    const retention = new AccessLogRetentionService(store, config.security);
    expect(await store.dropBefore(NOW - 30 * DAY_MS, 100)).toBe(true);
    expect(await store.list([tenant], {}, 2000)).toHaveLength(1001);
    await retention.sweep(NOW);
    expect(await store.list([tenant], {}, 2000)).toEqual([retained]);
  });

  it('is written in batches, each entry once, with any name of a principal', async () => {
    const log = new AccessLogService(store, config.security);
    const names = ['ann\0', 'bob\ud800', '🐦', 'x'.repeat(500)];
    for (let n = 0; n < 450; n++) log.record({ id: names[n % 4]!, tenant: 'busy', roles: [] }, 'read', 'run', `r${n}`);
    await log.onApplicationShutdown();
    const listed = await store.list(['busy'], {}, 1000);
    expect(new Set(listed.map(({ targetId }) => targetId)).size).toBe(450);
    expect(new Set(listed.map(({ principal }) => principal))).toEqual(
      new Set(['ann\ufffd', 'bob\ufffd', '🐦', 'x'.repeat(128)]),
    );
  });
});

describe('the access log during a database failure', () => {
  it('loses no entry and stores no duplicate', async () => {
    const opened = await openDatabase();
    /** For each commit: whether it fails before or after its execution. */
    const faults = ['before', 'after', 'before'];
    class FaultyDatabase extends DistantDatabase {
      override async commit(batch: readonly Statement[]): Promise<void> {
        const fault = faults.shift();
        if (fault !== 'before') await super.commit(batch);
        if (fault) throw new Error('the connection broke');
      }
    }
    const log = new AccessLogService(new AccessLogStore(new FaultyDatabase(opened.database)), config.security);
    for (let n = 0; n < 250; n++) log.record(ALICE, 'read', 'run', `r${n}`);
    while (faults.length > 0) await log.writeAll();
    await log.onApplicationShutdown();
    const rows = await opened.database.query<{ target_id: string }>('SELECT target_id FROM access_log ORDER BY id');
    expect(rows.map(({ target_id }) => target_id).toSorted()).toEqual(
      Array.from({ length: 250 }, (_, n) => `r${n}`).toSorted(),
    );
    await opened.close();
  });
});

/** Records a read during the shutdown of the application. */
@Injectable()
class LateReader implements OnApplicationShutdown {
  constructor(private readonly log: AccessLogService) {}

  onApplicationShutdown(): void {
    this.log.record({ id: 'late', tenant: 'a', roles: [] }, 'read', 'run', 'last');
  }
}

describe('the access log of a server', () => {
  const hash = (key: string) => createHash('sha256').update(key).digest('hex');
  const keys = `ann:a:user:${hash('ann-key')},bob:a:user:${hash('bob-key')}:all,eve:b:user:${hash('eve-key')},cat:a:admin:${hash('cat-key')}`;
  const as = (name: string) => ({ authorization: `Bearer ${name}-key` });
  let llm: FakeLlm;
  let folder: string;
  beforeAll(async () => {
    llm = await FakeLlm.start();
    llm.always({ text: 'hello' });
    folder = newFolder();
  });
  afterAll(async () => {
    await llm.close();
    rmSync(folder, { recursive: true });
  });

  const start = (log: string) =>
    startJackdaw({ llm, dataDir: folder, tools: [LateReader], env: { API_KEYS: keys, ACCESS_LOG: log } });

  async function entries(jackdaw: Jackdaw): Promise<unknown[]> {
    const sql = 'SELECT tenant, principal, action, target_kind, target_id FROM access_log ORDER BY at, id';
    return (await jackdaw.app.get(Database, { strict: false }).query<object>(sql)).map((row) => Object.values(row));
  }

  it('records permitted reads and refusals, and a stop flushes all entries', async () => {
    let jackdaw = await start('on');
    const { body } = await jackdaw.chat({ query: 'hi', sessionId: 's' }, as('ann'));
    const runId = String(body['run_id']);
    const reads = [`/api/runs/${runId}`, `/api/runs/${runId}/journal`, '/api/sessions/s', '/api/sessions/s/messages'];
    for (const path of [...reads, '/api/runs']) {
      expect((await jackdaw.get(path, as('bob'))).status).toBe(200);
      expect((await jackdaw.get(path)).status).toBe(401);
    }
    for (const path of reads) expect((await jackdaw.get(path, as('eve'))).status).toBe(404);
    await (await jackdaw.follow(runId, undefined, as('bob'))).all();
    expect((await jackdaw.post(`/api/runs/${runId}/fork`, { fromStep: 'model:1' }, as('bob'))).status).toBe(202);
    await jackdaw.stop();

    jackdaw = await start('off');
    const shown = [
      ['a', 'bob', 'read', 'run', runId],
      ['a', 'bob', 'read', 'run.journal', runId],
      ['a', 'bob', 'read', 'session', 's'],
      ['a', 'bob', 'read', 'session.messages', 's'],
      ['a', 'bob', 'read', 'runs', ''],
      ['a', 'bob', 'read', 'run.events', runId],
      ['a', 'bob', 'fork', 'run', runId],
      ['a', 'late', 'read', 'run', 'last'],
      ...[...reads, '/api/runs'].map((path) => ['', '127.0.0.1', 'refuse', 'route', `GET ${path}`]),
    ];
    const recorded = await entries(jackdaw);
    expect(new Set(recorded.map(String))).toEqual(new Set(shown.map(String)));
    expect(recorded).toHaveLength(shown.length);
    // Nothing is recorded with ACCESS_LOG=off.
    await jackdaw.get(`/api/runs/${runId}`, as('bob'));
    await jackdaw.stop();
    jackdaw = await start('off');
    expect(await entries(jackdaw)).toHaveLength(shown.length);
    await jackdaw.stop();
  });

  it('is readable for admins of the tenant in pages, including the latest entries', async () => {
    const jackdaw = await start('on');
    for (const id of ['p', 'q', 'r']) await jackdaw.chat({ query: 'hi', sessionId: id }, as('ann'));
    const from = Date.now();
    for (const id of ['p', 'q', 'r']) await jackdaw.get(`/api/sessions/${id}`, as('bob'));
    await jackdaw.get('/api/sessions/p/messages', as('ann'));
    const read = async (query: string) => (await jackdaw.get(`/api/access-log?from=${from}&${query}`, as('cat'))).body;
    expect(await read('principal=ann')).toEqual({
      entries: [
        { at: expect.any(Number), principal: 'ann', action: 'read', target_kind: 'session.messages', target_id: 'p' },
      ],
      next: null,
    });
    const ids: unknown[] = [];
    for (let cursor = ''; ;) {
      const page = await read(`principal=bob&targetKind=session&limit=2${cursor}`);
      ids.push(...(page['entries'] as unknown as { target_id: string }[]).map(({ target_id }) => target_id));
      if (page['next'] === null) break;
      cursor = `&cursor=${String(page['next'])}`;
    }
    expect(ids).toEqual(['r', 'q', 'p']);
    expect((await jackdaw.get('/api/access-log', as('bob'))).status).toBe(403);
    for (const wrong of ['targetKind=x', 'cursor=x', 'from=x', 'limit=0', 'who=bob'])
      expect((await jackdaw.get(`/api/access-log?${wrong}`, as('cat'))).status).toBe(400);
    await jackdaw.stop();
  });
});

describe('the access log of an agent in code', () => {
  it('records its accesses as a server does', async () => {
    const env = { ACCESS_LOG: 'on', DATA_DIR: newFolder(), LLM_PROVIDER: 'offline' };
    const agent = await createAgent({
      config: env,
      builtinTools: ['calculator', 'sequentialthinking'],
      principal: { ...ALICE, roles: ['admin'] },
    });
    const { runId, sessionId: id } = await agent.chat('Hello');
    await agent.outcome(runId);
    await agent.sessions.list();
    await agent.sessions.get(id!);
    await agent.session(id!).turns();
    await agent.sessions.import(await agent.sessions.export(id!), 'copy');
    await agent.executeTool('calculator', { expression: '1+1' });
    const { states } = agent;
    const context = await states.createContext(id!, 'sequentialthinking');
    await states.setState(context, 'business', {});
    await states.listContexts();
    await states.rollback(context, 1);
    await states.cleanupContext(context);
    await agent.session(id!).clear();
    await agent.session(id!).delete();
    await agent.close();

    const opened = await openDatabase({ DATA_DIR: env.DATA_DIR });
    const found = await new AccessLogStore(opened.database).list([ALICE.tenant], {}, 50);
    await opened.close();
    expect(found.toReversed().map(({ action, targetKind, targetId }) => [action, targetKind, targetId])).toEqual([
      ['read', 'run', runId],
      ['read', 'sessions', ''],
      ['read', 'session', id],
      ['read', 'session.messages', id],
      ['export', 'session', id],
      ['import', 'session', 'copy'],
      ['call', 'tool', 'calculator'],
      ['read', 'tool-state', context],
      ['read', 'tool-states', ''],
      ['rollback', 'tool-state', context],
      ['erase', 'tool-state', context],
      ['erase', 'session.messages', id],
      ['erase', 'session', id],
    ]);
  });
});
