import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { loadConfig } from '../src/config/index.js';
import { keyHolder } from './support/api-keys.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';

const ANN = keyHolder('ann', 'a', 'user');
const EVIL = 'https://evil.example';
const APP = 'https://app.example';
const TOOLS = 'https://tools.example';

type Headers = Readonly<Record<string, string>>;

const chat = (jackdaw: Jackdaw, headers: Headers) => jackdaw.chat({ query: '1+1' }, headers);

describe('a server without keys', () => {
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    const env = { CORS_ORIGINS: APP, MCP_ALLOWED_ORIGINS: TOOLS, DOCS_ENABLED: 'true' };
    jackdaw = await startJackdaw({ env });
  });
  afterAll(() => jackdaw.stop());

  it.each<[string, Headers]>([
    ['a foreign origin', { origin: EVIL }],
    ['an opaque origin', { origin: 'null' }],
    ['a foreign site', { 'sec-fetch-site': 'cross-site' }],
    ['a foreign site at a local origin', { origin: 'http://localhost:1', 'sec-fetch-site': 'cross-site' }],
  ])('refuses a change by a page of %s', async (_case, headers) => {
    for (const { status, body } of [
      await chat(jackdaw, headers),
      await jackdaw.post('/api/sessions', {}, headers),
      await jackdaw.post('/mcp', {}, headers),
      await jackdaw.send('/api/sessions/s', { method: 'DELETE', headers }),
    ]) {
      expect([status, JSON.stringify(body)]).toEqual([403, expect.stringContaining('API_KEYS')]);
    }
    expect((await jackdaw.get('/api/runs', headers)).status).toBe(200);
  });

  it.each<[string, Headers]>([
    ['no page', {}],
    ['a page of this machine', { origin: 'http://localhost:5173', 'sec-fetch-site': 'same-site' }],
    ['a page of the server', { origin: 'http://127.0.0.1', 'sec-fetch-site': 'same-origin' }],
    ['a page of CORS_ORIGINS', { origin: APP, 'sec-fetch-site': 'cross-site' }],
    ['a page of MCP_ALLOWED_ORIGINS', { origin: TOOLS, 'sec-fetch-site': 'cross-site' }],
  ])('accepts a change by %s', async (_case, headers) => {
    expect((await chat(jackdaw, headers)).status).toBe(200);
  });

  it.each<[string, Headers]>([
    ['Forwarded', { forwarded: 'for=192.0.2.1' }],
    ['X-Forwarded-For', { 'x-forwarded-for': '192.0.2.1' }],
    ['X-Forwarded-Proto', { 'x-forwarded-proto': 'https' }],
    ['X-Real-IP', { 'x-real-ip': '192.0.2.1' }],
    ['Via', { via: '1.1 proxy' }],
  ])('refuses every request with the header %s', async (_case, headers) => {
    for (const path of ['/api/runs', '/api/health/live', '/docs', '/docs/json', '/nothing']) {
      const { status, body } = await jackdaw.get(path, headers);
      expect([path, status, JSON.stringify(body)]).toEqual([path, 403, expect.stringContaining('API_KEYS')]);
    }
    expect((await chat(jackdaw, headers)).status).toBe(403);
  });

  it('opens the documents for a navigation from another site', async () => {
    const navigation = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    expect((await jackdaw.get('/docs', navigation)).status).toBe(200);
  });

  it.each(['/docs', '/docs/json', '/api/runs', '/nothing'])(
    'does not serve %s under another host name',
    async (path) => {
      const sent = request(`${jackdaw.url}${path}`, { headers: { host: 'evil.example' } }).end();
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      expect([answer.statusCode, await text(answer)]).toEqual([403, expect.stringContaining('DNS rebinding')]);
    },
  );

  it('answers preflight requests and responses for pages of CORS_ORIGINS only', async () => {
    const preflight = async (origin: string) => {
      const headers = {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'x-api-key',
      };
      const { headers: answer } = await fetch(`${jackdaw.url}/api/agent/chat`, { method: 'OPTIONS', headers });
      return answer.get('access-control-allow-origin');
    };
    expect([await preflight(APP), await preflight(EVIL)]).toEqual([APP, null]);
    const { headers } = await fetch(`${jackdaw.url}/api/runs/unknown`, { headers: { origin: APP } });
    expect(headers.get('access-control-allow-origin')).toBe(APP);
    const stream = await fetch(`${jackdaw.url}/api/agent/chat/stream`, {
      method: 'POST',
      headers: { origin: APP, 'content-type': 'application/json' },
      body: JSON.stringify({ query: '1+1' }),
    });
    expect(stream.headers.get('access-control-allow-origin')).toBe(APP);
    expect(stream.headers.get('access-control-expose-headers')).toContain('X-Run-Id');
    await stream.text();
  });
});

describe('a server with keys', () => {
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    jackdaw = await startJackdaw({ env: { API_KEYS: ANN.entry, CORS_ORIGINS: APP, TRUST_PROXY: '1' } });
  });
  afterAll(() => jackdaw.stop());

  it('serves proxies and pages of any site, since each request has its key', async () => {
    const headers = { ...ANN.headers, origin: EVIL, 'x-forwarded-for': '192.0.2.1', 'sec-fetch-site': 'cross-site' };
    expect((await chat(jackdaw, headers)).status).toBe(200);
  });

  it('lets pages of CORS_ORIGINS read its refusals', async () => {
    const { status, headers } = await fetch(`${jackdaw.url}/api/agent/chat`, {
      method: 'POST',
      headers: { origin: APP, 'content-type': 'application/json' },
      body: '{}',
    });
    expect([status, headers.get('access-control-allow-origin')]).toEqual([401, APP]);
  });
});

describe('TRUST_PROXY', () => {
  const load = (TRUST_PROXY: string, API_KEYS = ANN.entry) => loadConfig({ env: { TRUST_PROXY, API_KEYS } });

  it('needs API_KEYS or an authenticator of the application', () => {
    expect(() => load('loopback', '')).toThrow(/TRUST_PROXY.*API_KEYS/s);
    expect(loadConfig({ env: { TRUST_PROXY: '1' }, hasAuthenticator: true }).config.server.trustProxy).toBe(1);
  });

  it.each([
    ['2', 2],
    ['true', true],
    ['loopback, 10.0.0.0/8, fd00::/8', ['loopback', '10.0.0.0/8', 'fd00::/8']],
  ])('accepts %s', (trust, value) => {
    expect(load(trust).config.server.trustProxy).toEqual(value);
  });

  it.each(['proxy.example', '10.0.0.0/33', '10.0.0.0/8/8', '0', '-1', '10.0.0'])('refuses %s', (trust) => {
    expect(() => load(trust)).toThrow(/TRUST_PROXY.*is not allowed/s);
  });
});
