import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type AgUiClient, describeAgUi, type HttpAgent, type Interrupt } from './support/ag-ui-clients.js';
import { AgUiWorld, LOOKS, PAYS, QUESTION, resolved } from './support/ag-ui-world.js';

const NO_MODEL = { status: 200, body: '<html>no model</html>' };

let world: AgUiWorld;
beforeAll(async () => {
  world = await AgUiWorld.start();
});
afterEach(() => world.reset());
afterAll(() => world.stop());

describeAgUi('outcomes of runs in AG-UI', (client: AgUiClient) => {
  const open = (messages?: readonly object[], agent?: string) => world.open(client, messages, agent);
  const run = (agent: HttpAgent, parameters?: object) => world.run(client, agent, parameters);

  /** Runs an agent until it is interrupted once. */
  async function interrupted(agent: HttpAgent): Promise<Interrupt> {
    await run(agent);
    const [interrupt, ...more] = world.outcome!.interrupts!;
    expect([world.outcome?.type, more]).toEqual(['interrupt', []]);
    expect(world.types.slice(-3)).toEqual(['STATE_SNAPSHOT', 'MESSAGES_SNAPSHOT', 'RUN_FINISHED']);
    expect(agent.pendingInterrupts.map(({ id }) => id)).toEqual([interrupt!.id]);
    return interrupt!;
  }

  it.each([
    ['completed', 'default', [{ text: 'done' }], 'stop'],
    ['iteration limit', 'short', [LOOKS], 'iteration_limit'],
    ['length', 'default', [{ text: 'half', finishReason: 'length' }], 'length'],
    ['filter', 'default', [{ text: 'hm', finishReason: 'content_filter' }], 'content_filter'],
  ] as const)('reports the outcome: %s', async (_title, name, replies, reason) => {
    world.llm.reply(...replies);
    const agent = open([QUESTION], name);
    await run(agent);
    expect([world.outcome?.type, world.custom('run.completed')]).toMatchObject(['success', { finish_reason: reason }]);
    // The history of the client is valid for a next request.
    world.llm.reply({ text: 'next' });
    agent.addMessage({ id: 'q2', role: 'user', content: 'And now?' });
    await run(agent);
    expect(world.outcome?.type).toBe('success');
  });

  it.each([
    ['timeout', 'hasty', [{ hang: true }], 'RUN_TIMEOUT'],
    ['model: bad key', 'default', [{ status: 401, body: { error: { message: 'no key' } } }], 'MODEL_AUTHENTICATION'],
    ['model: rate limited', 'default', [{ status: 429, headers: { 'retry-after': '7' } }], 'MODEL_RATE_LIMITED'],
    ['model: silent', 'default', [{ hang: true }], 'MODEL_TIMEOUT'],
    ['model: no answer', 'default', [{ reset: true }], 'MODEL_UNREACHABLE'],
    ['model: its error', 'default', [{ status: 500 }], 'MODEL_UNAVAILABLE'],
    ['model: refused', 'default', [{ status: 400, body: { error: { message: 'bad' } } }], 'MODEL_REFUSED'],
    ['model: bad reply', 'default', [LOOKS, NO_MODEL, NO_MODEL], 'MODEL_BAD_REPLY'],
    ['answer: no format', 'formal', [{ text: 'a' }, { text: 'b' }, { text: 'c' }], 'OUTPUT_INVALID'],
  ] as const)('reports the outcome: %s', async (_title, name, replies, code) => {
    world.llm.reply(...replies);
    await run(open([QUESTION], name));
    expect(world.events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code, message: expect.stringMatching(/./) });
    expect(await world.listed()).toMatchObject({ status: 'failed', error_code: code });
  });

  it('reports the outcome: denied by a person', async () => {
    world.llm.reply(PAYS);
    const agent = open([QUESTION], 'strict');
    const interrupt = await interrupted(agent);
    await run(agent, resolved(interrupt, false));
    expect(world.events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'TOOL_DENIED' });
  });

  it('reports the outcome: cancelled, by another caller', async () => {
    world.llm.reply({ hang: true });
    const running = run(open());
    await world.llm.waitForRequest(1);
    const { run_id: id } = await world.listed();
    await world.jackdaw.post(`/api/runs/${String(id)}/cancel`);
    await running;
    expect(world.events.at(-1)).toMatchObject(
      client.isCurrent ? { outcome: { type: 'cancelled' } } : { type: 'RUN_ERROR', code: 'RUN_CANCELLED' },
    );
  });
});
