import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readFileSync, rmSync } from 'node:fs';
import { tableCells } from './support/markdown-table.js';
import type { SseEvent } from './support/event-stream.js';
import { FakeLlm } from './support/fake-llm.js';
import type { FakeReply, FakeRequest } from './support/fake-llm.types.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { beginHeld, expectPairs, resultsIn, WaitingRun } from './support/waiting-run.js';
import { WaitingTools } from './support/waiting.tool.js';

interface Row {
  readonly kind: string;
  readonly answer: string;
  readonly times: number;
  readonly code: string;
  readonly status: string;
  readonly ending: string;
}

const ROWS: Row[] = tableCells(readFileSync('docs/run-outcomes.md', 'utf8').split('\n## ')[1]!)
  .slice(1)
  .map(([kind = '', answer = '', times, code = '', status = '', ending = '']) => {
    return { kind, answer, times: Number(times), code, status, ending };
  });

/** The call that causes each kind of wait. */
const CALLS: Readonly<Record<string, { name: string; arguments: Record<string, unknown> }>> = {
  approval: { name: 'pay', arguments: { to: 'x', amount: 5 } },
  input: { name: 'choose', arguments: { text: 'x' } },
  outcome_unknown: { name: 'send', arguments: { text: 'x' } },
};
const ANSWERS: Readonly<Record<string, readonly ['approve' | 'deny' | 'input' | 'settle' | 'cancel', unknown?]>> = {
  approve: ['approve'],
  'approve, edited': ['approve', { arguments: { to: 'x', amount: 1 } }],
  deny: ['deny', { reason: 'no' }],
  input: ['input', { value: 'KL2' }],
  'settle retry': ['settle', { outcome: 'retry' }],
  'settle succeeded': ['settle', { outcome: 'succeeded', result: { seen: true } }],
  'settle failed': ['settle', { outcome: 'failed', error: 'no such address' }],
  cancel: ['cancel'],
};
const MODEL = { provider: 'openai' };
const END = { onDenied: 'end', onExpired: 'end' } as const;
const AGENTS = [
  { name: 'patient', model: MODEL },
  { name: 'patient-ending', model: MODEL, waiting: END },
  { name: 'hasty', model: MODEL, waiting: { expiresMs: 50 } },
  { name: 'hasty-ending', model: MODEL, waiting: { ...END, expiresMs: 50 } },
];

/** Calls the tool that the user's message names, then ends. */
function reply({ messages }: FakeRequest): FakeReply {
  if (messages.at(-1)?.role === 'tool') return { text: 'the end' };
  return { calls: [{ id: 'c', ...CALLS[String(messages.at(-1)?.content)]! }] };
}

function agentFor({ answer }: Row, ends: boolean): string {
  return `${answer === 'none in time' ? 'hasty' : 'patient'}${ends ? '-ending' : ''}`;
}

const CASES = ROWS.flatMap((row) =>
  [false, true].map((ends) => {
    const agent = agentFor(row, ends);
    return { ...row, agent, ends, session: `${row.kind}-${row.answer}-${agent}`.replaceAll(/\W+/g, '-') };
  }),
);
type Case = (typeof CASES)[number];

describe('docs/run-outcomes.md, for a run that waits', () => {
  const tools = new WaitingTools();
  const cutOff = new Map<string, WaitingRun>();
  const folder = newFolder();
  let llm: FakeLlm;
  let jackdaw: Jackdaw;
  const start = () => startJackdaw({ llm, tools: [tools], options: { agents: AGENTS }, dataDir: folder });

  beforeAll(async () => {
    llm = await FakeLlm.start();
    llm.always(reply);
    const first = await start();
    for (const { kind, agent, session } of CASES) {
      if (kind !== 'outcome_unknown') continue;
      cutOff.set(session, await beginHeld(first, tools, { query: kind, sessionId: session, agent }));
    }
    await first.stop();
    tools.isHolding = false;
    jackdaw = await start();
  });
  afterAll(async () => {
    await jackdaw.stop();
    await llm.close();
    rmSync(folder, { recursive: true });
  });

  async function begin({ kind, session, agent }: Case): Promise<WaitingRun> {
    const found = cutOff.get(session);
    if (found) {
      tools.done.splice(0, tools.done.length, 'send x');
      return found.on(jackdaw);
    }
    tools.done.length = 0;
    const stream = await jackdaw.stream({ query: kind, sessionId: session, agent });
    await stream.all();
    return new WaitingRun(jackdaw, String(stream.headers['x-run-id']));
  }

  /** Every event of the run to its end. An unanswered request expires by itself, after the 202. */
  async function follow(run: WaitingRun, answering: (typeof ANSWERS)[string] | undefined): Promise<SseEvent[]> {
    const published = [...(await run.events())];
    if (answering) published.push(...(await run.after(...answering)));
    while (published.at(-1)?.event === 'run.waiting') published.push(...(await run.events()));
    return published;
  }

  it('has a row for every answer to every kind of request', () => {
    expect(new Set(ROWS.map(({ answer }) => answer))).toEqual(new Set([...Object.keys(ANSWERS), 'none in time']));
    expect(new Set(ROWS.map(({ kind }) => kind))).toEqual(new Set(Object.keys(CALLS)));
  });

  it.each(CASES)('describes the outcome of $kind, $answer (agent $agent)', async (one) => {
    const { kind, answer, code, times, ends } = one;
    const run = await begin(one);
    const events = await follow(run, ANSWERS[answer]);
    expect(events.find(({ event }) => event === 'run.waiting')?.data['reason']).toBe(kind);
    const status = ends ? one.ending : one.status;
    expect(events.at(-1)?.event).toBe(`run.${status}`);
    expect(await run.answer()).toMatchObject({ status, tool_results: [{ success: code === '' }] });
    expect(tools.done).toHaveLength(times);
    const result = resultsIn(events)['c'];
    expect(Array.isArray(result) ? result[0] : '').toBe(code);
    expect((await run.answer())['error']?.['code'] ?? '').toBe(status === 'failed' ? code : '');
    await expectPairs(jackdaw, one.session);
    const again = await run.decide('settle', { outcome: 'retry' });
    expect([again.status, again.body['code']]).toEqual([409, 'RUN_NOT_WAITING']);
  });
});
