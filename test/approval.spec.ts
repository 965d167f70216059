import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { look, MODEL, pay, WaitingHost } from './support/waiting-host.js';
import { callOf, decisionsIn, expectPairs, resultsIn, WaitingRun } from './support/waiting-run.js';

const WEEK_MS = 604_800_000;
const refund = (to: string, amount: number) => callOf('refund', { to, amount });

let host: WaitingHost;
beforeAll(async () => {
  host = await WaitingHost.start([{ name: 'strict', model: MODEL, waiting: { expiresMs: null, onDenied: 'end' } }]);
});
afterEach(() => host.reset());
afterAll(() => host.stop());

describe('a call that needs approval', () => {
  it('waits without an execution and is reported alike by the 202, the events and GET /api/runs/:id', async () => {
    const from = Date.now();
    host.llm.reply({ calls: [pay('bob')] });
    const { status, body } = await host.jackdaw.chat({ query: 'go', sessionId: 'shown' });
    const run = new WaitingRun(host.jackdaw, String(body['run_id']));
    const [request, ...more] = await run.requests();
    expect(more).toEqual([]);
    expect([status, body['waiting']]).toEqual([202, [request]]);
    expect(request).toEqual({
      id: 'approval:1:1',
      kind: 'approval',
      step: 'tool:1:1',
      call_id: 'bob',
      tool: 'pay',
      arguments: '{"to":"bob","amount":5}',
      reason: expect.stringMatching(/needs approval/),
      expires_at: expect.any(Number),
    });
    expect(request!.expires_at! - from - WEEK_MS).toBeGreaterThanOrEqual(0);
    expect(request!.expires_at! - Date.now() - WEEK_MS).toBeLessThanOrEqual(0);
    expect(host.tools.done).toEqual([]);
  });

  it('is executed after its approval, and the journal records the approver', async () => {
    const run = await host.ask(pay('bob'));
    const events = await run.after('approve');
    // Live events reach only clients that are already connected.
    expect(events.flatMap(({ id, event }) => (id === null ? [] : [event]))).toEqual([
      'policy.decided',
      'run.resumed',
      'tool.started',
      'tool.completed',
      'message.completed',
      'usage',
      'run.completed',
    ]);
    expect(decisionsIn(events)).toEqual([
      {
        request_id: 'approval:1:1',
        call_id: 'bob',
        tool: 'pay',
        decision: 'approved',
        by: 'local',
        arguments_edited: false,
      },
    ]);
    expect([host.tools.done, resultsIn(events), host.shown('bob')]).toEqual([
      ['pay bob 5'],
      { bob: 'paid 5 to bob' },
      'paid 5 to bob',
    ]);
    expect(await run.answer()).toMatchObject({ status: 'completed', result: 'the end', is_complete: true });
    expect(await run.answer()).not.toHaveProperty('waiting');
    await expectPairs(host.jackdaw, host.session);
  });

  it('is not executed after a denial: the model gets the denier and the reason, and the run resumes', async () => {
    const run = await host.ask(pay('bob'));
    const events = await run.after('deny', { reason: 'too <b>much</b>' });
    expect(decisionsIn(events)).toMatchObject([{ decision: 'denied', by: 'local', reason: 'too <b>much</b>' }]);
    expect(resultsIn(events)).toEqual({ bob: ['TOOL_DENIED', 'Denied by local: too <b>much</b>'] });
    expect([host.tools.done, host.shown('bob')]).toEqual([[], 'Error: Denied by local: too <b>much</b>']);
    expect(events.map(({ event }) => event)).not.toContain('tool.started');
    expect(await run.answer()).toMatchObject({ status: 'completed', tool_results: [{ success: false }] });
    await expectPairs(host.jackdaw, host.session);
  });

  it('fails the run after a denial if the agent is configured so, despite other pending requests', async () => {
    const run = await host.askAgent('strict', pay('bob'), pay('eve'), look('x'));
    const requests = await run.requests();
    expect(requests.map(({ expires_at }) => expires_at)).toEqual([null, null]);
    const events = await run.after('deny', { callId: 'bob' });
    expect(resultsIn(events)).toEqual({
      bob: ['TOOL_DENIED', 'Denied by local.'],
      eve: ['TOOL_CANCELLED', expect.stringMatching(/^Not executed.*Denied by local/)],
    });
    expect(events.at(-1)).toMatchObject({ event: 'run.failed', data: { error: { code: 'TOOL_DENIED' } } });
    expect(await run.answer()).toMatchObject({ status: 'failed', error: { code: 'TOOL_DENIED' } });
    await expectPairs(host.jackdaw, host.session);
    expect([host.tools.done, host.llm.requests.length]).toEqual([['look x'], 1]);
  });

  it('is requested by a predicate of the validated input, also if the predicate throws', async () => {
    const run = await host.ask(refund('ann', 99), refund('bob', 101), refund('eve', 13), refund('sue', -1));
    expect((await run.requests()).map(({ call_id }) => call_id)).toEqual(['bob', 'eve']);
    expect(host.tools.done).toEqual(['refund ann 99']);
    await run.after('approve');
    expect(host.tools.done.toSorted()).toEqual(['refund ann 99', 'refund bob 101', 'refund eve 13']);
    expect(host.shown('sue')).toMatch(/^Error: Invalid arguments/);
    await expectPairs(host.jackdaw, host.session);
  });

  it('is not requested for a call with invalid arguments', async () => {
    host.llm.reply({ calls: [callOf('pay', { to: 'bob' })] }, { text: 'sorry' });
    expect((await host.jackdaw.chat({ query: 'go' })).body['result']).toBe('sorry');
  });
});

describe('edited arguments', () => {
  it('are validated by the tool and change nothing if they are invalid', async () => {
    const run = await host.ask(pay('bob'));
    const [asked] = await run.requests();
    const answer = await run.decide('approve', { arguments: { to: 'bob', amount: -5, tip: 1 } });
    expect([answer.status, answer.body['code']]).toEqual([400, 'VALIDATION_FAILED']);
    expect(answer.body['detail']).toMatch(/unknown argument "tip".*"amount" must be > 0/);
    expect(answer.body['errors']).toMatchObject([
      { field: 'arguments.tip', rule: 'additionalProperties', got: 'number' },
      { field: 'arguments.amount', rule: 'exclusiveMinimum', got: 'number' },
    ]);
    expect((await run.answer())['waiting']).toEqual([asked]);
    await run.after('approve');
    expect(host.tools.done).toEqual(['pay bob 5']);
  });

  it('apply to one call, which the request must name if several are pending', async () => {
    const run = await host.ask(pay('bob'), pay('eve'));
    const vague = await run.decide('approve', { arguments: { to: 'eve', amount: 1 } });
    expect([vague.status, vague.body['code']]).toEqual([400, 'VALIDATION_FAILED']);
    expect(vague.body['waiting']).toMatchObject([{ call_id: 'bob' }, { call_id: 'eve' }]);
    await run.after('approve', { callId: 'eve', arguments: { to: 'eve', amount: 1 } });
    expect(host.tools.done).toEqual(['pay eve 1']);
    await run.after('approve');
    expect(host.tools.done).toEqual(['pay eve 1', 'pay bob 5']);
    await expectPairs(host.jackdaw, host.session);
  });
});
