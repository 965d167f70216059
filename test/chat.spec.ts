import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { TestTools } from './support/test.tool.js';

const ID = /^[A-Za-z0-9_-]{22,64}$/;

describe('the offline model', () => {
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    jackdaw = await startJackdaw();
  });
  afterAll(() => jackdaw.stop());

  it('answers the first question with a real tool call, in exactly these fields', async () => {
    const { status, body } = await jackdaw.chat({ query: '计算 100 + 200', includeDetails: true });
    expect(status).toBe(200);
    expect(body).toEqual({
      result: '300',
      iterations: 2,
      duration_ms: expect.any(Number),
      is_complete: true,
      steps: [
        {
          iteration: 1,
          thought: '',
          action: 'calculator',
          action_input: { expression: '100 + 200' },
          is_finished: false,
        },
        { iteration: 2, thought: '', action: 'finish', action_input: null, is_finished: true },
      ],
      tool_results: [{ tool: 'calculator', success: true, result: '300', execution_time_ms: expect.any(Number) }],
      session_id: expect.stringMatching(ID),
      run_id: expect.stringMatching(ID),
      finish_reason: 'stop',
      usage: {
        prompt_tokens: expect.any(Number),
        completion_tokens: expect.any(Number),
        total_tokens: expect.any(Number),
      },
      model: 'offline',
      memory_state: { message_count: 0, context_tokens: 0, dropped: 0, policy: 'sliding_window' },
    });
  });

  it('omits steps and tool results unless the request includes details', async () => {
    const { body } = await jackdaw.chat({ query: '计算 100 + 200' });
    expect(Object.keys(body).toSorted()).toEqual(
      'duration_ms finish_reason is_complete iterations memory_state model result run_id session_id usage'.split(' '),
    );
  });
});

