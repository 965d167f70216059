import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ToolRegistry } from '../src/tool/index.js';
import { choose, look, pay, WaitingHost } from './support/waiting-host.js';
import { decisionsIn, expectPairs, resultsIn } from './support/waiting-run.js';

let host: WaitingHost;
beforeAll(async () => {
  host = await WaitingHost.start();
});
afterEach(() => host.reset());
afterAll(() => host.stop());

describe('several calls of one reply', () => {
  it('run as far as possible, and the run waits for the rest with unchanged expiry times', async () => {
    const run = await host.ask(pay('a'), choose('b'), pay('c'), look('d'));
    const first = await run.requests();
    expect(first.map(({ id }) => id)).toEqual(['approval:1:1', 'input:1:2', 'approval:1:3']);
    expect(host.tools.done).toEqual(['look d']);

    const second = await run.after('deny', { callId: 'c' });
    expect(second.at(-1)?.data['requests']).toEqual(first.slice(0, 2));
    expect(resultsIn(second)).toMatchObject({ c: ['TOOL_DENIED', 'Denied by local.'] });

    const third = await run.after('input', { value: 'KL2' });
    expect(third.at(-1)?.data['requests']).toEqual(first.slice(0, 1));
    const last = await run.after('approve');
    expect(last.at(-1)?.event).toBe('run.completed');
    expect(host.tools.done).toEqual(['look d', 'choose b KL2', 'pay a 5']);
    const messages = await expectPairs(host.jackdaw, host.session);
    expect(messages.map(({ tool_call_id }) => tool_call_id).filter(Boolean)).toEqual(['a', 'b', 'c', 'd']);
  });

  it("stay pending although the tool's approval rule changes meanwhile", async () => {
    let isStrict = true;
    host.jackdaw.app.get(ToolRegistry, { strict: false }).register({
      name: 'moody',
      description: 'Changes its mind.',
      approval: () => isStrict,
      handler: () => void host.tools.done.push('moody'),
    });
    const run = await host.ask(pay('a'), { id: 'b', name: 'moody', arguments: {} });
    const [, moody] = await run.requests();
    isStrict = false;
    const events = await run.after('approve', { callId: 'a' });
    expect(events.at(-1)?.data['requests']).toEqual([moody]);
    expect(host.tools.done).toEqual(['pay a 5']);
    await run.after('deny');
    expect(host.tools.done).toEqual(['pay a 5']);
  });

  it('are approved together if the request names no call', async () => {
    const run = await host.ask(pay('a'), pay('b'));
    expect(decisionsIn(await run.after('approve'))).toHaveLength(2);
    expect(host.tools.done.toSorted()).toEqual(['pay a 5', 'pay b 5']);
  });
});

describe('an unexpected answer', () => {
  it("is refused with 409 and the run's status, permanently for a finished run", async () => {
    const run = await host.ask(pay('bob'));
    await run.after('approve');
    const again = await run.decide('approve');
    expect([again.status, again.body]).toMatchObject([
      409,
      { code: 'RUN_NOT_WAITING', run_status: 'completed', is_retryable: false },
    ]);
    expect(host.tools.done).toEqual(['pay bob 5']);
  });

  it('is refused with 409 and the pending requests if the run waits for another answer', async () => {
    const run = await host.ask(pay('bob'));
    await run.requests();
    const answers = [
      await run.decide('input', { value: 1 }),
      await run.decide('settle', { outcome: 'retry' }),
      await run.decide('approve', { callId: 'eve' }),
    ];
    for (const { status, body } of answers) {
      expect([status, body]).toMatchObject([
        409,
        { code: 'RUN_NOT_WAITING', run_status: 'waiting', waiting: [{ call_id: 'bob', kind: 'approval' }] },
      ]);
    }
  });

  it('is accepted once if many arrive at the same time', async () => {
    const run = await host.ask(pay('bob'));
    await run.requests();
    const verdicts = ['approve', 'deny', 'approve', 'deny'] as const;
    const answers = await Promise.all(verdicts.map((verdict) => run.decide(verdict)));
    const events = await run.events();
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([202, 409, 409, 409]);
    const codes = new Set(answers.filter(({ status }) => status === 409).map(({ body }) => String(body['code'])));
    expect([...codes]).toEqual(['RUN_NOT_WAITING']);
    const [decided, ...more] = decisionsIn(events);
    expect([more, host.tools.done]).toEqual([[], decided?.['decision'] === 'approved' ? ['pay bob 5'] : []]);
    await expectPairs(host.jackdaw, host.session);
  });

  it.each([
    ['approve', { arguments: [1] }, 'arguments'],
    ['approve', { callID: 'x' }, 'callID'],
    ['deny', { reason: null }, 'reason'],
    ['deny', { reason: 'x'.repeat(10_001) }, 'reason'],
    ['input', {}, 'value'],
    ['settle', {}, 'outcome'],
    ['settle', { outcome: 'maybe' }, 'outcome'],
    ['settle', { outcome: 'failed', error: 7 }, 'error'],
  ] as const)('is refused with 400 if it is invalid: %s %j', async (what, body, field) => {
    const { status, body: problem } = await host.jackdaw.post(`/api/runs/any/${what}`, body);
    const errors = problem['errors'] as unknown as { field: string }[];
    expect([status, [...new Set(errors.map((error) => error.field))]]).toEqual([400, [field]]);
  });
});

describe('a waiting run', () => {
  it.each([
    ['approval', pay('bob'), /^Not executed.*cancelled/],
    ['input', choose('bob'), /^Not executed.*cancelled/],
  ])('closes its turn when it is cancelled while it waits for %s', async (_kind, call, error) => {
    const run = await host.ask(call, look('y'));
    const events = await run.after('cancel');
    expect(events.map(({ event }) => event)).toEqual(['run.resumed', 'tool.completed', 'run.cancelled']);
    expect(resultsIn(events)).toEqual({ bob: ['TOOL_CANCELLED', expect.stringMatching(error)] });
    await expectPairs(host.jackdaw, host.session);
    expect(host.tools.done).toEqual(['look y']);
  });

  it('ends the stream of its chat, and its event stream continues after the answer', async () => {
    host.llm.reply({ calls: [pay('bob')] }, { text: 'the end' });
    const stream = await host.jackdaw.stream({ query: 'go', sessionId: 'streamed' });
    const all = await stream.all();
    expect(all.at(-1)).toMatchObject({ event: 'run.waiting', data: { reason: 'approval' } });
    const runId = String(stream.headers['x-run-id']);
    await host.jackdaw.post(`/api/runs/${runId}/approve`);
    const rest = await (await host.jackdaw.follow(runId, all.at(-1)!.id!)).all();
    expect([rest[0]?.event, rest.at(-1)?.event]).toEqual(['policy.decided', 'run.completed']);
    const ids = [...all, ...rest].flatMap(({ id }) => id ?? []);
    expect(ids).toEqual(ids.map((_, i) => i + 1));
    await expectPairs(host.jackdaw, 'streamed');
  });
});
