import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contextIdOf, ToolStates } from '../src/tool-state/index.js';
import { ToolRegistry } from '../src/tool/index.js';
import type { ToolContext } from '../src/tool/method/index.js';
import { callTool } from './support/direct-calls.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';

const POLICIES = ['last_write_wins', 'first_write_wins', 'merge', 'error'] as const;
type Policy = (typeof POLICIES)[number];

const STORED: Readonly<Record<Policy, object>> = {
  last_write_wins: { mine: 1 },
  first_write_wins: { theirs: 1 },
  merge: { theirs: 1, mine: 1 },
  error: { theirs: 1 },
};

describe.each(['memory', 'persistent', 'distributed'])(
  'a state in %s with concurrent changes during a call',
  (manager) => {
    let jackdaw: Jackdaw;
    beforeAll(async () => {
      jackdaw = await startJackdaw({ env: { TOOL_STATE_MANAGER: manager } });
      for (const policy of POLICIES) register(policy);
    });
    afterAll(() => jackdaw.stop());

    /** A tool whose state changes during its call: through the manager, or through another call. */
    function register(conflict: Policy): void {
      const tools = jackdaw.app.get(ToolRegistry);
      tools.register({
        name: conflict,
        description: 'Is not alone.',
        effect: 'read',
        stateful: { conflict },
        parameters: { type: 'object', properties: { others: { enum: ['manager', 'call', 'none'] } } },
        handler: async ({ others }: { others: string }, { sessionId, principal, state }: ToolContext) => {
          if (others === 'none') return state!.update({ theirs: 1 });
          if (others === 'call') await tools.call(conflict, { others: 'none' }, { sessionId, principal });
          if (others === 'manager') {
            const states = await jackdaw.app.get(ToolStates).managerOf(tools.get(conflict));
            const id = await states.createContext({ tenant: principal.tenant, session: sessionId!, tool: conflict });
            await states.updateState(id, 'business', { theirs: 1 });
          }
          return state!.update({ mine: 1 });
        },
      });
    }

    const CASES = POLICIES.flatMap((policy) => ['manager', 'call'].map((others) => ({ policy, others })));

    it.each(CASES)('is resolved by $policy, also against a $others', async ({ policy, others }) => {
      const session = String((await jackdaw.post('/api/sessions', {})).body['id']);
      const { body } = await callTool(jackdaw, policy, { arguments: { others }, sessionId: session });
      expect(body['code']).toBe(policy === 'error' ? 'TOOL_STATE_CONFLICT' : undefined);
      const id = contextIdOf({ tenant: 'default', session, tool: policy });
      const { states } = (await jackdaw.get(`/api/tool-states/${id}`)).body as unknown as {
        states: { state_type: string; data: object }[];
      };
      expect(states.find(({ state_type }) => state_type === 'business')!.data).toEqual(STORED[policy]);
    });
  },
);

describe('a call whose state cannot be stored', () => {
  let llm: FakeLlm;
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    llm = await FakeLlm.start();
    jackdaw = await startJackdaw({ llm });
    jackdaw.app.get(ToolRegistry).register({
      name: 'hoard',
      description: 'Keeps too much.',
      effect: 'read',
      stateful: { maxStateBytes: 50 },
      handler: (_args: object, { state }: ToolContext) => {
        state!.update({ text: 'x'.repeat(100) });
        state!.save();
        return 'stored';
      },
    });
  });
  afterAll(async () => {
    await jackdaw.stop();
    await llm.close();
  });

  it('fails with the reason, also after an explicit save', async () => {
    const { body } = await callTool(jackdaw, 'hoard', { arguments: {} });
    expect([body['status'], body['code']]).toEqual(['failed', 'TOOL_STATE_TOO_LARGE']);
    await expect(jackdaw.app.get(ToolRegistry).call('hoard')).rejects.toMatchObject({ code: 'TOOL_STATE_TOO_LARGE' });
  });

  it('returns the reason to the model as its result, and the run continues', async () => {
    llm.reply({ calls: [{ name: 'hoard', arguments: {} }] }, { text: 'It was too much.' });
    const chat = { query: 'hoard', includeDetails: true };
    const { status, body } = await jackdaw.post('/api/agent/chat', chat);
    expect(status).toBe(200);
    expect(body).toMatchObject({ result: 'It was too much.', is_complete: true, iterations: 2 });
    const reason = expect.stringContaining('The business state of tool "hoard" would have 111 bytes');
    expect(body['tool_results']).toMatchObject([{ success: false, error: reason }]);
    expect(llm.requests.at(-1)!.messages.at(-1)).toMatchObject({ role: 'tool', content: reason });
  });
});
