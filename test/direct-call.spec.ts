import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ToolRegistry } from '../src/tool/index.js';
import { Tool, type ToolContext } from '../src/tool/method/index.js';
import { keyHolder } from './support/api-keys.js';
import { FakeLlm } from './support/fake-llm.js';
import { newFolder, startJackdaw, type Answer, type Jackdaw } from './support/jackdaw.js';
import { beginHeldCall, callTool } from './support/direct-calls.js';
import { WaitingRun } from './support/waiting-run.js';
import { WaitingTools } from './support/waiting.tool.js';

const ANN = keyHolder('ann', 'a', 'user');
const BOB = keyHolder('bob', 'b', 'user');

/** Returns its call's context: principal, agent, session and idempotency key. */
class ProbeTools {
  @Tool({ description: 'Reports.', effect: 'read', input: z.object({ say: z.string().optional() }) })
  probe(input: { say?: string }, context: ToolContext): unknown {
    const { principal, agent, sessionId, runId, key } = context;
    return { input, by: principal.id, agent, session: sessionId, isKeyOfRun: key === `${runId}:tool:1:1` };
  }

  @Tool({ description: 'Breaks.', effect: 'read', input: z.object({}) })
  broken(): never {
    throw new Error('the other side is away');
  }
}

let llm: FakeLlm;
let jackdaw: Jackdaw;
const tools = new WaitingTools();

