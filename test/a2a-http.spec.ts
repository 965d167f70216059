import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ask, openClient, taskOf } from './support/a2a-world.js';
import { keyHolder } from './support/api-keys.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Answer, type Jackdaw } from './support/jackdaw.js';
import { WaitingTools } from './support/waiting.tool.js';

const MODEL = { provider: 'openai' };
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkqGdoAAADhgGAWjR9awAAAABJRU5ErkJggg==';
const PAYS = { calls: [{ id: 'c1', name: 'pay', arguments: { to: 'bob', amount: 5 } }] };
const V1 = { 'a2a-version': '1.0' };

const [ann, ben, eve, reader] = [
  keyHolder('ann', 'acme', 'user'),
  keyHolder('ben', 'acme', 'user', 'own'),
  keyHolder('eve', 'other', 'user'),
  keyHolder('rae', 'acme', 'viewer'),
];
let llm: FakeLlm;
let jackdaw: Jackdaw;

beforeAll(async () => {
  llm = await FakeLlm.start();
  jackdaw = await startJackdaw({
    llm,
    tools: [new WaitingTools()],
    env: { API_KEYS: [ann, ben, eve, reader].map(({ entry }) => entry).join(',') },
    options: {
      agents: [
        { name: 'default', model: MODEL, description: 'Answers questions.', instructions: 'A secret instruction.' },
        { name: 'other', model: MODEL },
      ],
    },
  });
});
afterEach(() => llm.reset());
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

type Message = Readonly<Record<string, unknown>>;

function message(more: Message = {}): Message {
  return { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'Hi' }], ...more };
}

function rpc(method: string, params: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return jackdaw.post('/a2a/default', { jsonrpc: '2.0', id: 1, method, params }, { ...V1, ...ann.headers, ...headers });
}

const send = (params: Message, headers = {}) => rpc('SendMessage', params, headers);
const codeOf = ({ body }: Answer) => (body as { error?: { code: number } }).error?.code;
const textOf = (answer: Answer) => answer.text;