describe('a chat', () => {
  let llm: FakeLlm;
  let tools: TestTools;
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    llm = await FakeLlm.start();
    tools = new TestTools();
    jackdaw = await startJackdaw({ llm, tools: [tools], env: { AGENT_MEMORY_MAX_MESSAGES: '5' } });
  });
  afterEach(() => {
    llm.reset();
    tools.called.length = 0;
  });
  afterAll(async () => {
    await jackdaw.stop();
    await llm.close();
  });

  it('executes the calls of one reply concurrently and returns the results in call order', async () => {
    const names = ['a', 'b', 'c'];
    llm
      .reply({
        text: 'Three at once.',
        calls: names.map((name) => ({ id: `id_${name}`, name: 'wait', arguments: { name } })),
      })
      .reply({ text: 'all done' });
    const answer = jackdaw.chat({ query: 'go', includeDetails: true });
    await Promise.all(names.map((name) => tools.arrived(name)));
    for (const name of names.toReversed()) tools.open(name);

    const { body } = await answer;
    expect(body).toMatchObject({
      result: 'all done',
      steps: [
        ...names.map((name) => ({ iteration: 1, thought: 'Three at once.', action: 'wait', action_input: { name } })),
        { iteration: 2, action: 'finish', is_finished: true },
      ],
      tool_results: names.map((name) => ({ tool: 'wait', success: true, result: `${name} done` })),
    });
    const sent = llm.lastRequest.messages.slice(-4);
    expect(sent.map(({ role }) => role)).toEqual(['assistant', 'tool', 'tool', 'tool']);
    expect(sent[0]?.tool_calls?.map(({ id }) => id)).toEqual(['id_a', 'id_b', 'id_c']);
    expect(sent.slice(1)).toEqual(
      names.map((name) => ({ role: 'tool', tool_call_id: `id_${name}`, content: `${name} done` })),
    );
  });

  it('calls DTO, zod and string tools with the validated input', async () => {
    llm
      .reply({
        calls: [
          { name: 'forecast', arguments: { city: '北京', days: 3 } },
          { name: 'double', arguments: { n: 21 } },
          { name: 'shout', arguments: { input: 'quiet' } },
        ],
      })
      .reply({ text: 'ok' });
    const { body } = await jackdaw.chat({ query: 'go', includeDetails: true });
    expect(body['tool_results']).toMatchObject([
      { tool: 'forecast', success: true, result: { city: '北京', isDto: true } },
      { tool: 'double', success: true, result: 42 },
      { tool: 'shout', success: true, result: 'QUIET' },
    ]);
    expect(Object.fromEntries(tools.called)).toEqual({
      forecast: { city: '北京', days: 3 },
      double: { n: 21 },
      shout: 'quiet',
    });
  });

  it.each([
    ['an unknown tool', 'double_it', { n: 1 }, 'Unknown tool "double_it"'],
    ['malformed arguments', 'double', '{"n": one}', 'not valid JSON: unexpected "one}" at position 6'],
    ['truncated arguments', 'double', '{"n": 1', 'the text ends too early'],
    ['a missing argument', 'forecast', { city: 'Rome' }, 'days'],
    ['an unknown argument', 'double', { n: 1, m: 2 }, 'm'],
    ['an ill-typed argument', 'forecast', { city: 'Rome', days: 'two' }, 'days'],
    ['an argument out of its range', 'forecast', { city: 'Rome', days: 8 }, 'days'],
  ])('reports %s to the model and calls no tool', async (_case, name, args, reason) => {
    llm.reply({ calls: [{ id: 'x', name, arguments: args }] }).reply({ text: 'sorry' });
    const { body } = await jackdaw.chat({ query: 'go', includeDetails: true });
    expect(body).toMatchObject({ result: 'sorry', is_complete: true, tool_results: [{ tool: name, success: false }] });
    const received = llm.lastRequest.messages.at(-1);
    expect(received).toMatchObject({ role: 'tool', tool_call_id: 'x', content: expect.stringMatching(/^Error: /) });
    expect(received?.content).toContain(reason);
    expect(tools.called).toEqual([]);
  });

  describe('in a session', () => {
    it('creates an unknown session and sends its earlier turns completely to the model', async () => {
      llm
        .reply({ text: 'hm', calls: [{ id: 'c1', name: 'double', arguments: { n: 4 } }] })
        .reply({ text: 'eight' })
        .reply({ text: 'you asked for 4' });
      const first = await jackdaw.chat({ query: 'double 4', sessionId: 'my-session_1' });
      expect(first.body['session_id']).toBe('my-session_1');
      await jackdaw.chat({ query: 'what was it?', sessionId: 'my-session_1' });
      const [system, ...messages] = llm.lastRequest.messages;
      expect(system?.role).toBe('system');
      expect(messages).toEqual([
        { role: 'user', content: 'double 4' },
        {
          role: 'assistant',
          content: 'hm',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'double', arguments: '{"n":4}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: '8' },
        { role: 'assistant', content: 'eight' },
        { role: 'user', content: 'what was it?' },
      ]);
    });

    it("sends at most the agent's limit of messages to the model, in whole turns, and reports it", async () => {
      llm.always({ text: 'ok' });
      for (const query of ['one', 'two', 'three']) await jackdaw.chat({ query, sessionId: 'long' });
      const { body } = await jackdaw.chat({ query: 'four', sessionId: 'long' });
      expect(body['memory_state']).toEqual({
        message_count: 6,
        context_tokens: expect.any(Number),
        dropped: 2,
        policy: 'sliding_window',
        max_context_tokens: 16_000,
      });
      expect(llm.lastRequest.messages.slice(1).map(({ content }) => content)).toEqual([
        'two',
        'ok',
        'three',
        'ok',
        'four',
      ]);
    });

    it('continues a session with a generated id', async () => {
      llm.always({ text: 'ok' });
      const { body } = await jackdaw.chat({ query: 'one' });
      await jackdaw.chat({ query: 'two', sessionId: body['session_id'] });
      expect(llm.lastRequest.messages.slice(1).map(({ content }) => content)).toEqual(['one', 'ok', 'two']);
    });

    it.each(['', 'a b', 'a/b', '../x', '..', 'e\u0301', 'x'.repeat(129)])('refuses the id %j', async (sessionId) => {
      const { status, body } = await jackdaw.chat({ query: 'x', sessionId });
      expect([status, body]).toMatchObject([400, { code: 'VALIDATION_FAILED', errors: [{ field: 'sessionId' }] }]);
    });

    it('has a resource with counts, and pages of whole turns', async () => {
      const sessionId = 'x'.repeat(128);
      llm.reply({ calls: [{ id: 'c', name: 'double', arguments: { n: 1 } }] }).always({ text: 'ok' });
      for (const query of ['one', 'two', 'three']) await jackdaw.chat({ query, sessionId });

      const session = await jackdaw.get(`/api/sessions/${sessionId}`);
      expect(session.body).toEqual({
        id: sessionId,
        owner: 'local',
        parent_session_id: null,
        turn_count: 3,
        message_count: 8,
        metadata: {},
        is_tainted: false,
        is_private: true,
        created_at: expect.any(Number),
        updated_at: expect.any(Number),
      });
      const page = await jackdaw.get(`/api/sessions/${sessionId}/messages?limit=2`);
      expect(page.body).toMatchObject({
        messages: [
          { turn: 1, role: 'user', content: 'one' },
          { turn: 1, role: 'assistant', content: '', tool_calls: [{ id: 'c', name: 'double', arguments: '{"n":1}' }] },
          { turn: 1, role: 'tool', tool_call_id: 'c', name: 'double', content: '2' },
          { turn: 1, role: 'assistant', content: 'ok' },
          { turn: 2, role: 'user', content: 'two' },
          { turn: 2, role: 'assistant', content: 'ok' },
        ],
        next: 2,
      });
      const rest = await jackdaw.get(`/api/sessions/${sessionId}/messages?limit=2&after=2`);
      expect(rest.body).toMatchObject({
        messages: [
          { turn: 3, content: 'three' },
          { turn: 3, content: 'ok' },
        ],
        next: null,
      });
      const exact = await jackdaw.get(`/api/sessions/${sessionId}/messages?limit=3`);
      expect(exact.body).toMatchObject({ next: null });
    });

    it('answers an invalid page with 400 and an unknown session with 404', async () => {
      const negative = await jackdaw.get('/api/runs?limit=-1');
      expect(negative.body['detail']).toContain('limit must be a whole number, in digits only');
      for (const query of ['limit=0', 'limit=201', 'limit=x', 'after=-1', 'after=1.5', 'page=2']) {
        const { status, body } = await jackdaw.get(`/api/sessions/long/messages?${query}`);
        expect([query, status, body['code']]).toEqual([query, 400, 'VALIDATION_FAILED']);
      }
      for (const path of [
        '/api/sessions/unknown',
        '/api/sessions/unknown/messages',
        `/api/sessions/${'x'.repeat(129)}`,
      ]) {
        const { status, body } = await jackdaw.get(path);
        expect([status, body['code']]).toEqual([404, 'SESSION_NOT_FOUND']);
      }
    });
  });
});
