import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rmSync } from 'node:fs';
import { contextIdOf } from '../src/tool-state/index.js';
import { Tool, type ToolContext } from '../src/tool/method/index.js';
import { callTool } from './support/direct-calls.js';
import { gate, newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';

const ANSWERS: Readonly<Record<string, unknown>> = {
  succeeded: { outcome: 'succeeded', result: { sent: 1, state: { sent: 1 } } },
  changed: { outcome: 'succeeded', result: 'sent' },
  'too-large': { outcome: 'succeeded', result: { sent: 1, state: { text: 'x'.repeat(100) } } },
  failed: { outcome: 'failed', error: 'the other side refused it' },
  unknown: { outcome: 'unknown' },
};
const SESSIONS = Object.keys(ANSWERS);

/** Sends, and is interrupted each time. */
class SendingTools {
  /** Run ids of the calls, by session. */
  readonly runs = new Map<string, string>();
  private readonly all = gate();

  @Tool({
    description: 'Sends, once, and can find out.',
    stateful: { initial: { sent: 0 }, maxStateBytes: 50 },
    reconcile: 'findOut',
    input: { type: 'object', properties: {} },
  })
  send(_input: object, { sessionId, runId }: ToolContext): Promise<never> {
    this.runs.set(sessionId!, runId);
    if (this.runs.size === SESSIONS.length) this.all.open();
    return new Promise(() => undefined);
  }

  findOut(_key: string, { sessionId, state }: ToolContext): unknown {
    state!.update({ sent: 5 });
    return ANSWERS[sessionId!];
  }

  async started(): Promise<void> {
    await this.all.opened;
  }
}

describe.each(['memory', 'persistent', 'distributed'])('a stateful call that a crash interrupted, in %s', (manager) => {
  const dataDir = newFolder();
  const tools = new SendingTools();
  const { runs } = tools;
  let jackdaw: Jackdaw;

  beforeAll(async () => {
    const options = { dataDir, tools: [tools], env: { TOOL_STATE_MANAGER: manager } };
    jackdaw = await startJackdaw(options);
    for (const id of SESSIONS) {
      await jackdaw.post('/api/sessions', { id });
      void callTool(jackdaw, 'send', { arguments: {}, sessionId: id }).catch(() => undefined);
    }
    await tools.started();
    await jackdaw.stop();
    jackdaw = await startJackdaw(options);
  });
  afterAll(async () => {
    await jackdaw.stop();
    rmSync(dataDir, { recursive: true });
  });

  async function endOf(session: string): Promise<unknown[]> {
    const events = await (await jackdaw.follow(runs.get(session)!)).all();
    return events.map(({ event, data }) => ({ event, data }));
  }

  async function stored(session: string) {
    const id = contextIdOf({ tenant: 'default', session, tool: 'send' });
    const { body } = await jackdaw.get(`/api/tool-states/${id}`);
    const { body: shown } = await jackdaw.get(`/api/tool-states/${id}/history`);
    const states = (body['states'] ?? []) as unknown as { state_type: string; data: object }[];
    const history = (shown['entries'] ?? []) as unknown as { kind: string; by: string; detail: object }[];
    return { business: states.find(({ state_type }) => state_type === 'business')?.data, history };
  }

  it.each([
    ['succeeded', { sent: 1 }, { sent: 1 }],
    ['changed', 'sent', { sent: 5 }],
  ])('stores the state that the tool reconciled: %s', async (session, result, state) => {
    const shown = await endOf(session);
    expect(shown).toContainEqual({
      event: 'tool.completed',
      data: expect.objectContaining({ success: true, result }),
    });
    expect(shown.map((one) => (one as { event: string }).event)).toContain('state.changed');
    const { business, history } = await stored(session);
    expect(business).toEqual(state);
    const by = `${runs.get(session)}:tool:1:1`;
    expect(history).toMatchObject([
      { kind: 'execution_success', by },
      { kind: 'execution_start', by, detail: { call_id: 'call_1' } },
    ]);
  });

  it.each([
    ['failed', 'TOOL_FAILED'],
    ['too-large', 'TOOL_STATE_TOO_LARGE'],
  ])('changes only its history: %s', async (session, code) => {
    expect(await endOf(session)).toContainEqual({
      event: 'tool.completed',
      data: expect.objectContaining({ success: false, code }),
    });
    const { business, history } = await stored(session);
    expect(business).toBeUndefined();
    expect(history[0]).toMatchObject({ kind: 'execution_error', detail: { code } });
  });

  it('stores no state when the tool does not know the outcome', async () => {
    expect((await endOf('unknown')).at(-1)).toMatchObject({ event: 'run.waiting' });
    expect(await stored('unknown')).toEqual({ business: undefined, history: [] });
  });

  // The last test that uses this session.
  it('stores no state when a person settles the outcome, even with a state in the result', async () => {
    const result = { sent: 1, state: { sent: 1 } };
    const path = `/api/runs/${runs.get('unknown')}/settle`;
    expect((await jackdaw.post(path, { outcome: 'succeeded', result })).status).toBe(202);
    const shown = await endOf('unknown');
    expect(shown).toContainEqual({
      event: 'tool.completed',
      data: expect.objectContaining({ success: true, result }),
    });
    expect(shown.map((one) => (one as { event: string }).event)).not.toContain('state.changed');
    expect(await stored('unknown')).toEqual({ business: undefined, history: [] });
  });
});
