import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CounterTools } from './support/counter.tool.js';
import { callTool } from './support/direct-calls.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { callOf } from './support/waiting-run.js';

describe.each(['memory', 'distributed'])('a fork of a run whose tools store state in %s', (manager) => {
  let llm: FakeLlm;
  let jackdaw: Jackdaw;

  beforeAll(async () => {
    llm = await FakeLlm.start();
    jackdaw = await startJackdaw({
      llm,
      tools: [new CounterTools()],
      env: { TOOL_STATE_MANAGER: manager, TOOL_STATE_MAX_VERSIONS: '4' },
    });
  });
  afterAll(async () => {
    await jackdaw.stop();
    await llm.close();
  });

  async function count(sessionId: string, by = 1): Promise<unknown> {
    return (await callTool(jackdaw, 'count', { arguments: { by }, sessionId })).body['result'];
  }

  /** Counts in two iterations by 10 and 100. @returns the run's id */
  async function chat(sessionId: string): Promise<string> {
    for (const by of [10, 100]) llm.reply({ calls: [callOf('count', { by })] });
    llm.reply({ text: 'done' });
    return String((await jackdaw.chat({ query: 'count', sessionId })).body['run_id']);
  }

  /** @returns the results of the fork's calls */
  async function fork(id: string, fromStep: string, sessionId: string): Promise<unknown[]> {
    llm.reply({ calls: [callOf('count', { by: 1000 })] }, { text: 'done' });
    const { status, body } = await jackdaw.post(`/api/runs/${id}/fork`, { fromStep, sessionId });
    expect(status).toBe(202);
    await (await jackdaw.follow(String(body['run_id']))).all();
    const run = await jackdaw.get(`/api/runs/${String(body['run_id'])}`);
    return (run.body['tool_results'] as unknown as { result: unknown }[]).map(({ result }) => result);
  }

  it('has its own copy of the state at its position', async () => {
    await jackdaw.post('/api/sessions', { id: 'one' });
    expect(await count('one')).toBe(1);
    const run = await chat('one');
    expect(await count('one')).toBe(112);
    expect(await fork(run, 'model:2', 'forked-2')).toEqual([11, 1011]);
    expect(await fork(run, 'model:1', 'forked-1')).toEqual([1001]);
    expect(await fork(run, 'model:3', 'forked-3')).toEqual([11, 111, 1111]);
    expect([await count('one'), await count('forked-1'), await count('forked-2')]).toEqual([113, 1002, 1012]);
  });

  it('finds its state in the journal when the version is no longer retained', async () => {
    await jackdaw.post('/api/sessions', { id: 'old' });
    expect(await count('old', 7)).toBe(7);
    const run = await chat('old');
    for (let n = 0; n < 4; n++) await count('old');
    expect(await fork(run, 'model:1', 'from-old')).toEqual([1007]);
  });

  it('starts without a state if there is no earlier state', async () => {
    const run = await chat('fresh');
    expect(await fork(run, 'model:1', 'from-fresh')).toEqual([1000]);
  });

  describe('with the session’s state', () => {
    async function note(sessionId: string, words: string): Promise<unknown> {
      return (await callTool(jackdaw, 'note', { arguments: { words }, sessionId })).body['result'];
    }

    async function chatNoting(sessionId: string, ...words: (string | Record<string, unknown>)[]): Promise<string> {
      for (const one of words) llm.reply({ calls: [callOf('note', typeof one === 'string' ? { words: one } : one)] });
      llm.reply({ text: 'done' });
      return String((await jackdaw.chat({ query: 'note', sessionId })).body['run_id']);
    }

    async function forkTo(sessionId: string, id: string, fromStep: string): Promise<void> {
      llm.reply({ text: 'done' });
      const { body } = await jackdaw.post(`/api/runs/${id}/fork`, { fromStep, sessionId });
      await (await jackdaw.follow(String(body['run_id']))).all();
    }

    /** @returns the state that the fork's next call finds */
    async function found(id: string, fromStep: string, sessionId: string): Promise<unknown> {
      await forkTo(sessionId, id, fromStep);
      return note(sessionId, 'last');
    }

    async function expiryIn(sessionId: string): Promise<number | null | undefined> {
      const { body } = await jackdaw.get(`/api/tool-states?sessionId=${sessionId}`);
      const [{ states }] = body['contexts'] as unknown as [
        { states: { state_type: string; expires_at: number | null }[] },
      ];
      return states.find(({ state_type }) => state_type === 'session')?.expires_at;
    }

    it('has its own copy of the state at its position', async () => {
      await jackdaw.post('/api/sessions', { id: 'noted' });
      await note('noted', 'before');
      const run = await chatNoting('noted', 'first', '', 'third');
      await note('noted', 'after');
      expect(await found(run, 'model:2', 'noted-2')).toEqual({ words: 'first' });
      expect(await found(run, 'model:3', 'noted-3')).toBeNull();
      expect(await found(run, 'model:4', 'noted-4')).toEqual({ words: 'third' });
      expect(await found(run, 'model:1', 'noted-1')).toEqual({ words: 'before' });
      expect(await note('noted', 'x')).toEqual({ words: 'after' });
    });

    it('has a state that has not changed since', async () => {
      await jackdaw.post('/api/sessions', { id: 'stored' });
      await note('stored', 'old');
      const run = await chat('stored');
      expect(await found(run, 'model:2', 'from-stored')).toEqual({ words: 'old' });
    });

    it('has no expired state, and another one with its remaining time', async () => {
      await jackdaw.post('/api/sessions', { id: 'brief' });
      const run = await chatNoting('brief', { words: 'a while', ttlMs: 3_600_000 }, { words: 'a moment', ttlMs: 1 });
      const before = Date.now();
      await forkTo('from-while', run, 'model:2');
      expect(await expiryIn('from-while')).toBeGreaterThan(before);
      expect(await expiryIn('from-while')).toBeLessThanOrEqual(before + 3_600_000);
      expect(await note('from-while', 'x')).toEqual({ words: 'a while' });
      await new Promise((done) => setTimeout(done, 2));
      expect(await found(run, 'model:3', 'from-moment')).toBeNull();
    });
  });

  it('leaves no state when it is refused', async () => {
    const run = await chat('refused');
    await jackdaw.post('/api/sessions', { id: 'taken' });
    const { status } = await jackdaw.post(`/api/runs/${run}/fork`, { fromStep: 'model:3', sessionId: 'taken' });
    expect(status).toBe(409);
    expect(await count('taken')).toBe(1);
  });
});
