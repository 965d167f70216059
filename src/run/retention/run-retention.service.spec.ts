import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aRun, completed, openDatabase, RunHost, type OpenDatabase } from '../../../test/support/run-host.js';
import { loadConfig } from '../../config/index.js';
import { insert } from '../../persistence/statement/index.js';
import type { RunStatus } from '../run.types.js';
import { RunUsageStore } from '../usage/run-usage.store.js';
import { RunRetentionService } from './run-retention.service.js';
import { RunRetentionStore } from './run-retention.store.js';
import { BY_PRINCIPAL } from '../../../test/support/run-parts.js';

const DAY_MS = 86_400_000;

let opened: OpenDatabase;
let host: RunHost;
let count = 0;
beforeEach(async () => {
  opened = await openDatabase();
  host = new RunHost(opened.database);
});
afterEach(() => opened.close());

function retention(days = '10', failedDays?: string): RunRetentionService {
  const env = { RUN_RETENTION_DAYS: days, ...(failedDays !== undefined && { RUN_RETENTION_FAILED_DAYS: failedDays }) };
  return new RunRetentionService(
    new RunRetentionStore(opened.database),
    new RunUsageStore(opened.database, BY_PRINCIPAL),
    loadConfig({ env }).config.run,
  );
}

/** Creates an ended run with one recorded step. @param finishedAt epoch ms */
async function ended(status: RunStatus, finishedAt: number | null): Promise<string> {
  const id = `run-${String(count++).padStart(6, '0')}`;
  host.scripts.set(id, async (context) => {
    await context.step({ kind: 'model', place: '1', subject: 'm' }, async () => 'reply');
    return completed(id);
  });
  await (
    await host.runs.start(aRun(id, null, { input: '{"query":"x"}' }))
  ).done;
  await opened.database.commit([
    {
      sql: 'UPDATE run SET status = ?, finished_at = ?, created_at = ? WHERE id = ?',
      params: [status, finishedAt, 0, id],
    },
  ]);
  return id;
}

async function rowsOf(id: string): Promise<number> {
  let rows = 0;
  for (const table of ['run_step', 'run_event']) {
    rows += (await opened.database.query(`SELECT run_id FROM ${table} WHERE run_id = ?`, [id])).length;
  }
  return rows;
}

async function isPruned(id: string): Promise<boolean> {
  const run = (await host.journal.find(id))!;
  expect(run.prunedAt !== null).toBe((await rowsOf(id)) === 0);
  expect(run.prunedAt !== null).toBe(run.input === '');
  return run.prunedAt !== null;
}

