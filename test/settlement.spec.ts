import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rmSync } from 'node:fs';
import { FakeLlm } from './support/fake-llm.js';
import type { FakeReply, FakeRequest } from './support/fake-llm.types.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { beginHeld, decisionsIn, expectPairs, resultsIn, WaitingRun } from './support/waiting-run.js';
import { WaitingTools } from './support/waiting.tool.js';

const MAX_RESULT_BYTES = 200;
const tools = new WaitingTools();
const folder = newFolder();
const runs = new Map<string, WaitingRun>();
let llm: FakeLlm;
let jackdaw: Jackdaw;

/** Calls the tool that the user's first word names; the second one is its text. */
function reply({ messages }: FakeRequest): FakeReply {
  if (messages.at(-1)?.role === 'tool') return { text: 'the end' };
  const [name = '', text = ''] = String(messages.at(-1)?.content).split(' ');
  return { calls: [{ id: text, name, arguments: { text } }] };
}

function start(): Promise<Jackdaw> {
  const limits = { maxResultBytes: MAX_RESULT_BYTES };
  const agents = [{ name: 'default', model: { provider: 'openai' }, limits }];
  return startJackdaw({ llm, tools: [tools], options: { agents }, dataDir: folder });
}

/** Interrupts a call in each of these sessions; the text of the call is the session's name. */
async function cutOff(tool: string, sessions: readonly string[]): Promise<void> {
  for (const session of sessions) {
    const run = await beginHeld(jackdaw, tools, { query: `${tool} ${session}`, sessionId: session });
    runs.set(session, run);
  }
}

async function restart(): Promise<void> {
  await jackdaw.stop();
  tools.isHolding = false;
  jackdaw = await start();
}

function runIn(session: string): WaitingRun {
  return runs.get(session)!.on(jackdaw);
}

function doneIn(session: string): number {
  return tools.done.filter((deed) => deed.endsWith(` ${session}`)).length;
}

const ANSWERED: Readonly<Record<string, () => unknown>> = {
  happened: () => ({ outcome: 'succeeded', result: { number: 7 } }),
  failed: () => Promise.resolve({ outcome: 'failed', error: 'the other side refused it' }),
  'not-happened': () => ({ outcome: 'not_happened' }),
};
const UNANSWERED: Readonly<Record<string, () => unknown>> = {
  unknown: () => ({ outcome: 'unknown' }),
  throws: () => {
    throw new Error('the other side is away');
  },
  rejects: () => Promise.reject(new Error('the other side is away')),
  nonsense: () => ({ outcome: 'maybe' }),
  'no-error': () => ({ outcome: 'failed' }),
  nothing: () => undefined,
};

beforeAll(async () => {
  llm = await FakeLlm.start();
  llm.always(reply);
  for (const [session, answer] of Object.entries({ ...ANSWERED, ...UNANSWERED })) {
    tools.reconciliations.set(session, answer);
  }
  jackdaw = await start();
  await cutOff('send', ['seen', 'long', 'unseen', 'failing', 'lost', 'twice', 'checked']);
  await cutOff('post', [...Object.keys(ANSWERED), ...Object.keys(UNANSWERED)]);
  await restart();
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
  rmSync(folder, { recursive: true });
});

