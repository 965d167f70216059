import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callsThen, AgentTree, questionIn, type Voice } from './support/run-tree.js';

describe('an agent that hands over', () => {
  let tree: AgentTree;
  beforeAll(async () => {
    tree = await AgentTree.begin({ desk: { handoffs: ['billing'] }, billing: { handoffs: ['lawyer'] }, lawyer: {} });
  });
  afterAll(() => tree.stop());
  const transfer = (agent: string) => ({ name: `transfer_to_${agent}`, arguments: {} });

  it('receives no further request: the other agent answers the user, and the run names that agent', async () => {
    tree.say({ desk: () => ({ text: 'Hello, Ann.' }) });
    await tree.jackdaw.chat({ query: 'I am Ann', sessionId: 'desk' });
    tree.say({
      desk: callsThen([transfer('billing')]),
      billing: () => ({ text: 'You owe 5, Ann.', model: 'other-model' }),
    });
    const stream = await tree.jackdaw.stream({ query: 'what do I owe?', sessionId: 'desk' });
    const events = await stream.all();
    const run = await tree.run(stream.runId);
    const by = { agent: 'billing', run_id: childrenOf(run)[0] };
    expect(run).toMatchObject({ status: 'completed', result: 'You owe 5, Ann.', is_complete: true, answered_by: by });
    expect(tree.asked()).toEqual(['desk', 'billing']);
    const said = events.filter(({ event }) => event === 'message.completed').at(-1);
    expect(said).toMatchObject({ data: { text: 'You owe 5, Ann.', answered_by: by } });
    expect(events.at(-1)).toMatchObject({ event: 'run.completed', data: { answered_by: by, model: 'other-model' } });
    // The other agent receives the earlier messages and the question, word by word.
    expect(tree.llm.lastRequest.messages.slice(1)).toMatchObject([
      { role: 'user', content: 'I am Ann' },
      { role: 'assistant', content: 'Hello, Ann.' },
      { role: 'user', content: 'what do I owe?' },
    ]);
    const messages = await tree.jackdaw.messages('desk');
    expect(messages.slice(2)).toMatchObject([
      { role: 'user', content: 'what do I owe?' },
      { role: 'assistant', tool_calls: [{ name: 'transfer_to_billing' }] },
      { role: 'tool', name: 'transfer_to_billing', content: 'The agent "billing" has answered.' },
      { role: 'assistant', content: 'You owe 5, Ann.' },
    ]);
  });

  it('may hand over to an agent that hands over again', async () => {
    tree.say({
      desk: callsThen([transfer('billing')]),
      billing: callsThen([transfer('lawyer')]),
      lawyer: (request) => ({ text: `To "${String(questionIn(request))}": no.` }),
    });
    const { body } = await tree.jackdaw.chat({ query: 'may I sue?', sessionId: 'chain' });
    expect(body).toMatchObject({ result: 'To "may I sue?": no.', answered_by: { agent: 'billing' } });
    expect(tree.asked()).toEqual(['desk', 'billing', 'lawyer']);
  });

  it('continues itself when the other agent fails', async () => {
    tree.say({
      desk: callsThen([transfer('billing')], () => 'The desk is closed now.'),
      billing: () => ({ status: 400, body: {} }),
    });
    const { body } = await tree.jackdaw.chat({ query: 'hello?' });
    expect(body).toMatchObject({ result: 'The desk is closed now.', is_complete: true });
    expect(body['answered_by']).toBeUndefined();
  });

  it('passes on the response format', async () => {
    tree.say({ desk: callsThen([transfer('billing')]), billing: () => ({ text: '{"owed":5}' }) });
    const responseFormat = { schema: { type: 'object', properties: { owed: { type: 'number' } }, required: ['owed'] } };
    const { body } = await tree.jackdaw.chat({ query: 'how much?', responseFormat });
    expect(body).toMatchObject({ output: { owed: 5 }, answered_by: { agent: 'billing' } });
  });

  it.each([
    ['the one that took over', 'billing', { billing: () => ({ text: 'You owe 7.' }) }],
    ['the last of several', 'lawyer', { billing: callsThen([transfer('lawyer')]), lawyer: () => ({ text: 'No.' }) }],
  ] satisfies [string, string, Record<string, Voice>][])(
    'leaves the conversation to a fork of %s',
    async (_case, last, voices) => {
      tree.say({ desk: () => ({ text: 'Hello, Ann.' }) });
      const session = `forked-${last}`;
      await tree.jackdaw.chat({ query: 'I am Ann', sessionId: session });
      tree.say({ desk: callsThen([transfer('billing')]), ...voices });
      const { body } = await tree.jackdaw.chat({ query: 'what now?', sessionId: session });
      let run: Record<string, unknown> = await tree.run(String(body['run_id']));
      while (run['agent'] !== last) run = await tree.run(childrenOf(run)[0]!);
      await tree.jackdaw.chat({ query: 'and then?', sessionId: session });

      const request = { fromStep: 'model:1', sessionId: `branch-${last}`, edit: { message: 'and if not?' } };
      const forked = await tree.jackdaw.post(`/api/runs/${String(run['run_id'])}/fork`, request);
      expect([forked.status, forked.body['session_id']]).toEqual([202, `branch-${last}`]);
      const events = await tree.jackdaw.events(String(forked.body['run_id']));
      expect(events.at(-1)).toMatchObject({ event: 'run.completed', data: { memory_state: { message_count: 2 } } });
      const past = [
        { role: 'user', content: 'I am Ann' },
        { role: 'assistant', content: 'Hello, Ann.' },
      ];
      const question = { role: 'user', content: 'and if not?' };
      expect(tree.llm.requests.find((one) => questionIn(one) === 'and if not?')!.messages.slice(1)).toMatchObject([
        ...past,
        question,
      ]);
      expect((await tree.jackdaw.messages(`branch-${last}`)).slice(0, 3)).toMatchObject([...past, question]);
    },
  );
});

function childrenOf(run: Record<string, unknown>): string[] {
  return run['child_run_ids'] as string[];
}
