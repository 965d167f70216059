import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { loadConfig } from '../src/config/index.js';
import { refusalOf } from '../src/persistence/index.js';
import { SealedCopyStore } from '../src/run/fork/sealed-copy.store.js';
import { RunForkStore } from '../src/run/fork/run-fork.store.js';
import { RunRetentionService } from '../src/run/retention/run-retention.service.js';
import { RunRetentionStore } from '../src/run/retention/run-retention.store.js';
import { RunUsageStore } from '../src/run/usage/run-usage.store.js';
import { RunAuditStore } from '../src/run/query/run-audit.store.js';
import { RunItem } from '../src/run/event/run-item.factory.js';
import { RunJournal } from '../src/run/run-journal.js';
import { RunListStore } from '../src/run/query/run-list.store.js';
import { endRun, insertEvents, insertStep } from '../src/run/run-statement.factory.js';
import { PLAIN_CIPHER } from '../src/security/encryption/index.js';
import { AesGcmCipher } from '../src/security/encryption/aes-gcm-cipher.js';
import { ALICE, aRun, openDatabase, type OpenDatabase } from './support/run-host.js';
import { sessionsOn } from './support/session-host.js';
import { describeDatabases, testServers } from './support/test-databases.js';
import { BY_PRINCIPAL, runJournal } from './support/run-parts.js';

Logger.overrideLogger(false);
const NOW = 1_764_000_000_123;
const DAY_MS = 86_400_000;
const SUMMARY = JSON.stringify({ finish_reason: 'stop', usage: { total_tokens: 3 } });
const WILD = JSON.stringify({ text: '🐦 \u0000 ?, $1, \\ \' "' });
const servers = await testServers();

const CIPHERS = {
  plain: PLAIN_CIPHER,
  encrypted: new AesGcmCipher([{ id: 'k', key: randomBytes(32).toString('base64') }], false),
};

