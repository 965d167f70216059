import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, RunHost, type OpenDatabase } from '../../test/support/run-host.js';
import { newExecution, nextExecution, type RunExecution, storedEvents } from '../../test/support/run-execution.js';
import { Ownership } from '../security/index.js';
import { PLAIN_CIPHER } from '../security/encryption/index.js';
import type { WaitingRequest } from './decision/waiting-request.types.js';
import { WaitingRunStore } from './decision/waiting-run.store.js';
import { LateResultService, type RefusedBatch } from './late-result.service.js';
import type { RunEvent } from './event/run-event.types.js';

const STARTED: RunEvent = { type: 'tool.started', iteration: 1, call_id: 'c1', tool: 'pay', arguments: '{}' };
const COMPLETED = { type: 'tool.completed', iteration: 1, call_id: 'c1', tool: 'pay', success: true } as RunEvent;
const OTHER = { ...COMPLETED, call_id: 'c2' } as RunEvent;
const REQUEST: WaitingRequest = {
  id: 'settle:1:1',
  kind: 'outcome_unknown',
  step: 'tool:1:1',
  call_id: 'c1',
  tool: 'pay',
  arguments: '{}',
  expires_at: null,
};
const step = (name: string, subject = 'pay') => ({ name, kind: name.split(':')[0]!, subject, result: '"paid"' });
const BATCH: RefusedBatch = {
  steps: [step('tool:1:1'), step('value:facts:1:1', ''), step('file:1:1:1', '1 4 text/plain'), step('tool:1:2')],
  events: [COMPLETED, OTHER],
  companions: [],
};

describe('a late result', () => {
  let opened: OpenDatabase;
  let host: RunHost;
  let results: LateResultService;
  let count = 0;
  beforeAll(async () => {
    opened = await openDatabase();
    host = new RunHost(opened.database);
    const waiting = new WaitingRunStore(opened.database, PLAIN_CIPHER, new Ownership());
    results = new LateResultService(host.journal, host.bus, waiting);
  });
  afterAll(async () => {
    results.beforeApplicationShutdown();
    await opened.close();
  });

  /** A run whose call this process has claimed, and which another process has claimed meanwhile. */
  async function lostRun(): Promise<{ first: RunExecution; second: RunExecution }> {
    const first = await newExecution(host, `late-${count++}`);
    expect(await first.context.claim('1:1', STARTED)).toBe('claimed');
    const second = await nextExecution(host, first);
    expect(await second.context.claim('1:1', STARTED)).toBe('unknown');
    return { first, second };
  }

  const wait = ({ context }: RunExecution, request = REQUEST) =>
    context.conclude({ kind: 'waiting', requests: [request] });
  const stepsOf = async ({ run }: RunExecution) => (await host.journal.steps(run.id)).map(({ name }) => name);
  const statusOf = async ({ run }: RunExecution) => (await host.journal.find(run.id))?.status;

  /** Resolves at the wake-up of the run. */
  function woken({ run }: RunExecution): Promise<void> {
    return new Promise((resolve) => host.bus.onWake((id) => id === run.id && resolve()));
  }

  it('is recorded with its facts and files, and resumes the run that waits for it', async () => {
    const { first, second } = await lostRun();
    const isWoken = woken(first);
    const settled = results.settle(first.run, BATCH);
    await wait(second);
    await Promise.all([settled, isWoken]);
    expect(await statusOf(first)).toBe('queued');
    expect(await stepsOf(first)).toEqual(['claim:1:1', 'tool:1:1', 'value:facts:1:1']);
    expect(await host.journal.files(first.run.id)).toEqual([{ n: 1, bytes: 4, media_type: 'text/plain' }]);
    const events = await storedEvents(host, first.run.id);
    expect(events.slice(-3)).toEqual(['3 run.waiting', '4 policy.decided', '5 tool.completed']);
  });

  it('is obsolete if a person has had the call repeated', async () => {
    const { first, second } = await lostRun();
    expect(await second.context.claim('1:1:r2', STARTED)).toBe('claimed');
    await wait(second, { ...REQUEST, id: 'settle:1:1:r2' });
    await results.settle(first.run, BATCH);
    expect(await statusOf(first)).toBe('waiting');
    expect(await stepsOf(first)).toEqual(['claim:1:1', 'claim:1:1:r2']);
  });

  it('is obsolete if the run waits for something else', async () => {
    const { first, second } = await lostRun();
    await wait(second, { ...REQUEST, kind: 'approval', id: 'approval:1:1' });
    await results.settle(first.run, BATCH);
    expect(await statusOf(first)).toBe('waiting');
  });

  it('is obsolete if the other process has given the number of its file to another file', async () => {
    const { first, second } = await lostRun();
    const files = () => [{ n: 1, bytes: Buffer.from('else'), mediaType: 'text/plain' }];
    await second.context.step({ kind: 'tool', place: '1:2', subject: 'pay' }, async () => 1, { files });
    await wait(second);
    await results.settle(first.run, BATCH);
    expect(await statusOf(first)).toBe('waiting');
  });
});
