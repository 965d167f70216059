import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { FakeLlm } from './support/fake-llm.js';
import { gate, startJackdaw, type Answer, type Jackdaw } from './support/jackdaw.js';

const KEYS = { ann: 'key-of-ann-1', bob: 'key-of-bob-2', amy: 'key-of-amy-3' };
const bearer = (name: keyof typeof KEYS) => ({ authorization: `Bearer ${KEYS[name]}` });
const entry = (name: keyof typeof KEYS, tenant: string) =>
  `${name}:${tenant}:user:${createHash('sha256').update(KEYS[name]).digest('hex')}`;

const PUBLIC = ['/api/health/live', '/api/health/ready', '/api/agent/health'];

describe('a server with API keys of two tenants', () => {
  let llm: FakeLlm;
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    llm = await FakeLlm.start();
    const keys = [entry('ann', 'a'), entry('bob', 'b'), `${entry('amy', 'a')}:all`].join(',');
    jackdaw = await startJackdaw({ llm, env: { API_KEYS: keys, LOG_LEVEL: 'trace' } });
  });
  afterEach(() => llm.reset());
  afterAll(async () => {
    await jackdaw.stop();
    await llm.close();
  });

  /** Every route for a session or a run. */
  function ask(runId: string, sessionId: string, headers: Record<string, string>): Promise<Answer>[] {
    return [
      jackdaw.get(`/api/runs/${runId}`, headers),
      jackdaw.get(`/api/runs/${runId}/events`, headers),
      jackdaw.get(`/api/runs/${runId}/journal`, headers),
      jackdaw.post(`/api/runs/${runId}/fork`, { fromStep: 'model:1' }, headers),
      jackdaw.post(`/api/runs/${runId}/cancel`, undefined, headers),
      jackdaw.post(`/api/runs/${runId}/approve`, undefined, headers),
      jackdaw.post(`/api/runs/${runId}/deny`, { reason: 'no' }, headers),
      jackdaw.post(`/api/runs/${runId}/input`, { value: 1 }, headers),
      jackdaw.post(`/api/runs/${runId}/settle`, { outcome: 'retry' }, headers),
      jackdaw.get(`/api/sessions/${sessionId}`, headers),
      jackdaw.get(`/api/sessions/${sessionId}/messages`, headers),
    ];
  }

  it.each([
    ['no key', {}],
    ['an unknown key', { authorization: 'Bearer unknown' }],
    ['a different authentication scheme', { authorization: `Basic ${KEYS.ann}` }],
    ['an empty key', { 'x-api-key': '' }],
    ['the hash of a key', { 'x-api-key': createHash('sha256').update(KEYS.ann).digest('hex') }],
  ])('refuses every route but health with %s', async (_case, headers: Record<string, string>) => {
    const answers = await Promise.all([
      jackdaw.chat({ query: 'x' }, headers),
      jackdaw.chat({ query: '' }, headers),
      jackdaw.post('/api/agent/chat/stream', { query: 'x' }, headers),
      ...ask('r', 's', headers),
    ]);
    for (const { status, body, headers: replyHeaders } of answers) {
      expect([status, body['code'], replyHeaders.get('www-authenticate')]).toEqual([401, 'UNAUTHENTICATED', 'Bearer']);
      expect(replyHeaders.get('content-type')).toContain('application/problem+json');
    }
    for (const path of PUBLIC) expect([path, (await jackdaw.get(path, headers)).status]).toEqual([path, 200]);
    expect(llm.requests).toHaveLength(0);
  });

  it('takes a key as a bearer token or as X-API-Key, under any host name', async () => {
    llm.always({ text: 'hello' });
    for (const headers of [bearer('ann'), { authorization: `bearer ${KEYS.ann}` }, { 'x-api-key': KEYS.ann }]) {
      expect((await jackdaw.chat({ query: 'x' }, headers)).status).toBe(200);
    }
    expect(await statusUnder(jackdaw.url, 'jackdaw.example.org', bearer('ann'))).toBe(404);
  });

  it("answers 404 for another tenant's run and session, on every route", async () => {
    llm.always({ text: 'a secret' });
    const { body } = await jackdaw.chat({ query: 'x', sessionId: 'private' }, bearer('ann'));
    const runId = String(body['run_id']);
    for (const answer of await Promise.all(ask(runId, 'private', bearer('bob')))) {
      expect([answer.status, String(answer.body['code'])]).toEqual([
        404,
        expect.stringMatching(/^(RUN|SESSION)_NOT_FOUND$/),
      ]);
      expect(answer.text).not.toContain('secret');
    }
    const own = await Promise.all(ask(runId, 'private', bearer('ann')));
    expect(own.map(({ status }) => status)).toEqual([200, 200, 200, 202, 409, 409, 409, 409, 409, 200, 200]);
  });

  it('lists to each tenant its own runs, and to a user its own unless its key sees all', async () => {
    llm.always({ text: 'hello' });
    const ids = async (name: keyof typeof KEYS) => {
      const { body } = await jackdaw.get('/api/runs?limit=200', bearer(name));
      return (body['runs'] as unknown as { run_id: string }[]).map(({ run_id }) => run_id);
    };
    const { body } = await jackdaw.chat({ query: 'x', sessionId: 'listed' }, bearer('ann'));
    expect(await ids('ann')).toContain(body['run_id']);
    expect(await ids('amy')).toEqual(await ids('ann'));
    expect(await ids('bob')).not.toContain(body['run_id']);
    const { body: own } = await jackdaw.get('/api/runs?sessionId=listed', bearer('bob'));
    expect(own).toEqual({ runs: [], next: null });
  });

  it("leaves another tenant's run running", async () => {
    const open = gate();
    llm.reply({ gate: open.opened, text: 'to its end' });
    const stream = await jackdaw.stream({ query: 'x' }, bearer('ann'));
    await llm.waitForRequest();
    const runId = String(stream.headers['x-run-id']);
    const refused = await jackdaw.post(`/api/runs/${runId}/cancel`, undefined, bearer('bob'));
    expect(refused.status).toBe(404);
    open.open();
    expect((await stream.all()).at(-1)).toMatchObject({ event: 'run.completed', data: { result: 'to its end' } });
  });

  it('keeps sessions of the same id apart, also while both run', async () => {
    const open = gate();
    llm.reply({ gate: open.opened, text: 'for ann' }).reply({ text: 'for bob' });
    const ann = jackdaw.chat({ query: 'I am ann', sessionId: 'same' }, bearer('ann'));
    await llm.waitForRequest();
    const bob = await jackdaw.chat({ query: 'I am bob', sessionId: 'same' }, bearer('bob'));
    expect(bob.body['result']).toBe('for bob');
    open.open();
    await ann;
    const contents = async (name: 'ann' | 'bob') =>
      (await jackdaw.messages('same', bearer(name))).map(({ content }) => content);
    expect(await contents('ann')).toEqual(['I am ann', 'for ann']);
    expect(await contents('bob')).toEqual(['I am bob', 'for bob']);
    llm.reply({ text: 'again' });
    await jackdaw.chat({ query: 'who am I?', sessionId: 'same' }, bearer('bob'));
    expect(llm.lastRequest.messages.slice(1).map(({ content }) => content)).toEqual([
      'I am bob',
      'for bob',
      'who am I?',
    ]);
  });

  it('shows sessions and runs to a key that sees all of its tenant, and records who started them', async () => {
    llm.always({ text: 'hello' });
    const { body } = await jackdaw.chat({ query: 'x', sessionId: 'team' }, bearer('ann'));
    const session = await jackdaw.get('/api/sessions/team', bearer('amy'));
    expect([session.status, session.body]).toMatchObject([200, { owner: 'ann' }]);
    expect((await jackdaw.get(`/api/runs/${String(body['run_id'])}`, bearer('amy'))).status).toBe(200);
  });

  it('has no key in its log', () => {
    const text = JSON.stringify(jackdaw.log);
    expect(jackdaw.log.length).toBeGreaterThan(0);
    for (const key of Object.values(KEYS)) expect(text).not.toContain(key);
  });
});

