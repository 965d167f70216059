import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { CheckedCall } from '../src/tool/index.js';
import { type PolicyDecision, ToolPolicy, ToolPolicyRegistry } from '../src/tool/decision/index.js';
import { tableCells } from './support/markdown-table.js';
import type { FakeReply } from './support/fake-llm.types.js';
import { FakeLlm } from './support/fake-llm.js';
import { newFolder, startJackdaw, type Answer, type Jackdaw } from './support/jackdaw.js';
import { TestTools } from './support/test.tool.js';
import { expectPairs } from './support/waiting-run.js';

const MODEL = { provider: 'openai' };
const CALL = { calls: [{ id: 'c1', name: 'double', arguments: { n: 1 } }] };

/** The replies that cause each outcome, by the table's first column. */
const PROVOKED: Readonly<Record<string, { readonly replies: readonly FakeReply[]; readonly agent?: string }>> = {
  completed: { replies: [{ text: 'done' }] },
  'iteration limit': { replies: [CALL], agent: 'short' },
  length: { replies: [{ text: 'half', calls: CALL.calls, finishReason: 'length' }] },
  filter: { replies: [{ text: 'hm', finishReason: 'content_filter' }] },
  cancelled: { replies: [CALL, { hang: true }] },
  timeout: { replies: [CALL, { hang: true }], agent: 'hasty' },
  'model: bad key': { replies: [{ status: 401, body: { error: { message: 'no such key' } } }] },
  'model: rate limited': { replies: [{ status: 429, headers: { 'retry-after': '7' } }] },
  'model: silent': { replies: [{ hang: true }] },
  'model: no answer': { replies: [{ reset: true }] },
  'model: its error': { replies: [{ status: 500 }] },
  'model: refused': { replies: [{ status: 400, body: { error: { message: 'bad request' } } }] },
  'model: bad reply': { replies: [CALL, { status: 200, body: '<html>not a model</html>' }] },
  'answer: no format': { replies: [{ text: 'a' }, { text: 'b' }, { text: 'c' }], agent: 'formal' },
  'denied by a policy': { replies: [{ calls: [{ id: 'c1', name: 'broken', arguments: {} }] }], agent: 'strict' },
};

class Careful extends ToolPolicy {
  readonly name = 'careful';
  decide({ tool }: CheckedCall): PolicyDecision {
    return tool.definition.name === 'broken' ? { deny: 'it is broken' } : 'allow';
  }
}

interface Row {
  readonly outcome: string;
  readonly status: string;
  readonly http: number;
  readonly code: string | undefined;
  readonly isComplete: boolean;
  readonly finishReason: string | null;
}

function readTable(): Row[] {
  const [, ...rows] = tableCells(readFileSync('docs/run-outcomes.md', 'utf8').split('\n## ')[0]!);
  return rows.map(([outcome = '', status = '', http, code, isComplete, finishReason = '']) => ({
    outcome,
    status,
    http: Number(http),
    code: code === '' ? undefined : code,
    isComplete: isComplete === 'true',
    finishReason: finishReason === 'null' ? null : finishReason,
  }));
}

const ROWS = readTable();

describe('docs/run-outcomes.md', () => {
  let llm: FakeLlm;
  let tools: TestTools;
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    llm = await FakeLlm.start();
    tools = new TestTools();
    const agents = [
      { name: 'default', model: MODEL },
      { name: 'short', model: MODEL, limits: { maxIterations: 1 } },
      { name: 'hasty', model: MODEL, limits: { runTimeoutMs: 300 } },
      { name: 'formal', model: MODEL, responseFormat: 'json' as const },
      { name: 'strict', model: MODEL, waiting: { onDenied: 'end' as const } },
    ];
    jackdaw = await startJackdaw({ llm, tools: [tools], env: { LLM_TIMEOUT_MS: '1500' }, options: { agents } });
    jackdaw.app.get(ToolPolicyRegistry, { strict: false }).register(new Careful());
    // The first question waits for the SDK to be loaded, which must not count against the times below.
    llm.reply({ text: 'ready' });
    await jackdaw.chat({ query: 'ready?' });
    llm.reset();
  });
  afterEach(() => {
    llm.reset();
    tools.called.length = 0;
  });
  afterAll(async () => {
    await jackdaw.stop();
    await llm.close();
  });

  it('has a row for every outcome that a test provokes', () => {
    expect(ROWS.map(({ outcome }) => outcome)).toEqual([...Object.keys(PROVOKED), 'waiting']);
  });

  async function provoke({ outcome }: Row, sessionId: string): Promise<Answer> {
    const { replies, agent } = PROVOKED[outcome]!;
    llm.reply(...replies);
    if (outcome !== 'cancelled') return jackdaw.chat({ query: 'go', sessionId, ...(agent && { agent }) });
    const listening = jackdaw.chat({ query: 'go', sessionId });
    await llm.waitForRequest(2);
    expect((await jackdaw.post(`/api/runs/${tools.runId}/cancel`)).status).toBe(202);
    return listening;
  }

  it.each(ROWS.filter(({ outcome }) => outcome !== 'waiting'))('describes the outcome: $outcome', async (row) => {
    const sessionId = row.outcome.replaceAll(/\W+/g, '-');
    const answer = await provoke(row, sessionId);
    const requests = llm.requests.length;
    expect(answer.status).toBe(row.http);
    expect(answer.body).toMatchObject({
      is_complete: row.isComplete,
      finish_reason: row.finishReason,
      session_id: sessionId,
    });
    expect(answer.body['code']).toBe(row.code);
    const shownStatus = row.status === 'completed' ? undefined : row.status;
    expect(answer.body['status']).toBe(row.code ? row.http : shownStatus);

    const runId = String(answer.body['run_id']);
    const run = await jackdaw.get(`/api/runs/${runId}`);
    expect([run.status, run.body]).toMatchObject([
      200,
      { status: row.status, is_complete: row.isComplete, finish_reason: row.finishReason, session_id: sessionId },
    ]);
    expect((run.body['error'] as { code?: string } | undefined)?.code).toBe(row.code);
    const events = await (await jackdaw.follow(runId)).all();
    expect(events.at(-1)?.event).toBe(`run.${row.status}`);
    await expectPairs(jackdaw, sessionId);
    expect(llm.requests).toHaveLength(requests);
  });

  it('executes no call of a reply that was cut off, nor of the last reply within the limit', async () => {
    llm.reply({ text: 'half', calls: CALL.calls, finishReason: 'length' }).reply(CALL);
    await jackdaw.chat({ query: 'go', sessionId: 'cut' });
    await jackdaw.chat({ query: 'go', sessionId: 'last', agent: 'short' });
    expect(tools.called).toEqual([]);
    expect(await jackdaw.messages('cut')).toEqual([
      { turn: 1, turn_status: 'completed', role: 'user', content: 'go' },
      { turn: 1, turn_status: 'completed', role: 'assistant', content: 'half' },
    ]);
    expect((await jackdaw.messages('last')).at(-1)).toMatchObject({
      role: 'tool',
      content: expect.stringMatching(/limit/),
    });
  });
});

