import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startJackdaw, type Answer, type Jackdaw } from './support/jackdaw.js';

const CHAT = '/api/agent/chat';

describe('bad input', () => {
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    jackdaw = await startJackdaw();
  });
  afterEach(() => expectAlive());
  afterAll(() => jackdaw.stop());

  async function expectAlive(): Promise<void> {
    const { status, body } = await jackdaw.chat({ query: '1 + 1' });
    expect([status, body['result']]).toEqual([200, '2']);
  }

  function expectProblem(answer: Answer, status: number, code: string): void {
    expect([answer.status, answer.body['code']]).toEqual([status, code]);
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(answer.body).toMatchObject({ type: 'about:blank', title: expect.any(String), status, code });
    expect(String(answer.body['detail'])).toMatch(/\w+ \w+/);
    expect(String(answer.body['detail']).length).toBeLessThan(200);
    expect(answer.text).not.toMatch(/node_modules|\s+at .*:\d+:\d+/);
  }

  function fieldsOf(answer: Answer): string[] {
    const errors = (answer.body['errors'] ?? []) as unknown as { field: string; message: string }[];
    for (const { message } of errors) expect(message).toMatch(/\w/);
    return [...new Set(errors.map(({ field }) => field))];
  }

  it.each<[string, unknown, string]>([
    ['no query', {}, 'query'],
    ['an empty query', { query: '' }, 'query'],
    ['a blank query', { query: ' \n\t ' }, 'query'],
    ['a query that is null', { query: null }, 'query'],
    ['a query that is a number', { query: 7 }, 'query'],
    ['a query that is a list', { query: ['x'] }, 'query'],
    ['an unknown field', { query: 'x', userQuery: 'y' }, 'userQuery'],
    ['a field in snake case', { query: 'x', session_id: 'y' }, 'session_id'],
    ['a session id that is null', { query: 'x', sessionId: null }, 'sessionId'],
    ['an agent that is null', { query: 'x', agent: null }, 'agent'],
    ['a flag that is null', { query: 'x', includeDetails: null }, 'includeDetails'],
    ['another flag that is null', { query: 'x', cancelOnDisconnect: null }, 'cancelOnDisconnect'],
    ['a session id that is a number', { query: 'x', sessionId: 7 }, 'sessionId'],
    ['a session id that is a list', { query: 'x', sessionId: ['abc'] }, 'sessionId'],
    ['an agent that is a number', { query: 'x', agent: 7 }, 'agent'],
    ['a flag that is a text', { query: 'x', includeDetails: 'yes' }, 'includeDetails'],
    ['a flag that is a number', { query: 'x', cancelOnDisconnect: 1 }, 'cancelOnDisconnect'],
  ])('is refused with 400: %s', async (_case, body, field) => {
    const answer = await jackdaw.chat(body);
    expectProblem(answer, 400, 'VALIDATION_FAILED');
    expect(fieldsOf(answer)).toEqual([field]);
    expect(answer.body['detail']).toContain(field);
  });

  it('is refused in the same way before a stream starts', async () => {
    const answer = await jackdaw.post('/api/agent/chat/stream', { query: '', sesionId: 'x' });
    expectProblem(answer, 400, 'VALIDATION_FAILED');
    expect(fieldsOf(answer).toSorted()).toEqual(['query', 'sesionId']);
  });

  it.each<[string, string, string]>([
    ['`__proto__`', '{"query":"x","__proto__":{"isAdmin":true}}', '__proto__'],
    ['a nested `__proto__`', '{"query":"x","a":{"b":[{"c":1},{"__proto__":{}}]}}', 'a.b[1].__proto__'],
    ['an escaped `__proto__`', String.raw`{"query":"x","a":{"\u005f_proto_\u005F":1}}`, 'a.__proto__'],
  ])('is refused with 400 and the path of the field: %s', async (_case, text, field) => {
    const answer = await jackdaw.post(CHAT, text);
    expectProblem(answer, 400, 'VALIDATION_FAILED');
    expect(fieldsOf(answer)).toEqual([field]);
    expect(({} as Record<string, unknown>)['isAdmin']).toBeUndefined();
  });

  it.each(['constructor', 'toString', 'hasOwnProperty', 'valueOf', 'isPrototypeOf', '__defineGetter__'])(
    'is refused as an unknown field although each object inherits it: %s',
    async (field) => {
      const answer = await jackdaw.chat({ query: '1 + 2', [field]: { prototype: { isAdmin: true } } });
      expectProblem(answer, 400, 'VALIDATION_FAILED');
      expect(fieldsOf(answer)).toEqual([field]);
      expect(answer.body['detail']).toContain(`the field "${field}" is not known`);
      expect(({} as Record<string, unknown>)['isAdmin']).toBeUndefined();
    },
  );

  it.each([
    [{ query: 'x', session_id: 'y' }, 'the field "session_id" is not known (did you mean "sessionId"?)'],
    [
      { query: 'x', parameters: { max_tokens: 5 } },
      'parameters.max_tokens" is not known (did you mean "parameters.maxTokens"?)',
    ],
    [{ query: 'x', includeDetials: true }, '(did you mean "includeDetails"?)'],
    [{ query: 'x', images: { '': 1 } }, 'the field "images." is not known'],
  ])('names the place of an unknown field, and the known one that it resembles: %j', async (body, text) => {
    expect((await jackdaw.chat(body)).body['detail']).toContain(text);
  });

  it('is refused with path, rule and type of each invalid field', async () => {
    const body = { query: 7, sessionId: null, images: [{ url: ['x'] }], parameters: { topP: 'high' }, other: {} };
    const answer = await jackdaw.chat(body);
    expect(answer.status).toBe(400);
    const errors = answer.body['errors'] as unknown as Record<string, unknown>[];
    expect(errors.map(({ field, rule, got }) => [field, rule, got])).toEqual(
      expect.arrayContaining([
        ['query', 'isString', 'number'],
        ['sessionId', 'isId', 'null'],
        ['images.0.url', 'isString', 'array'],
        ['parameters.topP', 'isNumber', 'string'],
        ['other', 'whitelistValidation', 'object'],
      ]),
    );
    // The message never contains the value: the value may be a secret.
    expect(answer.text).not.toContain('high');
  });

  it.each<[string, unknown, string]>([
    ['a missing text', {}, 'query is required and must be a string'],
    ['a number', { query: 7 }, 'query must be a string'],
    ['a blank text', { query: ' ' }, 'query must not be blank'],
    [
      'another model',
      { query: 'x', model: 'gpt-4o' },
      'model: "gpt-4o" is not available; the only model of this application is "offline" (provider offline)',
    ],
    [
      'a model without a key',
      { query: 'x', model: 'anthropic:x' },
      'model: The model provider "anthropic" needs an API key; set ANTHROPIC_API_KEY',
    ],
  ])('is explained in one sentence: %s', async (_case, body, detail) => {
    expect((await jackdaw.chat(body)).body['detail']).toBe(`The request is not valid: ${detail}.`);
  });

  it('is refused if it is not UTF-8', async () => {
    const body = Buffer.from([...Buffer.from('{"query":"'), 0xc4, 0xe3, 0xba, 0xc3, ...Buffer.from('"}')]);
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${jackdaw.url}${CHAT}`, { method: 'POST', headers, body });
    expect([answer.status, await answer.json()]).toEqual([
      400,
      expect.objectContaining({ code: 'MALFORMED_JSON', detail: expect.stringContaining('is not UTF-8') }),
    ]);
  });

  it('is refused if the URL is not percent-encoded', async () => {
    const { status, body } = await jackdaw.get('/api/sessions/%ZZ');
    expect([status, body['detail']]).toEqual([400, expect.stringMatching(/^The URL is not valid: percent-encode/)]);
  });

  it.each<[string, unknown, readonly string[]]>([
    ['a list', [], ['body isObject array']],
    ['a text', '"x"', ['body isObject string']],
    [
      'list elements',
      { query: 'x', references: [1, 0, 'x'] },
      ['references.1 min number', 'references.2 isInt string'],
    ],
    [
      'a number in a list of texts',
      { query: 'x', parameters: { stop: ['a', 7] } },
      ['parameters.stop.1 isString number'],
    ],
    [
      'a nested name that every object inherits',
      { query: 'x', parameters: { constructor: 1 } },
      ['parameters.constructor whitelistValidation number'],
    ],
    ['a model name with a NUL', { query: 'x', model: 'a\u0000b' }, ['model matches string']],
    [
      'a field of the response format',
      { query: 'x', responseFormat: { schema: {}, name: '' } },
      ['responseFormat.name isFormat string'],
    ],
  ])('is refused with the exact path of the invalid field: %s', async (_case, body, expected) => {
    const answer = await jackdaw.chat(body);
    expectProblem(answer, 400, 'VALIDATION_FAILED');
    const errors = answer.body['errors'] as unknown as Record<string, string>[];
    expect(errors.map(({ field, rule, got }) => `${field} ${rule} ${got}`)).toEqual(
      expect.arrayContaining([...expected]),
    );
    for (const place of expected) expect(answer.body['detail']).toContain(place.split(' ')[0]);
  });

  it.each([
    ['GET /api/runs?cursor=x', 'cursor', 'isCursor', 'string'],
    ['GET /api/runs?limit=x', 'limit', 'isInt', 'string'],
    ['GET /api/runs/x/journal?after=2147483648', 'after', 'max', 'number'],
    ['GET /api/sessions/x/messages?after=1e300', 'after', 'isInt', 'string'],
    ['GET /api/tool-states/x/history?before=1e50', 'before', 'isInt', 'string'],
    ['GET /api/runs?agent=%00', 'agent', 'isWithoutNul', 'string'],
    ['GET /api/sessions/%00', 'id', 'isWithoutNul', 'string'],
    ['PUT /api/sessions/x/turns/x/pin', 'turn', 'isInt', 'string'],
    ['DELETE /api/sessions/x/turns/99999999999999999999/pin', 'turn', 'isInt', 'number'],
  ])('is refused with path, rule and type of an invalid URL parameter: %s', async (route, field, rule, got) => {
    const [method = '', path = ''] = route.split(' ');
    const answer = await jackdaw.send(path, { method });
    expectProblem(answer, 400, 'VALIDATION_FAILED');
    expect(answer.body['errors']).toContainEqual({ field, rule, got, message: expect.stringMatching(/must/) });
  });

  it('is refused with path, rule and type of an invalid tool argument', async () => {
    const args = { text: 7, operation: 'upper', more: 1 };
    const { status, body } = await jackdaw.post('/api/tools/string_tools/call', { arguments: args });
    expect(status).toBe(400);
    const errors = body['errors'] as unknown as Record<string, string>[];
    expect(errors.map(({ field, rule, got }) => `${field} ${rule} ${got}`).toSorted()).toEqual([
      'arguments.more additionalProperties number',
      'arguments.text type number',
    ]);
  });

  it('is refused with all its faults at once', async () => {
    const answer = await jackdaw.chat({ query: '', constructor: 1, toString: 1, other: 1 });
    expectProblem(answer, 400, 'VALIDATION_FAILED');
    expect(fieldsOf(answer).toSorted()).toEqual(['constructor', 'other', 'query', 'toString']);
  });

  it.each<[string, string]>([
    ['a truncated body', '{"query":"x"'],
    ['two bodies', '{"query":"x"}{"query":"y"}'],
    ['a body that is not JSON', 'query=x'],
    ['only white space', '  '],
    ['200,000 nested lists', `{"query":${'['.repeat(200_000)}${']'.repeat(200_000)}}`],
    ['100,000 nested objects', `${'{"query":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['200,000 unclosed lists', '['.repeat(200_000)],
  ])('is refused as malformed: %s', async (_case, text) => {
    expectProblem(await jackdaw.post(CHAT, text), 400, 'MALFORMED_JSON');
  });

  it.each<[string, string]>([
    ['a list', '[]'],
    ['a list of questions', '[{"query":"x"}]'],
    ['null', 'null'],
    ['a text', '"x"'],
    ['a number', '1'],
    ['an empty JSON body', ''],
  ])('is refused with 400 instead of an object: %s', async (_case, text) => {
    const answer = await jackdaw.post(CHAT, text);
    expectProblem(answer, 400, 'VALIDATION_FAILED');
    expect(answer.body['detail']).toMatch(/object|query/);
  });

  it('is refused with 400 if the body is absent', async () => {
    expectProblem(await jackdaw.post(CHAT), 400, 'VALIDATION_FAILED');
  });

  it('is refused with 413 over 1 MB and accepted below', async () => {
    const envelope = JSON.stringify({ query: '' }).length;
    const fits = 'x'.repeat(1024 * 1024 - envelope);
    expect((await jackdaw.chat({ query: fits })).status).toBe(200);
    expectProblem(await jackdaw.chat({ query: `${fits}x` }), 413, 'PAYLOAD_TOO_LARGE');
  });

  it.each(['text/plain', 'application/xml', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
    'is refused with 415: %s',
    async (type) => {
      const answer = await jackdaw.post(CHAT, '{"query":"x"}', { 'content-type': type });
      expectProblem(answer, 415, 'UNSUPPORTED_MEDIA_TYPE');
      expect(answer.body['detail']).toContain('application/json');
    },
  );

  it.each([
    ['GET', '/nothing'],
    ['GET', '/api'],
    ['GET', '/api/nothing'],
  ])('is answered with 404: %s %s', async (method, path) => {
    expectProblem(await jackdaw.send(path, { method }), 404, 'NOT_FOUND');
  });

  it('is answered with 404 for an id over the maximum length', async () => {
    expectProblem(await jackdaw.get(`/api/runs/${'x'.repeat(5000)}`), 404, 'NOT_FOUND');
  });

  it('is answered with 404 and the existing agents for an unknown agent', async () => {
    const answer = await jackdaw.chat({ query: 'x', agent: 'unknown' });
    expectProblem(answer, 404, 'AGENT_NOT_FOUND');
    expect(answer.body['detail']).toBe('There is no agent "unknown"; there is: default.');
  });

  it('is answered with 404 for an unknown run', async () => {
    for (const answer of [
      await jackdaw.get('/api/runs/unknown'),
      await jackdaw.get('/api/runs/unknown/events'),
      await jackdaw.post('/api/runs/unknown/cancel'),
    ]) {
      expectProblem(answer, 404, 'RUN_NOT_FOUND');
    }
  });

  it('is refused with 400 for a malformed path and an invalid event position', async () => {
    expectProblem(await jackdaw.get('/api/runs/%E0%A4%A'), 400, 'VALIDATION_FAILED');
    const { body } = await jackdaw.chat({ query: '1 + 1' });
    for (const place of ['x', '-1', '1.5', '9'.repeat(20)]) {
      const answer = await jackdaw.get(`/api/runs/${String(body['run_id'])}/events`, { 'last-event-id': place });
      expectProblem(answer, 400, 'VALIDATION_FAILED');
      expect(fieldsOf(answer)).toEqual(['Last-Event-ID']);
    }
  });
});
