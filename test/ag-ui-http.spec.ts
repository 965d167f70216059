import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rmSync } from 'node:fs';
import { keyHolder, makeKey } from './support/api-keys.js';
import { FakeLlm } from './support/fake-llm.js';
import { newFolder, startJackdaw, type Answer, type Jackdaw } from './support/jackdaw.js';
import { WaitingTools } from './support/waiting.tool.js';

const MODEL = { provider: 'openai' };
const QUESTION = { id: 'q1', role: 'user', content: 'Pay bob.' };
const PAYS = { calls: [{ id: 'c1', name: 'pay', arguments: { to: 'bob', amount: 5 } }] };
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

type Event = Readonly<Record<string, unknown>>;

const tools = new WaitingTools();
const [admin, ann, ben] = [
  keyHolder('root', 'acme', 'admin'),
  keyHolder('ann', 'acme', 'user'),
  keyHolder('ben', 'acme', 'user', 'own'),
];
let llm: FakeLlm;
let jackdaw: Jackdaw;

beforeAll(async () => {
  llm = await FakeLlm.start();
  jackdaw = await startJackdaw({
    llm,
    tools: [tools],
    env: { API_KEYS: [admin, ann, ben].map(({ entry }) => entry).join(',') },
    options: {
      agents: [
        { name: 'default', model: MODEL },
        { name: 'other', model: MODEL },
      ],
    },
  });
});
beforeEach(() => void tools.done.splice(0));
afterEach(() => llm.reset());
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

