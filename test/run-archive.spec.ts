import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { LOOP_VERSION } from '../src/reasoning/index.js';
import { RunRetentionService } from '../src/run/retention/run-retention.service.js';
import { FakeLlm } from './support/fake-llm.js';
import { byTurn, Forks, type JournalPage } from './support/forks.js';
import { gate, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { TestTools } from './support/test.tool.js';

const DAY_MS = 86_400_000;
const MODEL = { provider: 'openai' };

let llm: FakeLlm;
let jackdaw: Jackdaw;
let forks: Forks;
beforeAll(async () => {
  llm = await FakeLlm.start();
  const agents = [
    { name: 'default', model: MODEL },
    { name: 'other', model: MODEL },
  ];
  jackdaw = await startJackdaw({ llm, tools: [new TestTools()], options: { agents } });
  forks = new Forks(jackdaw);
});
afterEach(() => llm.reset());
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

interface Listed {
  readonly run_id: string;
  readonly status: string;
  readonly created_at: number;
  readonly [fact: string]: unknown;
}

async function list(query: string): Promise<{ runs: Listed[]; next: string | null }> {
  const { status, body } = await jackdaw.get(`/api/runs${query}`);
  expect(status).toBe(200);
  return body as unknown as { runs: Listed[]; next: string | null };
}

async function ids(query: string): Promise<string[]> {
  return (await list(query)).runs.map(({ run_id }) => run_id);
}

describe('GET /api/runs', () => {
  /** In order of creation. */
  const runs: Record<'plain' | 'failed' | 'inSession' | 'ofOther' | 'open', string> = Object.create(null);
  let times: Record<string, number>;
  const open = gate();
  beforeAll(async () => {
    const chat = async (body: object) => String((await jackdaw.chat({ query: 'go', ...body })).body['run_id']);
    llm.reply({ text: 'one', usage: [7, 2] }, { status: 500 }, { text: 'three' }, { text: 'four' });
    runs.plain = await chat({});
    runs.failed = await chat({ sessionId: 'talk' });
    runs.inSession = await chat({ sessionId: 'talk' });
    runs.ofOther = await chat({ agent: 'other' });
    llm.reply({ gate: open.opened, text: 'five' });
    runs.open = String((await jackdaw.stream({ query: 'go', agent: 'other' })).headers['x-run-id']);
    await llm.waitForRequest(5);
    times = Object.fromEntries((await list('')).runs.map(({ run_id, created_at }) => [run_id, created_at]));
  });
  afterAll(() => open.open());

  it('lists runs, the newest first', async () => {
    const { runs: all, next } = await list('');
    expect(next).toBeNull();
    expect(all.map(({ run_id }) => run_id)).toEqual(Object.values(runs).toReversed());
    expect(all.at(-1)).toEqual({
      run_id: runs.plain,
      kind: 'agent',
      parent_run_id: null,
      status: 'completed',
      agent: 'default',
      session_id: expect.any(String),
      created_at: expect.any(Number),
      finished_at: expect.any(Number),
      forked_from: null,
      pruned_at: null,
      finish_reason: 'stop',
      error_code: null,
      query_preview: 'go',
      pending: 0,
      usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 },
    });
    expect(all.at(-2)).toMatchObject({ status: 'failed', session_id: 'talk', finish_reason: 'error' });
    expect(all[0]).toMatchObject({ status: 'running', finished_at: null, finish_reason: null, usage: null });
  });

  it('filters runs by status, agent, session and time', async () => {
    expect(await ids('?status=failed')).toEqual([runs.failed]);
    expect(await ids('?status=running,failed')).toEqual([runs.open, runs.failed]);
    expect(await ids('?status=waiting')).toEqual([]);
    expect(await ids('?agent=other')).toEqual([runs.open, runs.ofOther]);
    expect(await ids('?sessionId=talk')).toEqual([runs.inSession, runs.failed]);
    expect(await ids('?sessionId=talk&status=completed&agent=default')).toEqual([runs.inSession]);
    const from = times[runs.inSession]!;
    expect(await ids(`?from=${from}`)).toEqual(expect.arrayContaining([runs.open, runs.ofOther, runs.inSession]));
    expect(await ids(`?from=${from}&to=${from + 1}`)).toContain(runs.inSession);
    expect(await ids(`?to=${from}`)).not.toContain(runs.inSession);
    expect(await ids(`?from=${new Date(from).toISOString()}`)).toEqual(await ids(`?from=${from}`));
    expect(await ids('?to=2026-01-31')).toEqual([]);
    expect(await ids('?from=2026-01-31')).toHaveLength(5);
  });

  it('lists runs page by page', async () => {
    const found: string[] = [];
    for (let query = '?limit=2'; ;) {
      const page = await list(query);
      found.push(...page.runs.map(({ run_id }) => run_id));
      if (page.next === null) break;
      query = `?limit=2&cursor=${page.next}`;
    }
    expect(found).toEqual(Object.values(runs).toReversed());
  });

  it.each([
    'status=done',
    'status=',
    'status=failed,',
    'from=yesterday',
    'from=2026-13-01',
    'to=2026-01-31T10:00',
    'limit=0',
    'limit=201',
    'limit=x',
    'cursor=x',
    'session=x',
  ])('refuses %s', async (query) => {
    const { status, body } = await jackdaw.get(`/api/runs?${query}`);
    expect([status, body['code']]).toEqual([400, 'VALIDATION_FAILED']);
    const errors = body['errors'] as unknown as { field: string }[];
    expect(new Set(errors.map(({ field }) => field))).toEqual(new Set([query.split('=')[0]]));
  });
});