describe('a server without API keys', () => {
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    jackdaw = await startJackdaw();
  });
  afterAll(() => jackdaw.stop());

  it.each(['localhost', 'localhost:3000', '127.0.0.1', '127.0.0.1:80', '[::1]:3000'])(
    'serves the host %s',
    async (host) => {
      expect(await statusUnder(jackdaw.url, host)).toBe(404);
    },
  );

  it.each(['evil.example.org', '127.0.0.1.evil.example.org', 'localhost.evil.example.org:3000', '10.0.0.1', '0.0.0.0'])(
    'refuses the host %s',
    async (host) => {
      expect(await statusUnder(jackdaw.url, host)).toBe(403);
    },
  );

  it('refuses a foreign host also for health and for a chat', async () => {
    for (const path of PUBLIC)
      expect([path, await statusUnder(jackdaw.url, 'evil.example.org', {}, path)]).toEqual([path, 403]);
  });
});

/** The status of an unknown session under a host name, which fetch does not let a caller choose. */
async function statusUnder(
  url: string,
  host: string,
  headers: Record<string, string> = {},
  path = '/api/sessions/unknown',
): Promise<number> {
  const outgoing = request(`${url}${path}`, { headers: { ...headers, host }, agent: false }).end();
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  incoming.resume();
  return incoming.statusCode ?? 0;
}