describe('POST /a2a/:agent', () => {
  it('takes a request without a version as one of 0.3', async () => {
    const answer = await rpc('SendMessage', { message: message() }, { 'a2a-version': '' });
    expect([answer.status, codeOf(answer)]).toEqual([200, -32_601]);
    expect(textOf(answer)).toContain('A2A-Version');
  });

  it.each(['2.0', '1', 'one'])('refuses the version %s, and names its own', async (version) => {
    const answer = await send({ message: message() }, { 'a2a-version': version });
    expect(answer.body).toMatchObject({
      error: {
        code: -32_009,
        data: [{ reason: 'VERSION_NOT_SUPPORTED', metadata: { supportedVersions: '1.0, 0.3' } }],
      },
    });
  });

  it('takes the version also from the query, and ignores patch numbers', async () => {
    llm.reply({ text: 'Hello' }, { text: 'Hello' });
    const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: message() } };
    const answer = await jackdaw.post('/a2a/default?A2A-Version=1.0', body, ann.headers);
    expect(codeOf(answer)).toBeUndefined();
    expect(codeOf(await send({ message: message() }, { 'a2a-version': '1.0.3' }))).toBeUndefined();
  });

  it.each([
    ['a batch', [], -32_600],
    ['a notification', { jsonrpc: '2.0', method: 'SendMessage' }, -32_600],
    ['another protocol', { id: 1, method: 'SendMessage' }, -32_600],
    ['an unknown method', { jsonrpc: '2.0', id: 1, method: 'Nothing' }, -32_601],
    ['a method of an object', { jsonrpc: '2.0', id: 1, method: 'constructor' }, -32_601],
  ])('refuses %s', async (_what, body, code) => {
    const answer = await jackdaw.post('/a2a/default', body, { ...V1, ...ann.headers });
    expect([answer.status, codeOf(answer)]).toEqual([200, code]);
  });

  it('answers a body that is not JSON with a JSON-RPC error', async () => {
    const answer = await jackdaw.post('/a2a/default', '{"jsonrpc":', { ...V1, ...ann.headers });
    expect([answer.status, codeOf(answer)]).toEqual([400, -32_700]);
  });

  it.each<readonly [string, Message]>([
    ['no message', {}],
    ['no parts', { message: message({ parts: [] }) }],
    ['no id', { message: message({ messageId: '' }) }],
    ['the role of the agent', { message: message({ role: 'ROLE_AGENT' }) }],
    ['two contents in a part', { message: message({ parts: [{ text: 'a', url: 'b' }] }) }],
    ['a part without content', { message: message({ parts: [{}] }) }],
    ['a text that is a number', { message: message({ parts: [{ text: 1 }] }) }],
    ['a blank text', { message: message({ parts: [{ text: ' ' }] }) }],
    ['a tenant', { tenant: 'x', message: message() }],
    ['a negative history', { message: message(), configuration: { historyLength: -1 } }],
    ['an invalid context', { message: message({ contextId: 'a/b c' }) }],
    ['an image of another format', { message: message({ parts: [{ raw: 'AAAA', mediaType: 'image/png' }] }) }],
  ])('refuses a request with %s', async (_what, params) => {
    const answer = await send(params);
    expect([answer.status, codeOf(answer)]).toEqual([200, -32_602]);
    expect(llm.requests).toEqual([]);
  });

  it.each<readonly [string, Message, number]>([
    [
      'push notifications',
      { message: message(), configuration: { taskPushNotificationConfig: { url: 'http://x' } } },
      -32_003,
    ],
    [
      'an output of another type',
      { message: message(), configuration: { acceptedOutputModes: ['video/mp4'] } },
      -32_005,
    ],
    ['a file without a type', { message: message({ parts: [{ url: 'https://example.com/a' }] }) }, -32_005],
  ])('refuses %s', async (_what, params, code) => {
    expect(codeOf(await send(params))).toBe(code);
  });

  it.each(['CreateTaskPushNotificationConfig', 'ListTaskPushNotificationConfigs'])('has no %s', async (method) => {
    expect(codeOf(await rpc(method, {}))).toBe(-32_003);
  });

  it('has no extended card', async () => {
    expect(codeOf(await rpc('GetExtendedAgentCard', {}))).toBe(-32_004);
  });

  it('starts one run for a repeated message, and refuses another message with its id', async () => {
    llm.reply({ text: 'Hello' });
    const given = message();
    const [first, second] = [await send({ message: given }), await send({ message: given })];
    expect(second.body).toEqual(first.body);
    expect([second.headers.get('idempotent-replayed'), llm.requests.length]).toEqual(['true', 1]);
    expect(codeOf(await send({ message: { ...given, parts: [{ text: 'Other' }] } }))).toBe(-32_602);
  });

  it('sends images and data to the model', async () => {
    llm.reply({ text: 'Seen' });
    await send({
      message: message({ parts: [{ text: 'See' }, { data: { a: 1 } }, { raw: PIXEL, mediaType: 'image/png' }] }),
    });
    const content = JSON.stringify(llm.requests[0]!.messages.at(-1));
    expect(content).toContain('See\\n{\\"a\\":1}');
    expect(content).toContain(`data:image/png;base64,${PIXEL}`);
  });

  it('refuses a second message while the task of its context waits, and names the task', async () => {
    llm.reply(PAYS);
    const { result } = (await send({ message: message() })).body as unknown as {
      result: { task: { id: string; contextId: string } };
    };
    const answer = await send({ message: message({ contextId: result.task.contextId }) });
    expect(codeOf(answer)).toBe(-32_004);
    expect(textOf(answer)).toContain(result.task.id);
    const mismatch = message({ taskId: result.task.id, contextId: 'another' });
    expect(codeOf(await send({ message: mismatch }))).toBe(-32_602);
    const unclear = await send({ message: message({ taskId: result.task.id, parts: [{ text: 'yes' }] }) });
    expect(textOf(unclear)).toContain('resume');
  });

  it('answers an unknown agent with 404, and a missing key with 401', async () => {
    const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: message() } };
    const unknown = await jackdaw.post('/a2a/unknown', body, { ...V1, ...ann.headers });
    expect(textOf(unknown)).toContain('AGENT_NOT_FOUND');
    expect((await jackdaw.post('/a2a/default', body, V1)).status).toBe(401);
  });
});

describe('the tasks of others', () => {
  it('do not exist for another tenant, another owner, or another agent', async () => {
    llm.reply(PAYS);
    const client = await openClient(jackdaw.url, { headers: ann.headers });
    const { id, contextId } = await taskOf(client.sendMessage(ask('Pay')));
    for (const { headers } of [ben, eve]) {
      for (const method of ['GetTask', 'CancelTask', 'SubscribeToTask'])
        expect([method, codeOf(await rpc(method, { id }, headers))]).toEqual([method, -32_001]);
      expect(codeOf(await send({ message: message({ taskId: id }) }, headers))).toBe(-32_001);
      const listed = await rpc('ListTasks', {}, headers);
      expect(listed.body).toMatchObject({ result: { tasks: [], totalSize: 0, nextPageToken: '' } });
    }
    // A session of another owner is no context; one of another tenant has another namespace.
    expect(codeOf(await send({ message: message({ contextId }) }, ben.headers))).toBe(-32_602);
    const other = { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id } };
    expect(codeOf(await jackdaw.post('/a2a/other', other, { ...V1, ...ann.headers }))).toBe(-32_001);
  });

  it('can be read, not changed, by a viewer', async () => {
    llm.reply({ text: 'Hello' });
    const client = await openClient(jackdaw.url, { headers: ann.headers });
    const { id } = await taskOf(client.sendMessage(ask('Hi')));
    const got = await rpc('GetTask', { id }, reader.headers);
    expect(got.text).toContain('Hello');
    const refused = await send({ message: message() }, reader.headers);
    expect([refused.status, codeOf(refused)]).toEqual([403, -32_000]);
    expect((await rpc('CancelTask', { id }, reader.headers)).status).toBe(403);
  });
});