describe('retention', () => {
  it('deletes journals of runs by age and status, and retains their rows with the summary', async () => {
    const old = await ended('completed', DAY_MS - 1);
    const young = await ended('completed', DAY_MS);
    const failed = await ended('failed', 5 * DAY_MS - 1);
    const cancelled = await ended('cancelled', 5 * DAY_MS);
    expect(await retention('10', '6').sweep(11 * DAY_MS)).toBe(2);
    expect([await isPruned(old), await isPruned(young)]).toEqual([true, false]);
    expect([await isPruned(failed), await isPruned(cancelled)]).toEqual([true, false]);
    const run = await host.journal.find(old);
    expect(run).toMatchObject({ status: 'completed', prunedAt: 11 * DAY_MS, agent: 'tester' });
    expect(JSON.parse(run!.summary!)).toMatchObject({ finish_reason: 'stop', is_complete: true, iterations: 1 });
    expect(run!.summary).not.toContain('done');
  });

  it('retains failed runs as long as completed ones unless configured otherwise', async () => {
    const runs = [await ended('completed', 0), await ended('failed', 0), await ended('cancelled', 0)];
    await retention('10').sweep(10 * DAY_MS + 1);
    for (const id of runs) expect(await isPruned(id)).toBe(true);
  });

  it('deletes reports of evals as old as pruned runs', async () => {
    const texts = { tenant: 'a', principal_id: 'ann', name: 'e', figures: '{}', results: '[]' };
    const report = (id: string, at: number) => insert('eval_report', { id, ...texts, created_at: at });
    await opened.database.commit([report('old', DAY_MS - 1), report('young', DAY_MS)]);
    await retention('0').sweep(11 * DAY_MS);
    expect(await opened.database.query('SELECT id FROM eval_report')).toHaveLength(2);
    await retention('10').sweep(11 * DAY_MS);
    expect(await opened.database.query('SELECT id FROM eval_report')).toEqual([{ id: 'young' }]);
  });

  it('never prunes an open run, nor any run with 0 days', async () => {
    const open = await Promise.all((['queued', 'running', 'waiting'] as const).map((status) => ended(status, null)));
    const completedRun = await ended('completed', 0);
    const failed = await ended('failed', 0);
    expect(await retention('0', '1').sweep(1000 * DAY_MS)).toBe(1);
    expect(await isPruned(failed)).toBe(true);
    expect(await retention('0').sweep(1000 * DAY_MS)).toBe(0);
    for (const id of [...open, completedRun]) expect(await isPruned(id)).toBe(false);
  });

  it('finds runs that became old since the last sweep, also after retained ones', async () => {
    const service = retention('10');
    const waiting = await ended('waiting', null);
    const first = await ended('completed', 0);
    const second = await ended('completed', 5 * DAY_MS);
    expect(await service.sweep(11 * DAY_MS)).toBe(1);
    expect(await service.sweep(11 * DAY_MS)).toBe(0);
    expect(await service.sweep(16 * DAY_MS)).toBe(1);
    await opened.database.commit([
      { sql: `UPDATE run SET status = 'completed', finished_at = 0 WHERE id = ?`, params: [waiting] },
    ]);
    expect(await service.sweep(16 * DAY_MS)).toBe(1);
    for (const id of [first, second, waiting]) expect(await isPruned(id)).toBe(true);
  });

  it('reads each run once, apart from those that were open, or ended long after their start', async () => {
    const late = [await ended('waiting', null), await ended('failed', 5 * DAY_MS)];
    await ended('failed', 0);
    for (let i = 0; i < 3; i++) await ended('completed', i * DAY_MS);
    const read: string[] = [];
    const counted = Object.create(opened.database) as typeof opened.database;
    counted.query = async (sql, params) => {
      const rows = await opened.database.query<{ id: string }>(sql, params);
      if (/FROM run LEFT JOIN/.test(sql)) read.push(...rows.map(({ id }) => id));
      return rows as never;
    };
    const { config } = loadConfig({ env: { RUN_RETENTION_DAYS: '10', RUN_RETENTION_FAILED_DAYS: '12' } });
    const usages = new RunUsageStore(opened.database, BY_PRINCIPAL);
    const service = new RunRetentionService(new RunRetentionStore(counted), usages, config.run);
    expect(await service.sweep(13 * DAY_MS)).toBe(4);
    read.length = 0;
    expect(await service.sweep(13 * DAY_MS)).toBe(0);
    expect(read).toEqual(late);
  });

  it('prunes many runs in small batches, also with two concurrent sweeps', async () => {
    for (let i = 0; i < 730; i++) {
      const [id, at] = [`many-${String(i).padStart(4, '0')}`, i % 7 === 0 ? 100 * DAY_MS : 0];
      await host.journal.create(aRun(id), 'running', at);
      await opened.database.commit([
        { sql: `UPDATE run SET status = 'completed', finished_at = ? WHERE id = ?`, params: [at, id] },
      ]);
    }
    const batches: number[] = [];
    const counted = Object.create(opened.database) as typeof opened.database;
    counted.commit = async (batch) => {
      batches.push(batch[0]!.params.length);
      await opened.database.commit(batch);
    };
    const { config } = loadConfig({ env: { RUN_RETENTION_DAYS: '10' } });
    const services = [1, 2].map(
      () =>
        new RunRetentionService(new RunRetentionStore(counted), new RunUsageStore(counted, BY_PRINCIPAL), config.run),
    );
    const pruned = await Promise.all(services.map((service) => service.sweep(50 * DAY_MS)));
    expect(Math.max(...pruned)).toBe(625);
    expect(Math.max(...batches)).toBeLessThan(150);
    const left = await opened.database.query(`SELECT id FROM run WHERE pruned_at IS NULL`);
    expect(left).toHaveLength(105);
    expect(await services[0]!.sweep(50 * DAY_MS)).toBe(0);
  });

  it('deletes idempotency keys after a day', async () => {
    const key = (i: number, at: number) => ({
      sql: 'INSERT INTO idempotency_key (tenant, idem_key, body_hash, run_id, created_at) VALUES (?, ?, ?, ?, ?)',
      params: ['nest', `key-${i}`, 'hash', 'run', at],
    });
    const keys = Array.from({ length: 1234 }, (_, i) => key(i, i));
    await opened.database.commit([...keys, key(9999, 2000)]);
    await retention('0').sweep(DAY_MS + 1234);
    expect(await opened.database.query('SELECT idem_key FROM idempotency_key')).toEqual([{ idem_key: 'key-9999' }]);
  });
});
