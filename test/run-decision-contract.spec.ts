import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { AppError } from '../src/errors/index.js';
import type { RunOutcome } from '../src/run/index.js';
import type { RunContext } from '../src/run/context/index.js';
import {
  RunDecisionService,
  selectRequest,
  selectRequests,
  type Decision,
  type WaitingRequest,
} from '../src/run/decision/index.js';
import { WaitingRunStore } from '../src/run/decision/waiting-run.store.js';
import { RunExpiryService } from '../src/run/decision/run-expiry.service.js';
import { ALICE, aRun, openDatabase, RunHost, type OpenDatabase } from './support/run-host.js';
import { describeDatabases, testServers } from './support/test-databases.js';
import { Ownership } from '../src/security/index.js';
import { PLAIN_CIPHER } from '../src/security/encryption/index.js';
import { eventually } from './support/eventually.js';

function aRequest(id: string, expires_at: number | null): WaitingRequest {
  return { id, kind: 'approval', step: 'tool:1:1', call_id: id, tool: 't', arguments: '{}', expires_at };
}

describeDatabases('requests of waiting runs', await testServers(), (created) => {
  let opened: OpenDatabase;
  let host: RunHost;
  let decisions: RunDecisionService;
  let expiry: RunExpiryService;
  let store: WaitingRunStore;
  beforeAll(async () => {
    opened = await openDatabase({ DATABASE_URL: created().url });
    host = new RunHost(opened.database);
    store = new WaitingRunStore(opened.database, PLAIN_CIPHER, new Ownership());
    decisions = new RunDecisionService(host.journal, host.bus, store);
    expiry = new RunExpiryService(host.journal, host.bus, decisions, store, host.answers, host.cancels);
  });
  afterAll(() => opened.close());

  /** A run that waits until all requests are answered, and collects the answers. */
  async function wait(id: string, requests: readonly WaitingRequest[]): Promise<Map<string, Decision>> {
    const answers = new Map<string, Decision>();
    host.scripts.set(id, async (context: RunContext): Promise<RunOutcome | void> => {
      const open = requests.filter((request) => {
        const decision = context.answer(request.id);
        if (decision) answers.set(request.id, decision);
        return !decision;
      });
      if (open.length > 0) return { kind: 'waiting', requests: open };
    });
    await (
      await host.runs.start(aRun(id))
    ).done;
    return answers;
  }

  async function expiryOf(id: string): Promise<unknown> {
    const rows = await opened.database.query<object>('SELECT status, expires_at FROM run WHERE id = ?', [id]);
    return rows[0];
  }

  describe('an answer', () => {
    it('counts once among concurrent answers, and records the person and the time', async () => {
      const answers = await wait('raced', [aRequest('approval:1:1', null)]);
      const waiting = await decisions.open(ALICE, 'raced');
      const ended = host.ended('raced');
      const from = Date.now();
      const all = ['ann', 'bob', 'eve'].map((by) =>
        decisions.decide(waiting, [{ request: waiting.requests[0]!, verdict: { kind: 'approve' } }], by),
      );
      const outcomes = await Promise.allSettled(all);
      await ended;
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason as AppError] : []));
      expect(refused.map(({ code }) => code)).toEqual(['RUN_NOT_WAITING', 'RUN_NOT_WAITING']);
      const decision = answers.get('approval:1:1')!;
      expect(decision).toEqual({
        kind: 'approve',
        by: expect.stringMatching(/^(ann|bob|eve)$/),
        at: expect.any(Number),
      });
      expect(decision.at).toBeGreaterThanOrEqual(from);
      const decided = (await host.events('raced')).filter(({ event }) => event.type === 'policy.decided');
      expect(decided.map(({ event }) => event)).toMatchObject([{ by: decision.by, decision: 'approved' }]);
    });

    it('does not count for an earlier wait', async () => {
      const requests = [aRequest('approval:1:1', null), aRequest('approval:1:2', null)];
      await wait('stale', requests);
      const stale = await decisions.open(ALICE, 'stale');
      const waitsAgain = new Promise<void>((resolve) => {
        host.bus.subscribe('stale', ({ event }) => event.type === 'run.waiting' && resolve());
      });
      await decisions.decide(stale, [{ request: requests[0]!, verdict: { kind: 'deny' } }], 'ann');
      await waitsAgain;
      const late = decisions.decide(stale, [{ request: requests[0]!, verdict: { kind: 'approve' } }], 'bob');
      await expect(late).rejects.toMatchObject({ code: 'RUN_NOT_WAITING', details: { run_status: 'waiting' } });
      expect((await decisions.open(ALICE, 'stale')).requests).toEqual([requests[1]]);
    });

    it('is refused for another tenant', async () => {
      await wait('private', [aRequest('approval:1:1', null)]);
      const opening = decisions.open({ ...ALICE, tenant: 'other' }, 'private');
      await expect(opening).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
    });
  });

  describe('an answer after the deadline', () => {
    const approve = (request: WaitingRequest) => [{ request, verdict: { kind: 'approve' } } as const];
    const FUTURE = Date.now() + 3_600_000;

    it('is refused by the statement that would accept it, with the deadline, and changes nothing', async () => {
      const answers = await wait('too-late', [aRequest('a', 1), aRequest('b', null)]);
      const waiting = await decisions.open(ALICE, 'too-late');
      const events = await host.events('too-late');
      for (const verdict of [{ kind: 'approve' }, { kind: 'deny' }, { kind: 'settle', outcome: 'retry' }] as const) {
        const late = decisions.decide(waiting, [{ request: waiting.requests[0]!, verdict }], 'ann');
        await expect(late).rejects.toMatchObject({
          code: 'RUN_NOT_WAITING',
          details: { run_status: 'waiting', is_retryable: false, expires_at: 1, expired: [{ id: 'a', call_id: 'a' }] },
        });
      }
      expect(await expiryOf('too-late')).toEqual({ status: 'waiting', expires_at: 1 });
      expect([answers.size, await host.events('too-late')]).toEqual([0, events]);
    });

    it('is refused as a whole when one of its requests has expired', async () => {
      await wait('half-late', [aRequest('a', 1), aRequest('b', FUTURE)]);
      const waiting = await decisions.open(ALICE, 'half-late');
      const both = waiting.requests.flatMap((request) => approve(request));
      await expect(decisions.decide(waiting, both, 'ann')).rejects.toMatchObject({ details: { expires_at: 1 } });
      expect(await expiryOf('half-late')).toEqual({ status: 'waiting', expires_at: 1 });
    });

    it.each([
      ['later', FUTURE],
      ['never', null],
    ])(
      'counts for a request that expires %s, and the other one can still not be answered',
      async (when, expires_at) => {
        const id = `other-${when}`;
        const answers = await wait(id, [aRequest('a', 1), aRequest('b', expires_at)]);
        const waitsAgain = new Promise<void>((resolve) => {
          host.bus.subscribe(id, ({ event }) => event.type === 'run.waiting' && resolve());
        });
        const waiting = await decisions.open(ALICE, id);
        expect(selectRequests(waiting, 'approval')).toEqual([waiting.requests[1]]);
        await decisions.decide(waiting, approve(waiting.requests[1]!), 'ann');
        await waitsAgain;
        expect([...answers.keys()]).toEqual(['b']);
        const again = await decisions.open(ALICE, id);
        expect(() => selectRequests(again, 'approval')).toThrow(/expired at 1970-01-01T00:00:00.001Z/);
        await expect(decisions.decide(again, approve(again.requests[0]!), 'ann')).rejects.toMatchObject({
          details: { expires_at: 1 },
        });
      },
    );

    it('must say which request it means, also when only one of them is still open', async () => {
      await wait('ambiguous', [aRequest('a', 1), aRequest('b', null)]);
      const waiting = await decisions.open(ALICE, 'ambiguous');
      expect(() => selectRequest(waiting, 'approval')).toThrow(/^Name one call with callId/);
      expect(selectRequest(waiting, 'approval', 'b')).toEqual(waiting.requests[1]);
    });

    it('gets the deadline also after the sweep has expired the request', async () => {
      await wait('swept', [aRequest('a', 1), aRequest('b', null)]);
      const waitsAgain = new Promise<void>((resolve) => {
        host.bus.subscribe('swept', ({ event }) => event.type === 'run.waiting' && resolve());
      });
      await expiry.expireDue();
      await waitsAgain;
      const waiting = await decisions.open(ALICE, 'swept');
      expect(waiting.expired).toMatchObject([{ id: 'a', expires_at: 1 }]);
      expect(() => selectRequests(waiting, 'approval', 'a')).toThrow(/expired at 1970/);
      const ended = host.ended('swept');
      await decisions.decide(waiting, approve(waiting.requests[0]!), 'ann');
      await ended;
      await expect(decisions.open(ALICE, 'swept')).rejects.toMatchObject({
        details: { run_status: 'completed', expires_at: 1, expired: [{ id: 'a' }] },
      });
    });
  });

  describe('a request without an answer', () => {
    it('expires at its own deadline, and every end of the wait clears the stored deadline', async () => {
      const answers = await wait('due', [aRequest('a', 3000), aRequest('b', 1000), aRequest('c', null)]);
      expect(await expiryOf('due')).toEqual({ status: 'waiting', expires_at: 1000 });
      await expiry.expireDue(999);
      expect(await expiryOf('due')).toEqual({ status: 'waiting', expires_at: 1000 });

      const waits = (count: number) =>
        new Promise<void>((resolve) => {
          let seen = 0;
          host.bus.subscribe('due', ({ event }) => event.type === 'run.waiting' && ++seen === count && resolve());
        });
      let again = waits(1);
      await expiry.expireDue(1000);
      await again;
      expect(await expiryOf('due')).toEqual({ status: 'waiting', expires_at: 3000 });
      expect([...answers]).toEqual([['b', { kind: 'expire', by: null, at: expect.any(Number) }]]);

      again = waits(1);
      await expiry.expireDue(10_000);
      await again;
      expect(await expiryOf('due')).toEqual({ status: 'waiting', expires_at: null });
      await expiry.expireDue(Number.MAX_SAFE_INTEGER);
      expect((await decisions.open(ALICE, 'due')).requests).toMatchObject([{ id: 'c' }]);
    });

    it('expires once although several nodes sweep, and excludes a concurrent answer', async () => {
      const answers = await wait('contested', [aRequest('a', 1)]);
      const other = new RunExpiryService(host.journal, host.bus, decisions, store, host.answers, host.cancels);
      const waiting = await decisions.open(ALICE, 'contested');
      const ended = host.ended('contested');
      await Promise.allSettled([
        decisions.decide(waiting, [{ request: waiting.requests[0]!, verdict: { kind: 'approve' } }], 'ann'),
        expiry.expireDue(),
        other.expireDue(),
      ]);
      await ended;
      expect([...answers.values()]).toMatchObject([{ kind: 'expire', by: null }]);
      const decided = (await host.events('contested')).filter(({ event }) => event.type === 'policy.decided');
      expect(decided.map(({ event }) => event)).toMatchObject([{ by: null }]);
    });

    it('expires nothing for ten minutes after a jump of the wall clock', async () => {
      const service = new RunExpiryService(host.journal, host.bus, decisions, store, host.answers, host.cancels);
      await service.onApplicationBootstrap();
      await wait('jumped', [aRequest('a', Date.now() + 3_600_000)]);
      const checked = vi.spyOn(host.answers, 'answerAll');
      const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 30 * 86_400_000);
      host.bus.wake('jumped');
      await eventually(() => expect(checked).toHaveBeenCalled());
      service.onModuleDestroy();
      await service.beforeApplicationShutdown();
      clock.mockRestore();
      expect(await expiryOf('jumped')).toMatchObject({ status: 'waiting' });
    });

    it('ends a queued run once at its deadline, and leaves other queued runs alone', async () => {
      const { journal } = host;
      await journal.create({ ...aRun('late'), deadlineAt: 5000 }, 'queued', 1);
      await journal.create({ ...aRun('early'), deadlineAt: 9000 }, 'queued', 1);
      await journal.create(aRun('ever'), 'queued', 1);
      const started = (await journal.create({ ...aRun('started'), deadlineAt: 5000 }, 'running', 1)).run;
      await expiry.expireDue(4999);
      expect(await expiryOf('late')).toEqual({ status: 'queued', expires_at: 5000 });
      await Promise.all([expiry.expireDue(5000), expiry.expireDue(5000)]);
      const statuses = ['late', 'early', 'ever', 'started'].map(async (id) => (await journal.find(id))?.status);
      expect(await Promise.all(statuses)).toEqual(['failed', 'queued', 'queued', 'running']);
      expect((await host.events('late')).map(({ event }) => event)).toMatchObject([
        { type: 'run.failed', error: { code: 'RUN_TIMEOUT' } },
      ]);
      expect(await store.nextExpiry(5000)).toBe(9000);
      await journal.putBack(started);
      await expiry.expireDue(5000);
      // Nor if the sweep found the run just before it started.
      const found = Object.assign(Object.create(store) as WaitingRunStore, { expired: async () => ['started'] });
      const failOverdue = vi.spyOn(host.cancels, 'failOverdue');
      await new RunExpiryService(journal, host.bus, decisions, found, host.answers, host.cancels).expireDue(5000);
      expect(failOverdue).not.toHaveBeenCalled();
      expect((await journal.find('started'))?.status).toBe('queued');
    });
  });
});
