import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ToolRegistry } from '../src/tool/index.js';
import { CounterTools, registerCounter } from './support/counter.tool.js';
import { callTool } from './support/direct-calls.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';

const tools = new CounterTools();
let llm: FakeLlm;
let jackdaw: Jackdaw;

beforeAll(async () => {
  llm = await FakeLlm.start();
  jackdaw = await startJackdaw({ llm, tools: [tools] });
  registerCounter(jackdaw.app.get(ToolRegistry));
});
beforeEach(() => {
  llm.reset();
  tools.seen.length = 0;
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

async function newSession(): Promise<string> {
  return String((await jackdaw.post('/api/sessions', {})).body['id']);
}

async function call(tool: string, args: Readonly<Record<string, unknown>> = {}, sessionId?: string): Promise<unknown> {
  const { body } = await callTool(jackdaw, tool, { arguments: args, ...(sessionId && { sessionId }) });
  return body['success'] ? body['result'] : [body['code'], body['error']];
}

function calls(...names: readonly (readonly [string, object])[]) {
  return { calls: names.map(([name, args]) => ({ name, arguments: args as Record<string, unknown> })) };
}

describe('a tool with a state', () => {
  it('finds its earlier state in a session, and nothing in another one', async () => {
    const [one, other] = [await newSession(), await newSession()];
    expect([await call('count', {}, one), await call('count', { by: 5 }, one)]).toEqual([1, 6]);
    expect([await call('count', {}, other), await call('count', {}, one)]).toEqual([1, 7]);
    expect(tools.seen).toEqual([{ count: 0 }, { count: 1 }, { count: 0 }, { count: 6 }]);
  });

  it('changes its state by its return value, which is not in the result', async () => {
    const session = await newSession();
    expect(await call('tally', {}, session)).toEqual({ was: 0 });
    expect(await call('tally', { by: 4 }, session)).toEqual({ was: 1 });
    expect(await call('tally', {}, session)).toEqual({ was: 5 });
  });

  it('may be a function with the state among its arguments', async () => {
    const session = await newSession();
    expect(await call('registered', {}, session)).toEqual({ was: 0 });
    expect(await call('registered', {}, session)).toEqual({ was: 1 });
  });

  it('may be a method with the state among its arguments', async () => {
    const session = await newSession();
    expect(await call('given', {}, session)).toEqual({ was: 0 });
    expect(await call('given', { by: 2 }, session)).toEqual({ was: 1 });
    expect(await call('named', { by: 2 }, session)).toEqual({ was: 0, next: 2, known: true });
    expect(await call('named', { by: 3 }, session)).toEqual({ was: 2, next: 5, known: true });
    expect(await call('named', { by: 3, memory: {} }, session)).toMatchObject(['TOOL_INVALID_ARGUMENTS', undefined]);
  });

  it('loses no change of calls in one reply, which run in sequence', async () => {
    const session = await newSession();
    llm.reply(calls(['count', {}], ['count', { by: 2 }], ['count', { by: 3 }]), { text: 'done' });
    const { body } = await jackdaw.post('/api/agent/chat', {
      query: 'count',
      sessionId: session,
      includeDetails: true,
    });
    expect(body['tool_results']).toMatchObject([{ result: 1 }, { result: 3 }, { result: 6 }]);
    expect(await call('count', {}, session)).toBe(7);
  });

  it('has one for a run without a session, which is deleted with it', async () => {
    expect([await call('count'), await call('count')]).toEqual([1, 1]);
    llm.reply(calls(['count', {}]), calls(['count', {}]), { text: 'done' });
    const { body } = await jackdaw.post('/api/agent/runs', { query: 'count' });
    const events = await (await jackdaw.follow(String(body['run_id']))).all();
    const results = events
      .filter(({ event }) => event === 'tool.completed')
      .map(({ data }) => (data as { result?: unknown }).result);
    expect(results).toEqual([1, 2]);
  });

  it('deletes it with the run if so declared', async () => {
    const session = await newSession();
    for (let round = 0; round < 2; round++) {
      llm.reply(calls(['passing', {}]), calls(['passing', {}]), { text: 'done' });
      const { body } = await jackdaw.post('/api/agent/chat', {
        query: 'count',
        sessionId: session,
        includeDetails: true,
      });
      expect(body['tool_results']).toMatchObject([{ result: 1 }, { result: 2 }]);
    }
  });

  it('stores only explicit saves of a failed call', async () => {
    const session = await newSession();
    expect(await call('breaking', { save: false }, session)).toEqual(['TOOL_FAILED', 'the other side is away']);
    expect(await state(session, 'breaking')).toBeNull();
    await call('breaking', { save: true }, session);
    await call('breaking', { save: false }, session);
    expect(await state(session, 'breaking')).toEqual({ count: 1 });
  });

  it('retains the old state when the new one is too large, and reports it', async () => {
    const session = await newSession();
    expect(await call('fill', { size: 10 }, session)).toBe('filled');
    expect(await call('fill', { size: 100 }, session)).toEqual([
      'TOOL_STATE_TOO_LARGE',
      expect.stringMatching(/^The business state of tool "fill" would have 111 bytes, above the maximum of 100/),
    ]);
    expect(await state(session, 'fill')).toEqual({ text: 'xxxxxxxxxx' });
  });

  it('publishes a state change to followers', async () => {
    const session = await newSession();
    llm.reply(calls(['count', {}], ['stateless', {}]), { text: 'done' });
    const { body } = await jackdaw.post('/api/agent/runs', { query: 'count', sessionId: session });
    const events = await (await jackdaw.follow(String(body['run_id']))).all();
    expect(events.filter(({ event }) => event === 'state.changed').map(({ data }) => data)).toMatchObject([
      { tool: 'count', iteration: 1, context_id: expect.stringMatching(/^ctx_/) },
    ]);
  });
});

it('leaves a stateless tool alone', async () => {
  expect(await call('stateless')).toEqual({ state: { stored: false }, has: false });
});

async function state(session: string, tool: string): Promise<unknown> {
  const { ToolStates, contextIdOf } = await import('../src/tool-state/index.js');
  const manager = await jackdaw.app.get(ToolStates).managerOf(jackdaw.app.get(ToolRegistry).get(tool));
  const entry = await manager.getState(contextIdOf({ tenant: 'default', session, tool }), 'business');
  return entry && entry.data;
}
