import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { rmSync } from 'node:fs';
import { Tool } from '../src/tool/method/index.js';
import { FakeLlm } from './support/fake-llm.js';
import type { FakeRequest } from './support/fake-llm.types.js';
import { byTurn } from './support/forks.js';
import { anthropicFaults, openAiFaults } from './support/history-rules.js';
import { gate, newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { openDatabase } from './support/run-host.js';

class Library {
  @Tool({
    description: 'Reads a text.',
    effect: 'read',
    input: { type: 'object', properties: { length: { type: 'integer' } } },
  })
  async read({ length }: { length: number }): Promise<string> {
    return `START ${'lorem ipsum '.repeat(length / 12)}END`;
  }
}

const read = (id: string, length: number) => ({ id, name: 'read', arguments: { length } });
const past = ({ messages }: FakeRequest) => messages.slice(1, -1);
const isSummary = ({ messages }: FakeRequest) => String(messages[0]?.content).startsWith('You keep the memory');
/** An upper bound of the token count by any tokenizer. */
const charactersOf = (messages: FakeRequest['messages']) =>
  messages.reduce((sum, { content, tool_calls }) => sum + JSON.stringify([content, tool_calls]).length, 0);

let llm: FakeLlm;
let jackdaw: Jackdaw;
beforeAll(async () => void (llm = await FakeLlm.start()));
afterEach(() => jackdaw.stop());
afterAll(() => llm.close());

const start = async (env: Record<string, string> = {}, dataDir?: string) => {
  jackdaw = await startJackdaw({
    llm,
    tools: [new Library()],
    env: { LLM_MODEL: 'unknown-model', AGENT_MAX_ITERATIONS: '20', ...env },
    ...(dataDir !== undefined && { dataDir }),
  });
};
const chat = (query: string, more: object = {}) => jackdaw.chat({ query, sessionId: 's', ...more });

/** Runs a first turn with this number of call rounds, then a second question. */
async function twoTurns(rounds: number, calls: number, length: number, pasted = '') {
  llm.reset();
  const replies = Array.from({ length: rounds }, (_, round) => ({
    calls: Array.from({ length: calls }, (_one, call) => read(`c${round}_${call}`, length)),
  }));
  const script = byTurn(...replies, { text: 'ANSWER-ONE' });
  llm.always((request) => {
    if (isSummary(request)) return { text: 'They talked.' };
    return request.messages.at(-1)?.content === 'SECOND' ? { text: 'two' } : script(request);
  });
  await chat(`FIRST ${pasted}`);
  const { body } = await chat('SECOND');
  return body['memory_state'] as unknown as Record<string, unknown>;
}

describe.each(['sliding_window', 'fixed_window', 'lru', 'token_budget', 'summary'])(
  'after a long turn, %s',
  (policy) => {
    it.each<[string, number, number, number, string]>([
      ['a long result', 1, 1, 60_000, ''],
      ['many calls', 8, 7, 600, ''],
      ['a pasted document', 0, 0, 0, 'words and words '.repeat(5000)],
    ])('sends %s shortened, with question and answer, within the budget', async (_, rounds, calls, length, pasted) => {
      await start({ AGENT_MEMORY_POLICY: policy, AGENT_MEMORY_MAX_CONTEXT_TOKENS: '2000' });
      const state = await twoTurns(rounds, calls, length, pasted);
      const seen = past(llm.lastRequest);
      expect(String(seen[0]?.content)).toMatch(/^FIRST/);
      expect(seen.at(-1)).toMatchObject({ role: 'assistant', content: 'ANSWER-ONE' });
      expect([...openAiFaults(llm.lastRequest.messages), ...anthropicFaults(llm.lastRequest.messages)]).toEqual([]);
      expect(state).toMatchObject({ max_context_tokens: 2000, policy, shortened: [{ turn: 1, form: 'shortened' }] });
      expect(state['context_tokens']).toBeLessThanOrEqual(2000);
      expect(state['context_tokens']).toBeGreaterThan(1200);
      expect(charactersOf(seen)).toBeLessThan(2000 * 6);
      // The stored turn is complete.
      const stored = await jackdaw.messages('s');
      expect(stored).toHaveLength(4 + rounds * (calls + 1));
      expect(JSON.stringify(stored)).not.toContain('omitted');
    });
  },
);

describe('the context budget', () => {
  it.each([
    ['gpt-4o', '', 16_000],
    ['gpt-4', '', 2048],
    ['unknown-model', '', 8000],
    ['gpt-4o', 'openai:gpt-4', 2048],
    ['gpt-4o', 'openai:unknown-model', 8000],
  ])('is by default a quarter of the smallest context window: %s, then %s', async (model, fallback, expected) => {
    await start({ LLM_MODEL: model, ...(fallback && { LLM_FALLBACK: fallback }) });
    const state = await twoTurns(0, 0, 0);
    expect(state).toEqual({
      message_count: 2,
      context_tokens: expect.any(Number),
      dropped: 0,
      policy: 'sliding_window',
      max_context_tokens: expected,
    });
    const { body } = await jackdaw.get('/api/agents/default');
    expect(body['memory']).toMatchObject({ max_messages: 200, max_context_tokens: expected });
  });

  it('is that of the model in the request', async () => {
    await start({ LLM_MODEL: 'gpt-4o' });
    llm.reset();
    llm.always({ text: 'ok' });
    await chat('one');
    const { body } = await chat('two', { model: 'gpt-4' });
    expect(body['memory_state']).toMatchObject({ max_context_tokens: 2048 });
  });
});

it('reports which part of each referenced turn the model received', async () => {
  await start({ AGENT_MEMORY_MAX_CONTEXT_TOKENS: '1000' });
  llm.reset();
  llm.always(({ messages }) => {
    const last = messages.at(-1);
    if (last?.role === 'user' && last.content === 'call') return { calls: [read('c', 30_000)] };
    return { text: 'ok' };
  });
  for (const query of ['old', 'pasted '.repeat(2000), 'call', 'newest']) await chat(query);
  const { body } = await chat('now', { references: [1, 2, 3, 4] });
  expect(body['memory_state']).toMatchObject({
    references: [
      { turn: 1, seen: 'dropped' },
      { turn: 2, seen: 'dropped' },
      { turn: 3, seen: 'shortened' },
      { turn: 4, seen: 'whole' },
    ],
    shortened: [{ turn: 3, form: 'question_and_answer', dropped_messages: 2, omitted_characters: 0 }],
  });
});

it('includes the turns to which the question refers, with the policy lru', async () => {
  await start({ AGENT_MEMORY_POLICY: 'lru', AGENT_MEMORY_MAX_MESSAGES: '6' });
  llm.reset();
  llm.always({ text: 'ok' });
  const queries = Array.from({ length: 12 }, (_, at) => `question ${at + 1}`);
  for (const query of queries) await chat(query);
  const { body } = await chat('now', { references: [2, 3, 900] });
  const asked = llm.lastRequest.messages.filter(({ role }) => role === 'user').map(({ content }) => content);
  expect(asked).toEqual(['question 2', 'question 3', 'question 12', 'now']);
  expect(body['memory_state']).toMatchObject({
    references: [
      { turn: 2, seen: 'whole' },
      { turn: 3, seen: 'whole' },
    ],
  });
});

describe('a run that restarts on another node', () => {
  /** Stops the server during the second question's model call. @returns the run and its model request */
  async function interrupt(dataDir: string): Promise<{ runId: string; request: FakeRequest }> {
    const never = gate();
    llm.reset();
    await start({ AGENT_MEMORY_MAX_CONTEXT_TOKENS: '3000' }, dataDir);
    llm.reply({ calls: [read('a', 40_000)] }, { text: 'ANSWER-ONE' }, { text: 'half', gate: never.opened });
    await chat('FIRST');
    const stream = await jackdaw.stream({ query: 'SECOND', sessionId: 's' });
    const request = await llm.waitForRequest(3);
    return { runId: String(stream.headers['x-run-id']), request };
  }

  async function finish(runId: string): Promise<FakeRequest> {
    llm.reply({ text: 'two' });
    // Another limit, as after a configuration change.
    await start({ AGENT_MEMORY_MAX_CONTEXT_TOKENS: '9000' }, jackdaw.dataDir);
    await jackdaw.events(runId);
    return llm.lastRequest;
  }

  it('sends the model the same bytes', async () => {
    const dataDir = newFolder();
    const { runId, request } = await interrupt(dataDir);
    expect(JSON.stringify(past(request))).toContain('characters omitted');
    await jackdaw.stop();
    expect((await finish(runId)).messages).toEqual(request.messages);
    rmSync(dataDir, { recursive: true });
  });

  it('omits the turn if version 1 of the loop recorded the run', async () => {
    const dataDir = newFolder();
    const { runId } = await interrupt(dataDir);
    await jackdaw.stop();
    const opened = await openDatabase({ DATA_DIR: dataDir });
    await opened.database.commit([
      { sql: 'UPDATE run SET loop_version = 1 WHERE id = ?', params: [runId], rows: 1 },
      { sql: 'DELETE FROM run_step WHERE run_id = ?', params: [runId] },
    ]);
    await opened.close();
    expect(past(await finish(runId))).toEqual([]);
    const { body } = await jackdaw.get(`/api/runs/${runId}`);
    expect(body['memory_state']).toEqual({
      message_count: 4,
      context_tokens: 0,
      dropped: 4,
      policy: 'sliding_window',
    });
    rmSync(dataDir, { recursive: true });
  });
});
