import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { suspend, ToolRegistry } from '../src/tool/index.js';
import { choose, MODEL, pay, WaitingHost } from './support/waiting-host.js';
import { callOf, decisionsIn, expectPairs, resultsIn, WaitingRun } from './support/waiting-run.js';

let host: WaitingHost;
beforeAll(async () => {
  host = await WaitingHost.start([{ name: 'hasty', model: MODEL, waiting: { expiresMs: 40 } }]);
});
afterEach(() => host.reset());
afterAll(() => host.stop());

describe('a question of a tool', () => {
  it('waits for an answer that fits its schema, and the tool receives it with the person’s id', async () => {
    const run = await host.ask(choose('Oslo'));
    expect(await run.requests()).toEqual([
      {
        id: 'input:1:1',
        kind: 'input',
        step: 'tool:1:1',
        call_id: 'Oslo',
        tool: 'choose',
        arguments: '{"text":"Oslo"}',
        question: 'Which one for Oslo?',
        schema: { enum: ['LH1', 'KL2'] },
        expires_at: expect.any(Number),
      },
    ]);
    const wrong = await run.decide('input', { value: 'BA3' });
    expect([wrong.status, wrong.body['errors']]).toEqual([
      400,
      [{ field: 'value', message: '"value" must be one of "LH1", "KL2", got "BA3"', rule: 'enum', got: 'string' }],
    ]);
    const events = await run.after('input', { value: 'KL2' });
    expect(decisionsIn(events)).toEqual([
      { request_id: 'input:1:1', call_id: 'Oslo', tool: 'choose', decision: 'answered', by: 'local' },
    ]);
    expect(resultsIn(events)).toEqual({ Oslo: 'Oslo: KL2, says local' });
    await expectPairs(host.jackdaw, host.session);
  });

  it('may be repeated with its own deadline, and accepts any JSON without a schema', async () => {
    const run = await host.ask(callOf('hurry', { text: 'x' }));
    const [first] = await run.requests();
    expect(first!.expires_at! - Date.now()).toBeLessThanOrEqual(60_000);
    const again = await run.after('input', { value: null });
    expect(again.at(-1)?.data['requests']).toMatchObject([{ id: 'input:1:1:r2', question: 'Sure?' }]);
    await run.after('input', { value: { deep: [1] } });
    const last = await run.after('input', { value: 'sure' });
    expect([host.tools.done, resultsIn(last)]).toEqual([['hurry x'], { x: 'hurried' }]);
    await expectPairs(host.jackdaw, host.session);
  });
});

describe('the answer of a person', () => {
  it('reaches the tool unchanged, whatever its keys are called', async () => {
    const value = { nested: [{ toString: 1, hasOwnProperty: null }], text: '🐦 \u0000' };
    const seen: unknown[] = [];
    host.jackdaw.app.get(ToolRegistry, { strict: false }).register({
      name: 'listen',
      description: 'Listens.',
      effect: 'read',
      handler: (_args: unknown, { answer }) => (answer ? void seen.push(answer) : suspend({ question: 'Well?' })),
    });
    const run = await host.ask({ id: 'l', name: 'listen', arguments: {} });
    await run.after('input', { value });
    expect(seen).toEqual([{ value, by: 'local' }]);
  });
});

describe('a missing answer', () => {
  it.each([
    ['approval', pay('bob'), 'Not executed: the approval request expired.'],
    ['input', choose('bob'), 'Not completed: the question of the tool expired without an answer.'],
  ])('is reported to the model at its deadline, and the run resumes: to an %s', async (_kind, call, error) => {
    host.llm.reply({ calls: [call] }, { text: 'the end' });

    const stream = await host.jackdaw.stream({ query: 'go', sessionId: host.session, agent: 'hasty' });
    const run = new WaitingRun(host.jackdaw, String(stream.headers['x-run-id']));
    await stream.all();
    await host.llm.waitForRequest(2);
    const events = await run.events();
    expect(events.at(-1)?.event).toBe('run.completed');
    expect(decisionsIn(events)).toMatchObject([{ decision: 'expired', by: null }]);
    expect([host.tools.done, resultsIn(events)]).toEqual([[], { bob: ['TOOL_EXPIRED', error] }]);
    expect((await run.decide('approve')).status).toBe(409);
    await expectPairs(host.jackdaw, host.session);
  });

  it.each([
    ['approval', pay('bob')],
    ['input', choose('bob')],
  ])('is awaited until the deadline of the run at most, which then ends: to an %s', async (_kind, call) => {
    host.script(call);
    const body = { query: 'go', sessionId: host.session, deadlineMs: 1500 };
    const accepted = await host.jackdaw.post('/api/agent/runs', body);
    const run = new WaitingRun(host.jackdaw, String(accepted.body['run_id']));
    let events = await run.events();
    expect(events.at(-1)?.event).toBe('run.waiting');
    while (events.at(-1)?.event !== 'run.failed') events = await run.events();
    expect(events.at(-1)).toMatchObject({ event: 'run.failed', data: { error: { code: 'RUN_TIMEOUT' } } });
    expect([host.tools.done, host.llm.requests.length]).toEqual([[], 1]);
    await expectPairs(host.jackdaw, host.session);
    expect((await host.jackdaw.chat({ query: 'and now?', sessionId: host.session })).status).toBe(200);
  });
});
