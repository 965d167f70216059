import { expect, it } from 'vitest';
import { newId } from '../kernel/index.js';
import { ALICE, aRun, openDatabase, RunHost } from '../../test/support/run-host.js';
import type { RunOutcome } from './run.types.js';

const WAITING: RunOutcome = {
  kind: 'waiting',
  requests: [
    {
      id: 'approval:1:1',
      kind: 'approval',
      step: 'tool:1:1',
      call_id: 'c',
      tool: 't',
      arguments: '{}',
      expires_at: null,
    },
  ],
};

it('the run executor knows a resumed run before its last execution has notified all waiters', async () => {
  const opened = await openDatabase();
  const host = new RunHost(opened.database);
  const id = newId();
  const notifying = Promise.withResolvers<void>();
  const again = Promise.withResolvers<void>();
  host.executor.useRunTree({
    settled: () => notifying.promise,
    isOrphan: async () => false,
    remember: () => undefined,
    join: () => Promise.reject(new Error('This run has no child runs.')),
  });
  host.scripts.set(id, async (context) => {
    if (host.executed.length === 1) return WAITING;
    again.resolve();
    await new Promise((resolve) => context.signal.addEventListener('abort', resolve));
    throw context.signal.reason;
  });
  const first = (await host.runs.start(aRun(id))).done;
  const waiting = Promise.withResolvers<void>();
  host.bus.subscribe(id, ({ event }) => event.type === 'run.waiting' && waiting.resolve());
  await waiting.promise;
  const open = await host.decisions.open(ALICE, id);
  await host.decisions.decide(open, [{ request: open.requests[0]!, verdict: { kind: 'approve' } }], ALICE.id);
  await again.promise;
  notifying.resolve();
  await first;
  expect(host.executor.has(id)).toBe(true);
  const ended = host.ended(id);
  await host.runs.cancel(ALICE, id);
  await ended;
  await opened.close();
});