describe('the card of an agent', () => {
  it('has public facts only, for callers with a key', async () => {
    expect((await jackdaw.get('/.well-known/agent-card.json')).status).toBe(401);
    const answer = await jackdaw.get('/.well-known/agent-card.json', ann.headers);
    expect(answer.body).toMatchObject({
      name: 'default',
      description: 'Answers questions.',
      supportedInterfaces: [
        { url: `${jackdaw.url}/a2a/default`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { url: `${jackdaw.url}/a2a/default`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
        { url: `${jackdaw.url}/a2a/default`, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
      ],
      capabilities: { streaming: true, pushNotifications: false },
      securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
      skills: [{ id: 'default', tags: ['agent'] }],
    });
    expect(textOf(answer)).not.toContain('secret');
    const one = await jackdaw.get('/a2a/other/.well-known/agent-card.json', ann.headers);
    expect(one.body).toMatchObject({ name: 'other', description: 'The agent "other".' });
    expect((await jackdaw.get('/a2a/unknown/.well-known/agent-card.json', ann.headers)).status).toBe(404);
  });

  it('has an ETag, and another form for 0.3', async () => {
    const first = await jackdaw.get('/.well-known/agent-card.json', ann.headers);
    const etag = first.headers.get('etag')!;
    const again = await jackdaw.get('/.well-known/agent-card.json', { ...ann.headers, 'if-none-match': etag });
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag]);
    const former = await jackdaw.get('/.well-known/agent-card.json', { ...ann.headers, 'a2a-version': '0.3' });
    expect(former.body).toMatchObject({ protocolVersion: '0.3.0', url: `${jackdaw.url}/a2a/default` });
  });

  it('is public with A2A_CARDS=public, and absent with A2A=off', async () => {
    const env = { API_KEYS: ann.entry };
    const open = await startJackdaw({ env: { ...env, A2A_CARDS: 'public' } });
    expect((await open.get('/.well-known/agent-card.json')).status).toBe(200);
    await open.stop();
    const off = await startJackdaw({ env: { ...env, A2A: 'off' } });
    expect((await off.get('/.well-known/agent-card.json', ann.headers)).status).toBe(404);
    expect((await off.post('/a2a/default', {}, ann.headers)).status).toBe(404);
    await off.stop();
  });
});

describe('HTTP+JSON', () => {
  it('answers with google.rpc.Status', async () => {
    const answer = await jackdaw.get('/a2a/default/tasks/none', { ...V1, ...ann.headers });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'application/a2a+json; charset=utf-8']);
    expect(answer.body).toMatchObject({
      error: { code: 404, status: 'NOT_FOUND', details: [{ reason: 'TASK_NOT_FOUND', domain: 'a2a-protocol.org' }] },
    });
  });

  it('has version 1.0 only', async () => {
    const answer = await jackdaw.get('/a2a/default/tasks', ann.headers);
    expect([answer.status, textOf(answer).includes('VERSION_NOT_SUPPORTED')]).toEqual([400, true]);
  });

  it('takes a body in the type of A2A', async () => {
    llm.reply({ text: 'Hello' });
    const headers = { ...V1, ...ann.headers, 'content-type': 'application/a2a+json' };
    const answer = await jackdaw.post('/a2a/default/message:send', { message: message() }, headers);
    expect(answer.body).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } });
  });

  it.each([
    ['GET', 'tasks/x/pushNotificationConfigs'],
    ['GET', 'tasks/x/pushNotificationConfigs/y'],
    ['DELETE', 'tasks/x/pushNotificationConfigs/y'],
    ['POST', 'tasks/x/pushNotificationConfigs'],
    ['GET', 'extendedAgentCard'],
    ['POST', 'message:other'],
    ['POST', 'tasks/x:other'],
  ])('refuses %s %s', async (method, path) => {
    const answer = await jackdaw.send(`/a2a/default/${path}`, { method, headers: { ...V1, ...ann.headers } });
    expect([400, 404]).toContain(answer.status);
    expect(answer.body).toHaveProperty('error.message');
  });
});