beforeAll(async () => {
  llm = await FakeLlm.start();
  jackdaw = await startJackdaw({
    llm,
    tools: [tools, new ProbeTools()],
    env: { API_KEYS: `${ANN.entry},${BOB.entry}` },
  });
});
afterEach(() => {
  llm.reset();
  tools.done.length = 0;
  tools.isHolding = false;
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

function call(tool: string, body: unknown = {}, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return callTool(jackdaw, tool, body, { ...ANN.headers, ...headers });
}

async function waitingCall(tool: string, args: Readonly<Record<string, unknown>>): Promise<WaitingRun> {
  const { status, body } = await call(tool, { arguments: args });
  expect([status, body['status'], body['success']]).toEqual([202, 'waiting', undefined]);
  return new WaitingRun(jackdaw, String(body['run_id']), ANN.headers);
}

describe('a direct call', () => {
  it('returns the tool result without a model request', async () => {
    const answer = await call('probe', { arguments: { say: 'hi\u0000 ‮ \ud83d\ude00' } });
    expect([answer.status, answer.headers.get('location')]).toEqual([200, `/api/runs/${answer.body['run_id']}`]);
    expect(answer.body).toEqual({
      run_id: expect.any(String),
      session_id: null,
      tool: 'probe',
      status: 'completed',
      success: true,
      result: { input: { say: 'hi\u0000 ‮ \ud83d\ude00' }, by: 'ann', agent: null, session: null, isKeyOfRun: true },
      execution_time_ms: expect.any(Number),
    });
    expect(llm.requests).toHaveLength(0);
  });

  it('is a run that callers can list, read and follow', async () => {
    const { body } = await call('look', { arguments: { text: 'it' } });
    const id = String(body['run_id']);
    const run = await jackdaw.get(`/api/runs/${id}`, ANN.headers);
    expect(run.body).toMatchObject({
      agent: 'tool:look',
      status: 'completed',
      is_complete: true,
      finish_reason: 'stop',
      result: 'seen it',
      output: 'seen it',
      iterations: 0,
      tool_results: [{ tool: 'look', success: true, result: 'seen it' }],
    });
    const events = await (await jackdaw.follow(id, undefined, ANN.headers)).all();
    expect(events.map(({ event, id: n }) => [event, n])).toEqual([
      ['run.started', 1],
      ['tool.started', 2],
      ['tool.completed', 3],
      ['run.completed', 4],
    ]);
    const listed = await jackdaw.get('/api/runs?agent=tool:look', ANN.headers);
    expect(listed.body['runs']).toMatchObject([{ run_id: id, status: 'completed' }]);
  });

  it.each([
    ['of another tenant', BOB.headers, 404],
    ['of the same tenant', ANN.headers, 200],
  ])('is visible to callers %s', async (_case, headers, status) => {
    const { body } = await call('look', { arguments: { text: 'it' } });
    expect((await jackdaw.get(`/api/runs/${body['run_id']}`, headers)).status).toBe(status);
  });

  it('answers a tool failure with the error and a failed run', async () => {
    const answer = await call('broken');
    expect([answer.status, answer.body]).toMatchObject([
      200,
      { status: 'failed', success: false, error: 'the other side is away', code: 'TOOL_FAILED' },
    ]);
    expect(answer.body).not.toHaveProperty('result');
    const { body } = await jackdaw.get(`/api/runs/${answer.body['run_id']}`, ANN.headers);
    expect(body).toMatchObject({ status: 'failed', finish_reason: 'error', error: { code: 'TOOL_FAILED' } });
  });

  it.each<[string, string, unknown, number, string]>([
    ['an unknown tool', 'nothing', {}, 404, 'TOOL_NOT_FOUND'],
    ['a missing argument', 'look', { arguments: {} }, 400, 'TOOL_INVALID_ARGUMENTS'],
    ['an ill-typed argument', 'look', { arguments: { text: 7 } }, 400, 'TOOL_INVALID_ARGUMENTS'],
    ['an unknown argument', 'look', { arguments: { text: 'x', txt: 'y' } }, 400, 'TOOL_INVALID_ARGUMENTS'],
    ['arguments that are a list', 'look', { arguments: [] }, 400, 'VALIDATION_FAILED'],
    ['an unknown field', 'look', { args: {} }, 400, 'VALIDATION_FAILED'],
    ['an unknown session', 'look', { arguments: { text: 'x' }, sessionId: 'nowhere' }, 404, 'SESSION_NOT_FOUND'],
    ['an invalid session id', 'look', { arguments: { text: 'x' }, sessionId: 'a b' }, 400, 'VALIDATION_FAILED'],
    ['a deadline of 0 ms', 'look', { arguments: { text: 'x' }, deadlineMs: 0 }, 400, 'VALIDATION_FAILED'],
  ])('refuses an invalid request before it starts a run: %s', async (_case, tool, body, status, code) => {
    const before = (await jackdaw.get('/api/runs', ANN.headers)).text;
    const answer = await call(tool, body);
    expect([answer.status, answer.body['code'], tools.done]).toEqual([status, code, []]);
    expect((await jackdaw.get('/api/runs', ANN.headers)).text).toBe(before);
  });

  it('names each invalid argument', async () => {
    const { body } = await call('look', { arguments: { text: 7 } });
    expect(body['errors']).toEqual([
      { field: 'arguments.text', message: '"text" must be string, got number', rule: 'type', got: 'number' },
    ]);
  });

  it('replays the outcome for a repeated Idempotency-Key although the tool is gone', async () => {
    const registry = jackdaw.app.get(ToolRegistry, { strict: false });
    registry.register({ name: 'passing', description: 'Goes away.', handler: () => 'done' });
    const key = { 'idempotency-key': 'of-a-tool-that-goes' };
    const { body } = await call('passing', {}, key);
    registry.unregister('passing');
    const again = await call('passing', {}, key);
    expect([again.status, again.body]).toEqual([200, body]);
    expect((await call('passing')).status).toBe(404);
  });

  it('calls the tool once for one Idempotency-Key', async () => {
    const key = { 'idempotency-key': 'once-only' };
    const first = await call('send', { arguments: { text: 'a' } }, key);
    const second = await call('send', { arguments: { text: 'a' } }, key);
    expect([second.body['run_id'], second.body['result'], tools.done]).toEqual([
      first.body['run_id'],
      'sent a',
      ['send a'],
    ]);
    expect([first, second].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true']);
    const other = await call('send', { arguments: { text: 'b' } }, key);
    expect([other.status, other.body['code']]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
  });
});

describe('a direct call in a session', () => {
  it('knows its session and leaves the history unchanged', async () => {
    llm.reply({ text: 'hello' });
    await jackdaw.chat({ query: 'hi', sessionId: 'talk' }, ANN.headers);
    const before = await jackdaw.messages('talk', ANN.headers);
    const { body } = await call('probe', { sessionId: 'talk' });
    expect(body).toMatchObject({ session_id: 'talk', result: { session: 'talk' } });
    expect(await jackdaw.messages('talk', ANN.headers)).toEqual(before);
    llm.reply({ text: 'again' });
    expect((await jackdaw.chat({ query: 'and?', sessionId: 'talk' }, ANN.headers)).body['result']).toBe('again');
  });

  it('cannot use a session of another tenant', async () => {
    llm.reply({ text: 'hello' });
    await jackdaw.chat({ query: 'hi', sessionId: 'of-bob' }, BOB.headers);
    const answer = await call('probe', { sessionId: 'of-bob' });
    expect([answer.status, answer.body['code']]).toEqual([404, 'SESSION_NOT_FOUND']);
  });

  it('is refused with 409 while the session waits, and occupies the session while it waits itself', async () => {
    llm.reply({ text: 'hello' });
    await jackdaw.chat({ query: 'hi', sessionId: 'busy' }, ANN.headers);
    const waiting = await call('pay', { arguments: { to: 'x', amount: 1 }, sessionId: 'busy' });
    expect(waiting.status).toBe(202);
    for (const next of [
      await call('look', { arguments: { text: 'x' }, sessionId: 'busy' }),
      await jackdaw.chat({ query: 'hi', sessionId: 'busy' }, ANN.headers),
    ]) {
      expect([next.status, next.body['code'], next.body['run_id']]).toEqual([
        409,
        'SESSION_BUSY',
        waiting.body['run_id'],
      ]);
    }
    await new WaitingRun(jackdaw, String(waiting.body['run_id']), ANN.headers).after('deny');
    expect((await call('look', { arguments: { text: 'x' }, sessionId: 'busy' })).status).toBe(200);
  });
});

describe('a direct call that needs a human decision', () => {
  it('calls the tool after approval, with the arguments of the approval', async () => {
    const run = await waitingCall('pay', { to: 'bob', amount: 5 });
    expect(await run.requests()).toMatchObject([{ id: 'approval:1:1', tool: 'pay', expires_at: expect.any(Number) }]);
    expect(tools.done).toEqual([]);
    const events = await run.after('approve', { arguments: { to: 'bob', amount: 3 } });
    expect(events.at(-1)).toMatchObject({ event: 'run.completed', data: { output: 'paid 3 to bob' } });
    expect(tools.done).toEqual(['pay bob 3']);
    expect((await run.answer())['status']).toBe('completed');
  });

  it('does not call the tool after a denial', async () => {
    const run = await waitingCall('pay', { to: 'bob', amount: 5 });
    const events = await run.after('deny', { reason: 'too much' });
    expect(events.at(-1)).toMatchObject({
      event: 'run.failed',
      data: { error: { code: 'TOOL_DENIED', message: 'Denied by ann: too much' } },
    });
    expect(tools.done).toEqual([]);
  });

  it('resumes with the answer to its question', async () => {
    const run = await waitingCall('choose', { text: 'rome' });
    expect((await run.decide('input', { value: 'XX9' })).status).toBe(400);
    const events = await run.after('input', { value: 'LH1' });
    expect(events.at(-1)).toMatchObject({ event: 'run.completed', data: { result: 'rome: LH1, says ann' } });
  });

  it('can be cancelled while it waits', async () => {
    const run = await waitingCall('pay', { to: 'bob', amount: 5 });
    const events = await run.after('cancel');
    expect(events.map(({ event }) => event)).toEqual(['run.resumed', 'tool.completed', 'run.cancelled']);
    expect([(await run.answer())['status'], tools.done]).toEqual(['cancelled', []]);
  });
});

describe('a direct call in progress', () => {
  it('is stopped by a cancel', async () => {
    const { answered, id } = await beginHeldCall(jackdaw, tools, 'send', { text: 'c' }, ANN.headers);
    expect((await jackdaw.post(`/api/runs/${id}/cancel`, undefined, ANN.headers)).status).toBe(202);
    const { status, body } = await answered;
    expect([status, body]).toMatchObject([200, { status: 'cancelled', success: false, code: 'RUN_CANCELLED' }]);
    expect(body['error']).toContain('It may have taken effect all the same');
  });

  it('is stopped by its deadline', async () => {
    tools.isHolding = true;
    const { status, body } = await call('send', { arguments: { text: 'd' }, deadlineMs: 300 });
    expect([status, body]).toMatchObject([200, { status: 'failed', success: false, code: 'RUN_TIMEOUT' }]);
  });
});

describe('a direct call that a server stop interrupts', () => {
  it('resumes at the next start: a call that must not repeat waits for settlement', async () => {
    const folder = newFolder();
    const start = () => startJackdaw({ llm, tools: [tools], dataDir: folder });
    const first = await start();
    const { answered } = await beginHeldCall(first, tools, 'send', { text: 'e' });
    const stopped = first.stop();
    const { body } = await answered;
    await stopped;
    expect(body).toMatchObject({ status: 'queued', tool: 'send' });
    tools.isHolding = false;
    const second = await start();
    const run = new WaitingRun(second, String(body['run_id']));
    expect(await run.requests()).toMatchObject([{ id: 'settle:1:1', kind: 'outcome_unknown', tool: 'send' }]);
    const events = await run.after('settle', { outcome: 'succeeded', result: { number: 7 } });
    expect(events.at(-1)).toMatchObject({ event: 'run.completed', data: { output: { number: 7 } } });
    expect(tools.done).toEqual(['send e']);
    await second.stop();
  });
});
