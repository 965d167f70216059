import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createServer, type AddressInfo } from 'node:net';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Answer, type Jackdaw } from './support/jackdaw.js';
import { TestTools } from './support/test.tool.js';

const KEY = 'my-very-secret-key';
const STACK = /\bat .*\.[jt]s:\d+|node_modules/;
const MODEL = { provider: 'openai' };

/** Expects that no answer contains the API key or a stack trace. */
function expectNoSecret(...answers: Answer[]): void {
  for (const { text } of answers) {
    expect(text).not.toContain(KEY);
    expect(text).not.toMatch(STACK);
  }
}

describe('errors', () => {
  let llm: FakeLlm;
  let tools: TestTools;
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    llm = await FakeLlm.start();
    tools = new TestTools();
    jackdaw = await startJackdaw({
      llm,
      tools: [tools],
      env: { OPENAI_API_KEY: KEY, LLM_TIMEOUT_MS: '1500', LOG_LEVEL: 'trace' },
      options: {
        agents: [
          { name: 'default', model: MODEL },
          { name: 'short', model: MODEL, limits: { maxIterations: 2 } },
          { name: 'hasty', model: MODEL, limits: { runTimeoutMs: 700 } },
        ],
      },
    });
    // The first request loads the provider's SDK, whose load time must not count against the timeouts below.
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

  /** Expects that a failed run leaves exactly these messages and that the session accepts another turn. */
  async function expectTurn(sessionId: string, messages: readonly unknown[], status: string): Promise<void> {
    expect(await jackdaw.messages(sessionId)).toMatchObject(messages);
    llm.reset();
    llm.reply({ text: 'on we go' });
    const { status: http, body } = await jackdaw.chat({ query: 'again', sessionId });
    expect([http, body['result']]).toEqual([200, 'on we go']);
    const page = await jackdaw.get(`/api/sessions/${sessionId}/messages`);
    expect(page.body['messages']).toMatchObject([
      ...messages.map((message) => ({ ...(message as object), turn: 1, turn_status: status })),
      { turn: 2, turn_status: 'completed' },
      { turn: 2, turn_status: 'completed' },
    ]);
  }

  it('1: reports an invalid API key by its variable, never by its value', async () => {
    llm.always({ status: 401, body: { error: { message: `Incorrect API key provided: ${KEY}. See your account.` } } });
    const answer = await jackdaw.chat({ query: 'hello', sessionId: 'key' });
    expect(answer.status).toBe(502);
    expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect(answer.body).toEqual({
      request_id: expect.any(String),
      type: 'about:blank',
      title: 'Bad Gateway',
      status: 502,
      detail: expect.stringMatching(/refused the API key .* Check OPENAI_API_KEY/),
      code: 'MODEL_AUTHENTICATION',
      provider: 'openai',
      model: expect.any(String),
      provider_status: 401,
      run_id: expect.any(String),
      session_id: 'key',
      finish_reason: 'error',
      is_complete: false,
      iterations: 1,
    });
    const run = await jackdaw.get(`/api/runs/${String(answer.body['run_id'])}`);
    expect(run.body).toMatchObject({ status: 'failed', error: { code: 'MODEL_AUTHENTICATION', is_retryable: false } });
    const events = await (await jackdaw.follow(String(answer.body['run_id']))).all();
    expectNoSecret(answer, run, { ...answer, text: JSON.stringify(events) });
    await expectTurn('key', [{ role: 'user', content: 'hello' }], 'failed');
  });

  it('2: sends the model an error that lists the available tools for an unknown tool', async () => {
    llm.reply({ calls: [{ name: 'weather', arguments: {} }] }).reply({ text: 'I cannot.' });
    const { status, body } = await jackdaw.chat({ query: 'weather?', includeDetails: true });
    expect([status, body]).toMatchObject([
      200,
      { is_complete: true, tool_results: [{ tool: 'weather', success: false, error: expect.any(String) }] },
    ]);
    expect(llm.lastRequest.messages.at(-1)?.content).toMatch(
      /^Error: Unknown tool "weather"\. Available tools: .*calculator/,
    );
  });

  it("3: sends a tool's error message without its stack to the model", async () => {
    llm.reply({ calls: [{ name: 'broken' }, { name: 'double', arguments: { n: 2 } }] }).reply({ text: 'half' });
    const { status, body } = await jackdaw.chat({ query: 'go', includeDetails: true });
    expect([status, body]).toMatchObject([
      200,
      {
        result: 'half',
        tool_results: [
          { tool: 'broken', success: false, error: 'the pipe burst' },
          { tool: 'double', success: true, result: 4 },
        ],
      },
    ]);
    expect(llm.lastRequest.messages.at(-2)?.content).toBe('Error: the pipe burst');
  });

  it('4: fails the run with a timeout and 504 when the model is silent', async () => {
    llm.reply({ calls: [{ id: 'c', name: 'double', arguments: { n: 3 } }] }).reply({ hang: true });
    const answer = await jackdaw.chat({ query: 'go', sessionId: 'slow' });
    expect([answer.status, answer.body]).toMatchObject([
      504,
      { code: 'MODEL_TIMEOUT', detail: expect.stringMatching(/silent for 1500 ms.*LLM_TIMEOUT_MS/), iterations: 2 },
    ]);
    expectNoSecret(answer);
    await llm.waitForAbort();
    await expectTurn(
      'slow',
      [
        { role: 'user', content: 'go' },
        { role: 'assistant', tool_calls: [{ id: 'c' }] },
        { role: 'tool', tool_call_id: 'c', content: '6' },
      ],
      'failed',
    );
  });

  it('5: ends the run at the iteration limit with the last text and a result for each call', async () => {
    llm.always({ text: 'Once more.', calls: [{ id: 'c', name: 'double', arguments: { n: 1 } }] });
    const { status, body } = await jackdaw.chat({
      query: 'go',
      agent: 'short',
      sessionId: 'limit',
    });
    expect([status, body]).toMatchObject([
      200,
      { result: 'Once more.', is_complete: false, finish_reason: 'iteration_limit', iterations: 2 },
    ]);
    expect(body['tool_results']).toMatchObject([
      { success: true },
      { success: false, error: expect.stringMatching(/limit of 2/) },
    ]);
    expect(tools.called).toHaveLength(1);
    expect(llm.requests).toHaveLength(2);
  });

  it('reports the wait time when the model limits the rate', async () => {
    llm.reply({ status: 429, headers: { 'retry-after': '7' }, body: { error: { message: 'slow down' } } });
    const answer = await jackdaw.chat({ query: 'go' });
    expect([answer.status, answer.headers.get('retry-after'), answer.body]).toMatchObject([
      503,
      '7',
      { code: 'MODEL_RATE_LIMITED', detail: expect.stringMatching(/slow down.*in 7 s/), retry_after_ms: 7000 },
    ]);
  });

  it.each([
    ['resets the connection', { reset: true } as const, 'MODEL_UNREACHABLE', /ECONNRESET|closed|UND_ERR/],
    ['is unavailable', { status: 503, body: { error: { message: 'overloaded' } } }, 'MODEL_UNAVAILABLE', /overloaded/],
    ['answers with the HTML page of a proxy', { status: 200, body: '<html>login</html>' }, 'MODEL_BAD_REPLY', /HTML/],
  ])('reports the cause without a stack for a model that %s', async (_case, reply, code, cause) => {
    llm.reply(reply);
    const answer = await jackdaw.chat({ query: 'go' });
    expect([answer.status, answer.body]).toMatchObject([502, { code, detail: expect.stringMatching(cause) }]);
    expectNoSecret(answer);
  });

  it('ends a stream with an event that reports the failure', async () => {
    llm.reply({ text: 'so far so', cutAfter: 3 });
    const stream = await jackdaw.stream({ query: 'go' });
    expect((await stream.all()).at(-1)).toMatchObject({
      event: 'run.failed',
      data: { finish_reason: 'error', is_complete: false, error: { code: 'MODEL_BAD_REPLY', is_retryable: true } },
    });
  });

  it('closes the turn of a run that timed out during a tool call', async () => {
    llm.reply({ calls: [{ id: 'c', name: 'wait', arguments: { name: 'forever' } }] });
    const answer = await jackdaw.chat({ query: 'go', agent: 'hasty', sessionId: 'hasty' });
    expect([answer.status, answer.body]).toMatchObject([504, { code: 'RUN_TIMEOUT', finish_reason: 'timeout' }]);
    await expectTurn(
      'hasty',
      [
        { role: 'user', content: 'go' },
        { role: 'assistant', tool_calls: [{ id: 'c' }] },
        { role: 'tool', tool_call_id: 'c', content: expect.stringMatching(/^Error: /) },
      ],
      'failed',
    );
  });

  it('logs each failure with its run and without the API key', () => {
    const failures = jackdaw.log.filter(({ msg }) => String(msg).startsWith('A run failed'));
    expect(failures.length).toBeGreaterThan(5);
    for (const failure of failures) expect(failure).toMatchObject({ run_id: expect.any(String) });
    const text = JSON.stringify(jackdaw.log);
    expect(text).toContain('the pipe burst');
    expect(text).not.toContain(KEY);
  });
});

describe('an unreachable model', () => {
  it('is reported with 502 and its address', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => closed.once('listening', resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    const jackdaw = await startJackdaw({
      env: { LLM_PROVIDER: 'openai', OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` },
    });
    const answer = await jackdaw.chat({ query: 'hello?' });
    await jackdaw.stop();
    expect([answer.status, answer.body]).toMatchObject([502, { code: 'MODEL_UNREACHABLE' }]);
    expect(answer.body['detail']).toContain(`http://127.0.0.1:${port}`);
    expect(answer.body['detail']).toContain('ECONNREFUSED');
    expectNoSecret(answer);
  });
});