interface Sent {
  readonly agent?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function send(body: object, { agent = 'default', headers = {} }: Sent = {}): Promise<Answer> {
  const input = { threadId: 't1', runId: 'r1', messages: [QUESTION], tools: [], context: [], ...body };
  return jackdaw.post(`/ag-ui/${agent}`, input, { ...ann.headers, ...headers });
}

function eventsOf({ status, text }: Answer): Event[] {
  expect([status, text.endsWith('\n\n')]).toEqual([200, true]);
  return text
    .trim()
    .split('\n\n')
    .map((frame) => {
      expect(frame).toMatch(/^data: \{.*\}$/);
      return JSON.parse(frame.slice('data: '.length)) as Event;
    });
}

/** The id of the interrupt of a run that wants to pay. */
async function interrupt(): Promise<string> {
  llm.reply(PAYS, { text: 'Paid.' });
  const { outcome } = eventsOf(await send({})).at(-1) as { outcome: { interrupts: { id: string }[] } };
  return outcome.interrupts[0]!.id;
}

const resume = (interruptId: string, payload: unknown = { approved: true }) => ({
  resume: [{ interruptId, status: 'resolved', payload }],
});

describe('POST /ag-ui/:agent', () => {
  it('sends frames of data only, and stores the ids of the client with the run', async () => {
    llm.reply({ text: 'Hello' });
    const answer = await send({ parentRunId: 'r0', threadId: 'mine' });
    const events = eventsOf(answer);
    expect(answer.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(events[0]).toEqual({ type: 'RUN_STARTED', threadId: 'mine', runId: 'r1', parentRunId: 'r0' });
    const runId = answer.headers.get('x-run-id')!;
    expect(events[1]).toEqual({ type: 'CUSTOM', name: 'jackdaw.run', value: { run_id: runId } });
    const { body } = await jackdaw.get(`/api/runs/${runId}/journal`, ann.headers);
    expect(JSON.stringify(body)).toContain(
      JSON.stringify({ thread_id: 'mine', client_run_id: 'r1', parent_client_run_id: 'r0' }),
    );
  });

  it('sends the version of the protocol only to a client that names one', async () => {
    llm.reply({ text: 'a' }, { text: 'b' });
    expect(eventsOf(await send({}))[0]).not.toHaveProperty('protocolVersion');
    expect(eventsOf(await send({ protocolVersion: '1.0' }))[0]).toHaveProperty('protocolVersion', '1.0');
  });

  it.each([
    ['a body without ids', { threadId: undefined, runId: 1 }, /threadId: .*runId: /],
    ['no message', { messages: [] }, /messages must contain a message of the user/],
    ['content that is no text', { messages: [{ ...QUESTION, content: 7 }] }, /messages\.0\.content must be a text/],
    ['calls without a function', { messages: [QUESTION, { role: 'assistant', toolCalls: [{}] }] }, /toolCalls/],
    ['a result without its call', { messages: [{ role: 'tool', content: 'x' }] }, /toolCallId/],
    ['tools with the same name', { tools: [{ name: 'a' }, { name: 'a' }] }, /used twice/],
    ['an unknown status of an interrupt', { resume: [{ interruptId: 'a', status: 'done' }] }, /resume\.0\.status/],
    ['an interrupt of another server', resume('theirs'), /resume\.0\.interruptId is not the id of an interrupt/],
  ])('refuses %s', async (_title, body, message) => {
    const answer = await send(body);
    expect(answer.headers.get('content-type')).toMatch(/problem\+json/);
    expect(answer.body).toMatchObject({
      status: 400,
      code: 'VALIDATION_FAILED',
      detail: expect.stringMatching(message),
    });
    expect(llm.requests).toHaveLength(0);
  });

  it('answers 404 for an unknown agent, and 401 without a key', async () => {
    expect((await send({}, { agent: 'unknown' })).body).toMatchObject({ status: 404, code: 'AGENT_NOT_FOUND' });
    expect((await jackdaw.post('/ag-ui/default', {})).body).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });
  });

  it('ignores messages, tools and members that it does not know', async () => {
    llm.reply({ text: 'fine' });
    const messages = [
      { id: 'a', role: 'activity', activityType: 'plan', content: { steps: [] } },
      { id: 'b', role: 'reasoning', content: 'Hm.' },
      { id: 'c', role: 'narrator', content: { any: 'thing' }, toolCalls: 7 },
      { id: 'd', role: 'tool', toolCallId: 'lost', content: 'of no call' },
      {
        id: 'e',
        role: 'assistant',
        toolCalls: [{ id: 'x', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      {
        id: 'f',
        role: 'user',
        content: [
          { type: 'text', text: 'Hello' },
          { type: 'audio', source: {} },
        ],
      },
    ];
    const events = eventsOf(await send({ messages, tools: [{ type: 'web_search' }, 7], future: { a: 1 } }));
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED' });
    expect(llm.requests[0]!.messages.slice(1).map(({ role, content }) => [role, content])).toEqual([
      ['assistant', null],
      ['tool', 'The call has no result.'],
      ['user', 'Hello\n[audio left out]'],
    ]);
  });

  it('sends images of both versions to the model', async () => {
    llm.reply({ text: 'A pixel.' });
    const content = [
      { type: 'text', text: 'What is this?' },
      { type: 'image', source: { type: 'data', value: PIXEL, mimeType: 'image/png' } },
      { type: 'binary', mimeType: 'image/png', data: PIXEL },
    ];
    eventsOf(await send({ messages: [{ ...QUESTION, content }] }));
    expect(JSON.stringify(llm.requests[0]!.messages).split(PIXEL)).toHaveLength(3);
  });

  it('accepts a large image, and no other large body', async () => {
    const large = 'A'.repeat(2_000_000);
    const image = { type: 'image', source: { type: 'data', value: large, mimeType: 'image/png' } };
    expect((await send({ messages: [{ ...QUESTION, content: [image] }] })).status).toBe(400);
    expect((await send({ messages: [{ ...QUESTION, content: large }] })).status).toBe(413);
    expect((await send({ forwardedProps: image })).status).toBe(413);
  });

  it('repeats the events of a run for the same Idempotency-Key', async () => {
    llm.reply({ text: 'Hello' });
    const headers = { 'idempotency-key': 'k1' };
    const [first, second] = [await send({}, { headers }), await send({}, { headers })];
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(second.headers.get('x-run-id')).toBe(first.headers.get('x-run-id'));
    const made = (answer: Answer) =>
      eventsOf(answer).filter(({ type }) => type === 'TEXT_MESSAGE_START' || type === 'RUN_FINISHED');
    expect(made(second)).toEqual(made(first));
    const other = await send({ threadId: 't2' }, { headers });
    expect([other.status, llm.requests.length]).toEqual([422, 1]);
  });
});

describe('an answer to an interrupt of AG-UI', () => {
  it('needs a principal that may decide about the run', async () => {
    const id = await interrupt();
    expect((await send(resume(id), { headers: ben.headers })).body).toMatchObject({
      status: 404,
      code: 'RUN_NOT_FOUND',
    });
    const chatter = await makeKey(jackdaw, admin.headers, { scopes: ['chat', 'runs:read'] });
    expect((await send(resume(id), { headers: chatter.headers })).body).toMatchObject({
      status: 403,
      code: 'FORBIDDEN',
      scope: 'runs:write',
    });
    expect(tools.done).toEqual([]);
    expect(eventsOf(await send(resume(id))).at(-1)).toMatchObject({ outcome: { type: 'success' } });
    expect(tools.done).toEqual(['pay bob 5']);
  });

  it.each([
    ['a payload without a decision', resume, {}, /resume\.0\.payload must be/],
    ['arguments that the tool refuses', resume, { approved: true, editedArgs: { to: 1 } }, /arguments/],
    [
      'two answers',
      (id: string, payload: unknown) => ({ resume: [...resume(id, payload).resume, ...resume(id, payload).resume] }),
      true,
      /twice/,
    ],
  ] as const)('refuses %s, and decides nothing', async (_title, body, payload, message) => {
    const id = await interrupt();
    expect((await send(body(id, payload))).body).toMatchObject({
      status: 400,
      code: 'VALIDATION_FAILED',
      detail: expect.stringMatching(message),
    });
    expect((await send(resume(id), { agent: 'other' })).body).toMatchObject({ status: 400 });
    const [runId] = id.split('/');
    expect((await jackdaw.get(`/api/runs/${runId}`, ann.headers)).body).toMatchObject({ status: 'waiting' });
    await jackdaw.post(`/api/runs/${runId}/cancel`, undefined, ann.headers);
  });

  it('follows the run when it was decided elsewhere, once or twice at the same time', async () => {
    const id = await interrupt();
    const [runId] = id.split('/');
    await jackdaw.post(`/api/runs/${runId}/deny`, { reason: 'no' }, ann.headers);
    const answers = await Promise.all([send(resume(id)), send(resume(id))]);
    for (const answer of answers) {
      expect(eventsOf(answer).find(({ type }) => type === 'TOOL_CALL_RESULT')).toMatchObject({
        content: expect.stringMatching(/Denied/),
      });
    }
    expect(tools.done).toEqual([]);
    const cancelled = await interrupt();
    await jackdaw.post(`/api/runs/${cancelled.split('/')[0]}/cancel`, undefined, ann.headers);
    expect(eventsOf(await send(resume(cancelled))).at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'RUN_CANCELLED' });
  });
});

describe('a run of AG-UI whose server stops during a call', () => {
  const folder = newFolder();
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each([
    [
      'settled',
      { status: 'resolved', payload: { outcome: 'succeeded', result: 'sent' } },
      { outcome: { type: 'success' } },
    ],
    ['abandoned', { status: 'cancelled' }, { type: 'RUN_ERROR', code: 'RUN_CANCELLED' }],
  ])('waits until a person has %s it', async (title, entry, end) => {
    const start = () => startJackdaw({ llm, tools: [tools], dataDir: folder, env: { RECOVERY: 'resume' } });
    const body = { threadId: title, runId: title, messages: [QUESTION] };
    const key = { 'idempotency-key': title };
    llm.reply({ calls: [{ id: 'c1', name: 'send', arguments: { text: 'x' } }] }, { text: 'Sent.' });
    tools.isHolding = true;
    const first = await start();
    const arrived = tools.arrived();
    const cut = first.post('/ag-ui/default', body, key);
    await arrived;
    await first.stop();
    expect(eventsOf(await cut).at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'SHUTTING_DOWN' });
    tools.isHolding = false;
    const second = await start();
    const { outcome } = eventsOf(await second.post('/ag-ui/default', body, key)).at(-1) as {
      outcome: { interrupts: Event[] };
    };
    const [{ id, reason }] = outcome.interrupts as [Event];
    expect(reason).toBe('jackdaw:outcome_unknown');
    const resumed = await second.post('/ag-ui/default', { ...body, resume: [{ interruptId: id, ...entry }] });
    expect(eventsOf(resumed).at(-1)).toMatchObject(end);
    expect(tools.done).toEqual(['send x']);
    await second.stop();
  });
});

describe('COMPATIBLE_API=off', () => {
  it('disables AG-UI', async () => {
    const closed = await startJackdaw({ env: { COMPATIBLE_API: 'off' } });
    expect((await closed.post('/ag-ui/default', {})).status).toBe(404);
    await closed.stop();
  });
});