describe('GET /api/runs/:id/journal', () => {
  let runId: string;
  beforeAll(async () => {
    const calls = [
      { id: 'a', name: 'double', arguments: { n: 2 } },
      { id: 'b', name: 'shout', arguments: { input: 'x' } },
    ];
    llm.always(byTurn({ calls }, { text: 'the end' }));
    const { body } = await jackdaw.chat({ query: 'go', sessionId: 'journal' });
    runId = String(body['run_id']);
  });

  it('returns the steps in the order of the loop, the events, and the input', async () => {
    const journal = await forks.journal(runId);
    expect(journal).toMatchObject({
      run_id: runId,
      agent: 'default',
      status: 'completed',
      session_id: 'journal',
      forked_from: null,
      loop_version: LOOP_VERSION,
      input: { query: 'go' },
      definition: { name: 'default', model: { provider: 'openai' } },
      next: null,
    });
    expect(journal.steps.map(({ position, name }) => `${position} ${name}`)).toEqual([
      '1 value:window',
      '2 model:1',
      '3 tool:1:1',
      '4 tool:1:2',
      '5 model:2',
    ]);
    expect(journal.steps[2]).toEqual({
      position: 3,
      name: 'tool:1:1',
      kind: 'tool',
      subject: 'double',
      result: { tool: 'double', success: true, result: 4, execution_time_ms: expect.any(Number) },
      epoch: 1,
      created_at: expect.any(Number),
      started_at: expect.any(Number),
      first_token_ms: null,
      attempts: null,
    });
    const published = (await (await jackdaw.follow(runId)).all()).filter(({ id }) => id !== null);
    expect(journal.events.map(({ n, type, data }) => ({ id: n, place: String(n), event: type, data }))).toEqual(
      published,
    );
  });

  it('is read page by page', async () => {
    const whole = await forks.journal(runId);
    for (const limit of [1, 2, 3, 7]) {
      const pages: JournalPage[] = [];
      for (let after: number | null = 0; after !== null;) {
        const { body } = await jackdaw.get(`/api/runs/${runId}/journal?limit=${limit}&after=${after}`);
        pages.push(body as unknown as JournalPage);
        after = pages.at(-1)!.next;
      }
      expect(pages.flatMap(({ steps }) => steps)).toEqual(whole.steps);
      expect(pages.flatMap(({ events }) => events)).toEqual(whole.events);
      for (const { steps, events } of pages) expect(Math.max(steps.length, events.length)).toBeLessThanOrEqual(limit);
    }
  });

  it.each(['after=-1', 'after=x', 'limit=0', 'limit=201', 'page=1'])('refuses %s', async (query) => {
    expect((await jackdaw.get(`/api/runs/${runId}/journal?${query}`)).body).toMatchObject({
      code: 'VALIDATION_FAILED',
    });
  });

  it('answers 404 for an unknown run', async () => {
    expect((await jackdaw.get('/api/runs/unknown/journal')).body).toMatchObject({ status: 404, code: 'RUN_NOT_FOUND' });
  });
});

describe('a run whose journal was deleted', () => {
  it('answers 410 with the remaining summary, on every route, and is still listed', async () => {
    llm.reply({ text: 'a long answer', usage: [3, 4] }, { text: 'another' });
    const { body } = await jackdaw.chat({ query: 'go', sessionId: 'old' });
    const runId = String(body['run_id']);
    const fork = await forks.make(runId, 'model:1');
    const now = Date.now() + 91 * DAY_MS;
    expect(await jackdaw.app.get(RunRetentionService).sweep(now)).toBeGreaterThanOrEqual(2);

    const summary = {
      status: 'completed',
      agent: 'default',
      session_id: 'old',
      created_at: expect.any(Number),
      finished_at: expect.any(Number),
      pruned_at: now,
      forked_from: null,
      finish_reason: 'stop',
      is_complete: true,
      iterations: 1,
      usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
      model: expect.any(String),
    };
    const answers = await Promise.all([
      jackdaw.get(`/api/runs/${runId}`),
      jackdaw.get(`/api/runs/${runId}/events`),
      jackdaw.get(`/api/runs/${runId}/journal`),
      jackdaw.post(`/api/runs/${runId}/cancel`),
      forks.post(runId, { fromStep: 'model:1' }),
    ]);
    for (const answer of answers) {
      expect([answer.status, answer.body]).toEqual([
        410,
        {
          request_id: expect.any(String),
          type: 'about:blank',
          title: 'Gone',
          status: 410,
          detail: expect.stringContaining(runId),
          code: 'RUN_PRUNED',
          run_id: runId,
          summary,
        },
      ]);
      expect(answer.text).not.toContain('a long answer');
    }
    expect((await jackdaw.get(`/api/runs/${fork.id}`)).body).toMatchObject({
      status: 410,
      summary: { forked_from: runId },
    });
    const listed = (await list('?sessionId=old')).runs;
    expect(listed).toMatchObject([{ run_id: runId, pruned_at: now, finish_reason: 'stop', usage: summary.usage }]);
    // The session has its own time to live.
    expect(await jackdaw.messages('old')).toHaveLength(2);
  });
});