describe('a call that was cut off and must not be repeated', () => {
  it('waits with its request, and is not executed again', async () => {
    const run = runIn('seen');
    expect(await run.requests()).toEqual([
      {
        id: 'settle:1:1',
        kind: 'outcome_unknown',
        step: 'tool:1:1',
        call_id: 'seen',
        tool: 'send',
        arguments: '{"text":"seen"}',
        reason: expect.stringMatching(/outcome was not recorded/),
        expires_at: expect.any(Number),
      },
    ]);
    expect(doneIn('seen')).toBe(1);
  });

  it('completes with the result that a person has seen', async () => {
    const run = runIn('seen');
    const events = await run.after('settle', { outcome: 'succeeded', result: { number: 7 } });
    expect(decisionsIn(events)).toEqual([
      { request_id: 'settle:1:1', call_id: 'seen', tool: 'send', decision: 'settled', by: 'local' },
    ]);
    expect([resultsIn(events), doneIn('seen')]).toEqual([{ seen: { number: 7 } }, 1]);
    expect(events.map(({ event }) => event)).not.toContain('tool.started');
    expect((await expectPairs(jackdaw, 'seen')).at(-2)).toMatchObject({ role: 'tool', content: '{"number":7}' });
  });

  it('limits the size of a settled result like that of any other', async () => {
    const events = await runIn('long').after('settle', { outcome: 'succeeded', result: 'x'.repeat(1000) });
    expect(resultsIn(events)['long']).toBe(
      `${'x'.repeat(MAX_RESULT_BYTES)}… [cut: ${MAX_RESULT_BYTES} of 1000 bytes shown]`,
    );
  });

  it('completes with the error that a person has seen', async () => {
    const events = await runIn('unseen').after('settle', { outcome: 'failed' });
    expect([resultsIn(events), doneIn('unseen')]).toEqual([{ unseen: ['TOOL_FAILED', 'It failed, says "local".'] }, 1]);
    await expectPairs(jackdaw, 'unseen');
    const long = await runIn('failing').after('settle', { outcome: 'failed', error: 'x'.repeat(1000) });
    expect(resultsIn(long)['failing']).toEqual(['TOOL_FAILED', expect.stringMatching(/^x{200}… \[cut: 200 of 1000/)]);
  });

  it('is executed again when a person settles it with "retry"', async () => {
    const events = await runIn('lost').after('settle', { outcome: 'retry' });
    expect([resultsIn(events), doneIn('lost')]).toEqual([{ lost: 'sent lost' }, 2]);
    await expectPairs(jackdaw, 'lost');
  });

  it.each([
    [{ outcome: 'retry', result: 1 }, 'result'],
    [{ outcome: 'failed', result: null }, 'result'],
    [{ outcome: 'succeeded', error: 'x' }, 'error'],
  ])('rejects a contradictory settlement: %j', async (body, field) => {
    const run = runIn('checked');
    const answer = await run.decide('settle', body);
    expect([answer.status, answer.body['errors']]).toMatchObject([400, [{ field }]]);
    expect((await run.answer())['status']).toBe('waiting');
  });

  it('waits again when it is interrupted again', async () => {
    tools.isHolding = true;
    const arrived = tools.arrived();
    expect((await runIn('twice').decide('settle', { outcome: 'retry' })).status).toBe(202);
    await arrived;
    await restart();
    const run = runIn('twice');
    expect(await run.requests()).toMatchObject([{ id: 'settle:1:1:r2', step: 'tool:1:1' }]);
    const events = await run.after('settle', { outcome: 'retry' });
    expect([resultsIn(events), doneIn('twice')]).toEqual([{ twice: 'sent twice' }, 3]);
    await expectPairs(jackdaw, 'twice');
  });
});

describe('a tool that can reconcile', () => {
  it.each([
    ['happened', { number: 7 }, 1],
    ['failed', ['TOOL_FAILED', 'the other side refused it'], 1],
    ['not-happened', 'sent not-happened', 2],
  ])('settles the call itself: %s', async (session, result, times) => {
    const run = runIn(session);
    const events = await run.events();
    expect(events.at(-1)?.event).toBe('run.completed');
    expect([resultsIn(events)[session], doneIn(session)]).toEqual([result, times]);
    expect(tools.reconciled).toContain(`${run.id}:tool:1:1`);
    await expectPairs(jackdaw, session);
  });

  it.each(Object.keys(UNANSWERED))('leaves an unknown outcome to a person: %s', async (session) => {
    const run = runIn(session);
    expect(await run.requests()).toMatchObject([{ kind: 'outcome_unknown', call_id: session }]);
    const events = await run.after('settle', { outcome: 'succeeded', result: 'people know' });
    expect([resultsIn(events), doneIn(session)]).toEqual([{ [session]: 'people know' }, 1]);
  });
});
