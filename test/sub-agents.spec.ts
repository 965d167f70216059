import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agentIn, ask, callsThen, AgentTree, questionIn, resultsShown, type Voice } from './support/run-tree.js';
import { gate } from './support/jackdaw.js';

const echo: Voice = (request) => ({ text: `re: ${String(questionIn(request))}` });

// One run at a time: a child run must never wait for the capacity that its parent occupies.
describe('an agent that asks others, in a server for one run at a time', () => {
  let tree: AgentTree;
  beforeAll(async () => {
    tree = await AgentTree.begin(
      {
        boss: { subAgents: ['scout', 'clerk', 'boss'], limits: { maxDepth: 2 } },
        scout: {},
        clerk: { subAgents: ['scout'], responseFormat: { schema: { type: 'object', required: ['sum'] } } },
      },
      { env: { RUN_CONCURRENCY: '1' } },
    );
  });
  afterAll(() => tree.stop());

  it('receives the answer as a result, from a separate run in the journal', async () => {
    tree.say({
      boss: callsThen([ask('scout', 'what is out there?')], ([seen]) => `The scout says ${String(seen)}`),
      scout: (request) => ({ text: `"${String(questionIn(request))}"`, usage: [7, 3] }),
    });
    const { status, body } = await tree.jackdaw.chat({ query: 'look', sessionId: 'talk' });
    expect([status, body]).toMatchObject([
      200,
      { result: 'The scout says "what is out there?"', children_usage: { total_tokens: 10 } },
    ]);
    const parent = await tree.run(String(body['run_id']));
    const [childId] = childrenOf(parent);
    expect(parent).toMatchObject({
      tool_results: [{ tool: 'ask_scout', success: true, child_run_id: childId }],
      children_usage: { prompt_tokens: 7, completion_tokens: 3 },
    });
    expect(await tree.run(childId!)).toMatchObject({
      agent: 'scout',
      status: 'completed',
      parent_run_id: body['run_id'],
      usage: { total_tokens: 10 },
    });
    expect(tree.asked()).toEqual(['boss', 'scout', 'boss']);
    const { body: list } = await tree.jackdaw.get('/api/runs?limit=2');
    expect(list['runs']).toMatchObject([
      { run_id: childId, parent_run_id: body['run_id'] },
      { run_id: body['run_id'], parent_run_id: null },
    ]);
  });

  it('publishes the start and the end of the child run, and none of its messages', async () => {
    tree.say({ boss: callsThen([ask('scout', 'q')], () => 'done'), scout: () => ({ text: 'whispered words' }) });
    const stream = await tree.jackdaw.stream({ query: 'go' });
    const events = await stream.all();
    const about = events
      .filter(({ data }) => 'child_run_id' in data)
      .map(({ event, data }) => [event, data['child_run_id']]);
    const [childId] = childrenOf(await tree.run(stream.runId));
    expect(about).toEqual([
      ['tool.started', childId],
      ['tool.completed', childId],
    ]);
    expect(events.filter(({ event }) => event === 'message.delta').map(({ data }) => data['text'])).toEqual(['done']);
    const own = await tree.jackdaw.events(childId!);
    expect(own[0]).toMatchObject({ event: 'run.started', data: { parent_run_id: stream.runId, agent: 'scout' } });
    expect(own.at(-1)).toMatchObject({ event: 'run.completed', data: { result: 'whispered words' } });
  });

  it('continues its earlier conversation with each sub-agent, in a session that is deleted with its own', async () => {
    tree.say({ boss: callsThen([ask('scout', 'the first question')]), scout: echo });
    await tree.jackdaw.chat({ query: 'one', sessionId: 'memory' });
    tree.say({ boss: callsThen([ask('scout', 'the second question')]), scout: echo });
    await tree.jackdaw.chat({ query: 'two', sessionId: 'memory' });
    const asked = tree.llm.requests.find((request) => agentIn(request) === 'scout')!;
    expect(asked.messages.map(({ content }) => content).slice(1)).toEqual([
      'the first question',
      're: the first question',
      'the second question',
    ]);
    const theirs = await tree.sessionsBelow('memory');
    expect(theirs).toMatchObject([{ turn_count: 2 }]);
    await tree.jackdaw.send('/api/sessions/memory', { method: 'DELETE' });
    for (const id of ['memory', theirs[0]!.id])
      expect((await tree.jackdaw.get(`/api/sessions/${id}`)).status).toBe(404);
  });

  it.each([0, 1, 2])('retains all three sessions while a run holds one of them: %i', async (which) => {
    const id = `held-${which}`;
    tree.say({
      boss: callsThen([ask('scout', 'q'), ask('clerk', 'q')]),
      scout: echo,
      clerk: () => ({ text: '{"sum":1}' }),
    });
    await tree.jackdaw.chat({ query: 'one', sessionId: id });
    const theirs = await tree.sessionsBelow(id);
    expect(theirs).toHaveLength(2);
    const held = [id, ...theirs.map((one) => one.id)][which]!;
    const hold = gate();
    tree.say({ boss: () => ({ gate: hold.opened, text: 'at last' }) });
    const answer = tree.jackdaw.chat({ query: 'wait', sessionId: held });
    await tree.llm.waitForRequest();
    const remove = () => tree.jackdaw.send(`/api/sessions/${id}`, { method: 'DELETE' });
    expect((await remove()).body).toMatchObject({
      status: 409,
      code: 'SESSION_BUSY',
      detail: expect.stringContaining(`"${held}"`),
    });
    expect(await tree.sessionsBelow(id)).toMatchObject(theirs.map((one) => ({ id: one.id, turn_count: 1 })));
    expect((await tree.jackdaw.get(`/api/sessions/${id}`)).body).toMatchObject({ turn_count: 1 });
    hold.open();
    expect((await answer).status).toBe(200);
    expect((await remove()).status).toBe(204);
    expect(await tree.sessionsBelow(id)).toEqual([]);
  });

  it('starts new conversations with its sub-agents when its session is cleared', async () => {
    tree.say({
      boss: callsThen([ask('clerk', 'sum up')]),
      clerk: callsThen([ask('scout', 'look')], () => '{"sum":1}'),
      scout: echo,
    });
    await tree.jackdaw.chat({ query: 'one', sessionId: 'cleared' });
    const below = async (id: string) => (await tree.sessionsBelow(id))[0]!;
    const clerks = await below('cleared');
    const scouts = await below(clerks.id);
    expect([clerks.message_count, scouts.message_count]).toEqual([4, 2]);
    await tree.jackdaw.send('/api/sessions/cleared/messages', { method: 'DELETE' });
    expect([await below('cleared'), await below(clerks.id)]).toMatchObject([
      { message_count: 0 },
      { message_count: 0 },
    ]);
    await tree.jackdaw.chat({ query: 'two', sessionId: 'cleared' });
    const asked = tree.llm.requests.findLast((request) => agentIn(request) === 'scout')!;
    expect(asked.messages.map(({ content }) => content).slice(1)).toEqual(['look']);
  });

  it('asks several at once, including the same one', async () => {
    const both = gate();
    const waiting: string[] = [];
    const scout: Voice = async (request) => {
      waiting.push(String(questionIn(request)));
      if (waiting.length === 3) both.open();
      await both.opened;
      return { text: `re: ${String(questionIn(request))}` };
    };
    tree.say({
      boss: callsThen([ask('scout', 'east'), ask('scout', 'west'), ask('clerk', 'books')], (results) =>
        results.join('; '),
      ),
      scout,
      clerk: async (request) => ({ text: JSON.stringify({ sum: ((await scout(request)) as { text: string }).text }) }),
    });
    const { body } = await tree.jackdaw.chat({ query: 'go', sessionId: 'many' });
    expect(body['result']).toBe('re: east; re: west; {"sum":"re: books"}');
    const { tool_results } = await tree.run(String(body['run_id']));
    expect((tool_results as unknown as { result: unknown }[])[2]?.result).toEqual({ sum: 're: books' });
  });

  it('asks at most eight at a time, however many it calls', async () => {
    const [full, release] = [gate(), gate()];
    let going = 0;
    let most = 0;
    const questions = Array.from({ length: 20 }, (_, i) => `q${i + 1}`);
    tree.say({
      boss: callsThen(
        questions.map((question) => ask('scout', question)),
        (results) => results.join(),
      ),
      scout: async (request) => {
        most = Math.max(most, ++going);
        if (going === 8) full.open();
        await release.opened;
        going--;
        return echo(request);
      },
    });
    const stream = await tree.jackdaw.stream({ query: 'go' });
    await full.opened;
    expect(childrenOf(await tree.run(stream.runId))).toHaveLength(8);
    release.open();
    const result = questions.map((question) => `re: ${question}`).join();
    expect((await stream.all()).at(-1)).toMatchObject({ event: 'run.completed', data: { result } });
    expect(most).toBe(8);
  });

  it('asks through several levels up to its limit: then the model receives an error, and answers', async () => {
    tree.say({
      boss: (request) => {
        const results = resultsShown(request);
        return results.length === 0 ? { calls: [ask('boss', 'you do it')] } : { text: `heard: ${results.join('; ')}` };
      },
    });
    const { status, body } = await tree.jackdaw.chat({ query: 'go' });
    const refused = 'Error: Not asked: agents may ask one another 2 deep, and have. Answer without it.';
    expect([status, body['result']]).toEqual([200, `heard: heard: heard: ${refused}`]);
    expect(tree.asked()).toHaveLength(6);
    let run = await tree.run(String(body['run_id']));
    for (let depth = 0; depth < 2; depth++) run = await tree.run(childrenOf(run)[0]!);
    expect(run).toMatchObject({ tool_results: [{ success: false }] });
    expect(run['child_run_ids']).toBeUndefined();
  });

  it.each([
    ['fails', () => ({ status: 400, body: { error: { message: 'no' } } }), /agent "scout" failed \(MODEL_/],
    [
      'comes to no answer',
      () => ({ calls: [ask('unknown', 'x')] }),
      /agent "scout" gave an incomplete answer \(iteration_limit\)/,
    ],
  ] satisfies [string, Voice, RegExp][])('receives an error when the sub-agent %s', async (_case, scout, error) => {
    tree.say({ boss: callsThen([ask('scout', 'q')]), scout });
    const { status, body } = await tree.jackdaw.chat({ query: 'go' });
    expect([status, body['result']]).toEqual([200, expect.stringMatching(error)]);
  });

  it('must send a non-empty question', async () => {
    tree.say({ boss: callsThen([ask('scout', '  '), { name: 'ask_scout', arguments: {} }], String), scout: echo });
    const { body } = await tree.jackdaw.chat({ query: 'go' });
    expect(body['result']).toMatch(/query.*query/s);
    expect(tree.asked()).toEqual(['boss', 'boss']);
  });

  it('retains the sub-agent’s answer in a fork: the sub-agent is not asked again', async () => {
    tree.say({ boss: callsThen([ask('scout', 'q')]), scout: echo });
    const { body } = await tree.jackdaw.chat({ query: 'go', sessionId: 'forked' });
    const forked = await tree.jackdaw.post(`/api/runs/${String(body['run_id'])}/fork`, { fromStep: 'model:2' });
    const events = await tree.jackdaw.events(String(forked.body['run_id']));
    expect(events.at(-1)).toMatchObject({ event: 'run.completed', data: { result: 're: q' } });
    expect(tree.asked()).toEqual(['boss', 'scout', 'boss', 'boss']);
    const anew = await tree.jackdaw.post(`/api/runs/${String(body['run_id'])}/fork`, { fromStep: 'tool:1:1' });
    await tree.jackdaw.events(String(anew.body['run_id']));
    expect(tree.asked().slice(4)).toEqual(['scout', 'boss']);
  });
});

function childrenOf(run: Record<string, unknown>): string[] {
  return run['child_run_ids'] as string[];
}