describe.each(['plain', 'encrypted'] as const)('a %s journal', (how) => {
  const cipher = CIPHERS[how];
  describeDatabases('forks, lists and retention of runs', servers, (created) => {
    let opened: OpenDatabase;
    let journal: RunJournal;
    let forks: RunForkStore;
    beforeAll(async () => {
      opened = await openDatabase({ DATABASE_URL: created().url });
      journal = runJournal(opened.database, { cipher });
      forks = new RunForkStore(opened.database, journal, new SealedCopyStore(opened.database, cipher));
    });
    afterAll(() => opened.close());

    /** A finished run with this number of calls, each a step and an event. */
    async function record(id: string, calls: number, at = NOW): Promise<void> {
      const { run } = await journal.create(aRun(id), 'running', at);
      const steps = [{ name: 'model:1', kind: 'model', subject: 'first', result: WILD }];
      for (let n = 1; n <= calls; n++) steps.push({ name: `tool:1:${n}`, kind: 'tool', subject: 'x', result: `${n}` });
      await journal.commit([
        ...steps.map((step) => insertStep(run, step, at + 1, journal.cipher)),
        ...insertEvents(
          run,
          steps.map(({ result }, i) => new RunItem(i + 2, at + 2, { type: 'thought', iteration: 1, text: result })),
          journal.cipher,
        ),
        endRun(run, 'running', 'completed', at + 3, { summary: SUMMARY, errorCode: null }),
      ]);
    }

    it('copies steps and events byte for byte, with new numbers', async () => {
      await record('source', 600);
      const names = ['model:1', ...Array.from({ length: 599 }, (_, i) => `tool:1:${i + 1}`)];
      const numbers = Array.from({ length: 600 }, (_, i) => i + 2).filter((n) => n % 3 !== 0);
      const { run } = await journal.create(
        aRun('copy', null, {
          forkedFrom: 'source',
          statements: [
            ...(await forks.copySteps('source', 'copy', names, 'second')),
            ...(await forks.copyEvents('source', 'copy', numbers, 1)),
          ],
        }),
        'queued',
        NOW + 9,
      );
      expect(run).toMatchObject({ status: 'queued', epoch: 1, forkedFrom: 'source' });
      expect(await journal.find('copy')).toEqual(run);

      const audit = new RunAuditStore(opened.database, cipher);
      const [before, after] = await Promise.all(['source', 'copy'].map((id) => audit.steps(id, 0, 1000)));
      expect(after).toEqual(
        before!.slice(0, 600).map((step) => ({ ...step, epoch: 0, subject: step.kind === 'model' ? 'second' : 'x' })),
      );
      const events = await audit.events('copy', 0, 1000);
      expect(events.map(({ n }) => n)).toEqual(Array.from({ length: numbers.length + 1 }, (_, i) => i + 1));
      const published = (await audit.events('source', 1, 1000)).filter(({ n }) => numbers.includes(n));
      expect(events.slice(1).map(({ n: _n, ...event }) => event)).toEqual(
        published.map(({ n: _n, ...event }) => event),
      );
      expect(await forks.result('copy', 'model:1')).toBe(WILD);
      // An unchanged copy, without another model.
      await journal.create(
        aRun('plain', null, {
          forkedFrom: 'source',
          statements: await forks.copySteps('source', 'plain', ['model:1']),
        }),
        'queued',
        NOW + 9,
      );
      expect(await audit.steps('plain', 0, 9)).toMatchObject([{ subject: 'first', result: WILD, createdAt: NOW + 1 }]);
    });

    it('refuses a copy of missing rows', async () => {
      await record('short', 1);
      for (const statements of [
        await forks.copySteps('short', 'broken', ['model:1', 'tool:1:7']),
        await forks.copyEvents('short', 'broken', [2, 77], 1),
      ]) {
        const error = await journal
          .create(aRun('broken', null, { statements }), 'queued', NOW)
          .catch((thrown: unknown) => thrown);
        expect(refusalOf(error)).toBe('rows');
      }
      expect(await journal.find('broken')).toBeNull();
    });

    it('branches a session', async () => {
      const { sessions } = sessionsOn(opened.database, cipher);
      await opened.database.commit([sessions.beginStatement(ALICE, 's')]);
      for (let n = 1; n <= 4; n++) {
        const messages = [{ role: 'user' as const, content: WILD.repeat(n) }];
        const turn = { runId: `run-${n}`, status: 'completed' as const, messages };
        await opened.database.commit(sessions.turnStatements(ALICE, 's', n - 1, turn));
      }
      await opened.database.commit(await sessions.branchStatements(ALICE, 'b', 's', 3));
      expect(await sessions.turns(ALICE, 'b', 0, 9)).toEqual(await sessions.turns(ALICE, 's', 0, 3));
      expect(await sessions.get(ALICE, 'b')).toMatchObject({ lastTurn: 3, messageCount: 3 });
      const again = sessions.turnStatements(ALICE, 'b', 3, { runId: 'run-1', status: 'completed', messages: [] });
      expect(refusalOf(await opened.database.commit(again).catch((thrown: unknown) => thrown))).toBe('unique');
    });

    it('lists page by page, by every filter, and prunes by age', async () => {
      for (const [i, id] of ['p-b', 'p-B', 'p-a', 'p-A', 'p-c'].entries()) await record(id, 1, NOW + 100 + (i % 2));
      const list = new RunListStore(opened.database, cipher, BY_PRINCIPAL);
      const found: string[] = [];
      for (let cursor: string | undefined; ;) {
        const page = await list.list(ALICE, { from: NOW + 100, statuses: ['completed', 'failed'] }, 2, cursor);
        found.push(...page.runs.map(({ id }) => id));
        if (page.next === null) break;
        cursor = page.next;
      }
      expect(found).toEqual(['p-B', 'p-A', 'p-c', 'p-b', 'p-a']);
      const one = { from: NOW + 100, to: NOW + 101, agent: 'tester', statuses: ['completed'] as const };
      expect((await list.list(ALICE, one, 2)).runs.map(({ id, summary }) => [id, summary])).toEqual([
        ['p-c', JSON.parse(SUMMARY)],
        ['p-b', JSON.parse(SUMMARY)],
      ]);
      expect((await list.list(ALICE, { sessionId: 'none', from: 1 }, 2)).runs).toEqual([]);

      const store = new RunRetentionStore(opened.database);
      const { config } = loadConfig({ env: { RUN_RETENTION_DAYS: '1' } });
      const keys = Array.from({ length: 3 }, (_, i) => ({
        sql: 'INSERT INTO idempotency_key (tenant, idem_key, body_hash, run_id, created_at) VALUES (?, ?, ?, ?, ?)',
        params: ['nest', `key-${i}`, 'hash', 'run', i === 0 ? NOW + DAY_MS : NOW],
      }));
      await opened.database.commit(keys);
      expect(
        await new RunRetentionService(store, new RunUsageStore(opened.database, BY_PRINCIPAL), config.run).sweep(
          NOW + 103 + DAY_MS + 1,
        ),
      ).toBe(5);
      expect((await list.list(ALICE, { from: NOW + 101 }, 9)).runs.map(({ prunedAt }) => prunedAt)).toEqual([
        null,
        null,
      ]);
      const pruned = (await list.list(ALICE, { from: NOW + 100, to: NOW + 101 }, 9)).runs;
      expect(pruned.map(({ id, prunedAt }) => [id, prunedAt === null])).toEqual([
        ['p-c', false],
        ['p-b', false],
        ['p-a', false],
      ]);
      expect(await journal.events('p-a', 0)).toEqual([]);
      expect(await opened.database.query('SELECT idem_key FROM idempotency_key')).toEqual([{ idem_key: 'key-0' }]);
    });
  });
});
