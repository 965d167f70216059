import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as elapse } from 'node:timers/promises';
import { SqliteLog } from '../src/persistence/sqlite-log.client.js';
import { aRun, openDatabase, RunHost, type OpenDatabase } from './support/run-host.js';

const EARLY = { isEarly: true } as const;
const FIRST = { ...EARLY, isFirstOfSession: true } as const;

let folder: string;
let opened: OpenDatabase;
let host: RunHost;
let disk: PromiseWithResolvers<void>;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'jackdaw-disk-'));
  opened = await openDatabase({ DATA_DIR: folder });
  host = new RunHost(opened.database);
  disk = Promise.withResolvers();
  vi.spyOn(SqliteLog.prototype, 'sync').mockImplementation(() => disk.promise);
});
afterEach(async () => {
  disk.resolve();
  await host.executor.drain(0);
  await opened.close();
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

it.each([
  ['that starts its session', FIRST],
  ['in an existing session', EARLY],
])(
  'before the disk sync ends, a run %s is published and executed, and its end is not published',
  async (_which, more) => {
    host.scripts.set('a', async (context) => context.emit({ type: 'message.delta', iteration: 1, text: 'Hello' }));
    const published = host.listen('a');
    const { done } = await host.runs.start(aRun('a', 's', more));
    let isDone = false;
    void done.then(() => (isDone = true));
    await elapse(20);
    expect([published.map(({ event }) => event.type), isDone]).toEqual([['run.started', 'message.delta'], false]);
    disk.resolve();
    await done;
    expect(published.at(-1)?.event.type).toBe('run.completed');
  },
);

it('before the disk sync ends, no effect `once` is executed', async () => {
  let isClaimed = false;
  host.scripts.set('a', async (context) => {
    await context.claim('1:1', { type: 'tool.started', iteration: 1, call_id: 'c', tool: 't', arguments: '{}' });
    isClaimed = true;
  });
  const { done } = await host.runs.start(aRun('a', 's', FIRST));
  await elapse(20);
  expect(isClaimed).toBe(false);
  disk.resolve();
  await done;
  expect(isClaimed).toBe(true);
});

it('before the disk sync ends, a run that may start with an effect is not executed', async () => {
  let isExecuted = false;
  host.scripts.set('a', async () => void (isExecuted = true));
  const started = host.runs.start(aRun('a', 's'));
  await elapse(20);
  expect(isExecuted).toBe(false);
  disk.resolve();
  await (
    await started
  ).done;
  expect(isExecuted).toBe(true);
});

it('before the disk sync ends, a queued background run is not acknowledged', async () => {
  let isAcknowledged = false;
  const submitted = host.runs.submit(aRun('a', 's')).then(() => (isAcknowledged = true));
  await elapse(20);
  expect(isAcknowledged).toBe(false);
  disk.resolve();
  await submitted;
});