describe('a run that waits', () => {
  let llm: FakeLlm;
  let first: Jackdaw;
  let jackdaw: Jackdaw;
  let tools: TestTools;
  let runId: string;
  const copy = newFolder();
  beforeAll(async () => {
    llm = await FakeLlm.start();
    const calls = ['a', 'b'].map((name) => ({ id: name, name: 'pay', arguments: { name } }));
    llm.reply({ text: 'I pay.', calls });
    const before = new TestTools();
    first = await startJackdaw({ llm, tools: [before] });
    const stream = await first.stream({ query: 'pay', sessionId: 's' });
    runId = String(stream.headers['x-run-id']);
    before.open('b');
    await stream.waitFor('tool.completed');
    await before.arrived('a');
    // The files that a crash would leave.
    for (const end of ['', '-wal', '-shm'])
      cpSync(join(first.dataDir, `jackdaw.db${end}`), join(copy, `jackdaw.db${end}`));
    tools = new TestTools();
    jackdaw = await startJackdaw({ llm, tools: [tools], dataDir: copy, env: { RECOVERY: 'resume' } });
  });
  afterAll(async () => {
    await jackdaw.stop();
    await first.stop();
    await llm.close();
    rmSync(copy, { recursive: true });
  });

  it('is reported by its events and by GET /api/runs/:id, and repeats nothing', async () => {
    const row = ROWS.find(({ outcome }) => outcome === 'waiting')!;
    const stream = await jackdaw.follow(runId);
    const last = (await stream.all()).at(-1);
    expect(last?.data).toEqual({
      type: 'run.waiting',
      run_id: runId,
      reason: 'outcome_unknown',
      requests: [expect.objectContaining({ id: 'settle:1:1', step: 'tool:1:1', call_id: 'a', tool: 'pay' })],
    });
    const { body } = await jackdaw.get(`/api/runs/${runId}`);
    expect(body).toMatchObject({ status: row.status, is_complete: row.isComplete, finish_reason: row.finishReason });
    expect(tools.called).toEqual([]);
    expect(llm.requests).toHaveLength(1);
  });

  it('holds its session: a further chat there is 409 with its id, streamed or not', async () => {
    const body = { query: 'and now?', sessionId: 's' };
    for (const path of ['/api/agent/chat', '/api/agent/chat/stream']) {
      const answer = await jackdaw.post(path, body);
      expect([answer.status, answer.body]).toMatchObject([409, { code: 'SESSION_BUSY', run_id: runId }]);
    }
  });

  it('closes its turn on cancel with one result for every call, and releases its session', async () => {
    const events = await jackdaw.follow(runId, 1000);
    expect(await events.all()).toEqual([]);
    const before = (await (await jackdaw.follow(runId)).all()).at(-1)?.id ?? 0;
    expect((await jackdaw.post(`/api/runs/${runId}/cancel`)).status).toBe(202);
    const after = await jackdaw.follow(runId, before);
    expect((await after.all()).map(({ event }) => event)).toEqual(['run.resumed', 'tool.completed', 'run.cancelled']);
    expect(after.events[1]?.data).toMatchObject({ call_id: 'a', success: false, code: 'TOOL_OUTCOME_UNKNOWN' });

    const messages = await jackdaw.messages('s');
    expect(messages.slice(2)).toMatchObject([
      { role: 'tool', tool_call_id: 'a', content: expect.stringMatching(/^Error: The outcome is unknown/) },
      { role: 'tool', tool_call_id: 'b', content: 'b done' },
    ]);
    expect((await jackdaw.get(`/api/runs/${runId}`)).body).toMatchObject({
      status: 'cancelled',
      finish_reason: 'cancelled',
      tool_results: [{ success: false }, { success: true, result: 'b done' }],
    });
    llm.reply({ text: 'free' });
    expect((await jackdaw.chat({ query: 'and now?', sessionId: 's' })).body['result']).toBe('free');
    expect(tools.called).toEqual([]);
  });
});
