import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type AgUiClient, describeAgUi, type HttpAgent, type Interrupt } from './support/ag-ui-clients.js';
import { AgUiWorld, ASKS, PAYS, QUESTION, resolved, WEATHER } from './support/ag-ui-world.js';

const CHOOSES = { calls: [{ id: 'c2', name: 'choose', arguments: { text: 'Oslo' } }] };
const DELEGATES = { calls: [{ id: 'c3', name: 'ask_clerk', arguments: { query: 'pay bob' } }] };
const rolesOf = ({ messages }: HttpAgent) => messages.map(({ role }) => role);

let world: AgUiWorld;
beforeAll(async () => {
  world = await AgUiWorld.start();
});
afterEach(() => world.reset());
afterAll(() => world.stop());

describeAgUi('interrupts of AG-UI', (client: AgUiClient) => {
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

  it('is interrupted by an approval, and executes the call when it is approved', async () => {
    world.llm.reply(PAYS, { text: 'Paid.' });
    const agent = open();
    agent.state = { page: 1 };
    const interrupt = await interrupted(agent);
    const call = agent.messages.at(-1)!.toolCalls![0]!;
    expect(interrupt).toMatchObject({
      reason: 'tool_call',
      message: expect.stringContaining('pay'),
      toolCallId: call.id,
      responseSchema: { required: ['approved'] },
      expiresAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect([agent.state, world.tools.done]).toEqual([{ page: 1 }, []]);
    const before = agent.messages;
    await run(agent, resolved(interrupt, { approved: true }));
    expect(agent.messages.map(({ role, content }) => [role, content])).toEqual([
      ['user', QUESTION.content],
      ['assistant', 'I pay.'],
      ['tool', 'paid 5 to bob'],
      ['assistant', 'Paid.'],
    ]);
    expect([agent.pendingInterrupts, world.tools.done]).toEqual([[], ['pay bob 5']]);
    const repeated = open(before);
    await run(repeated, resolved(interrupt, { approved: true }));
    expect(repeated.messages).toEqual(agent.messages);
    expect([world.llm.requests.length, world.tools.done.length]).toEqual([2, 1]);
  });

  it('executes an approved call with the arguments of a person', async () => {
    world.llm.reply(PAYS, { text: 'Paid.' });
    const agent = open();
    const interrupt = await interrupted(agent);
    await run(agent, resolved(interrupt, { approved: true, editedArgs: { to: 'ann', amount: 1 } }));
    expect(world.tools.done).toEqual(['pay ann 1']);
  });

  it.each([
    ['denied', { status: 'resolved', payload: { approved: false, reason: 'too much' } }, /Denied.*too much/],
    ['abandoned', { status: 'cancelled' }, /Denied/],
  ])('returns an error to the model for a call that is %s', async (_title, answer, message) => {
    world.llm.reply(PAYS, { text: 'Not paid.' });
    const agent = open();
    const { id } = await interrupted(agent);
    await run(agent, { resume: [{ interruptId: id, ...answer }] });
    expect(agent.messages.slice(-2)).toMatchObject([
      { role: 'tool', content: expect.stringMatching(message) },
      { role: 'assistant', content: 'Not paid.' },
    ]);
    expect(world.tools.done).toEqual([]);
  });

  it('asks a question with its schema, and refuses another answer', async () => {
    world.llm.reply(CHOOSES, { text: 'Booked.' });
    const agent = open();
    const interrupt = await interrupted(agent);
    expect(interrupt).toMatchObject({
      reason: 'input_required',
      message: 'Which one for Oslo?',
      responseSchema: { enum: ['LH1', 'KL2'] },
    });
    await expect(run(agent, resolved(interrupt, 'XX'))).rejects.toThrow(/HTTP 400.*VALIDATION_FAILED/);
    await run(agent, resolved(interrupt, 'LH1'));
    expect(world.tools.done).toEqual(['choose Oslo LH1']);
    expect(agent.messages.at(-1)).toMatchObject({ content: 'Booked.' });
  });

  it('needs all open interrupts at once, and resumes once', async () => {
    world.llm.reply({ calls: [...PAYS.calls, ...CHOOSES.calls] }, { text: 'Done.' });
    const agent = open();
    await run(agent);
    const [pay, choose] = world.outcome!.interrupts!;
    const copy = open(agent.messages);
    await expect(run(copy, resolved(pay!, true))).rejects.toThrow(/must answer all open interrupts/);
    expect(world.tools.done).toEqual([]);
    await run(agent, { resume: [...resolved(pay!, true).resume, ...resolved(choose!, 'KL2').resume] });
    expect(world.tools.done.toSorted()).toEqual(['choose Oslo KL2', 'pay bob 5']);
    expect([world.outcome?.type, agent.messages.at(-1)!.content]).toEqual(['success', 'Done.']);
  });

  it('executes frontend tools before people decide', async () => {
    world.llm.reply({ calls: [...ASKS.calls, ...PAYS.calls.map((call) => ({ ...call, id: 'p' }))] }, { text: 'Done.' });
    const agent = open();
    await run(agent, { tools: [WEATHER] });
    expect(world.outcome?.type).toBe('success');
    const [call] = agent.messages.at(-1)!.toolCalls!;
    agent.addMessage({ id: 't', role: 'tool', toolCallId: call!.id, content: 'rain' });
    const interrupt = await interrupted(agent);
    await run(agent, resolved(interrupt, true));
    expect([world.tools.done, agent.messages.at(-1)!.content]).toEqual([['pay bob 5'], 'Done.']);
    expect(rolesOf(agent)).toEqual(['user', 'assistant', 'tool', 'tool', 'assistant']);
  });

  it('shows the interrupts of a run of another agent, and continues through both', async () => {
    world.llm.reply(DELEGATES, PAYS, { text: 'Paid.' }, { text: 'The clerk paid.' });
    const agent = open([QUESTION], 'boss');
    const interrupt = await interrupted(agent);
    expect(interrupt.toolCallId).toBe(agent.messages.at(-1)!.toolCalls![0]!.id);
    expect(world.events.filter(({ type }) => type === 'SUBAGENT_FINISHED').map(({ outcome }) => outcome)).toEqual(
      client.isCurrent ? [{ type: 'suspended' }] : [],
    );
    expect(world.types.some((type) => type.startsWith('SUBAGENT'))).toBe(client.isCurrent);
    await run(agent, resolved(interrupt, { approved: true }));
    expect([world.tools.done, agent.messages.at(-1)!.content]).toEqual([['pay bob 5'], 'The clerk paid.']);
  });
});
