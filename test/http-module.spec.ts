import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { INestApplication } from '@nestjs/common';
import { JackdawHttpModule, serve, type Server } from '../src/index.js';
import { AgentHost } from './support/agent-host.js';
import { HOST_PREFIX, PLATFORMS, principalOf, startHost, StockTools } from './support/mounted-host.js';
import { calls, says, ScriptedChatModel } from './support/scripted-chat-model.js';

const ANN = { id: 'ann', tenant: 'acme', roles: ['admin', 'operator'] };
const AUTHORIZED = { authorization: 'Bearer ann' };
const JSON_BODY = { 'content-type': 'application/json' };
/** Headers of the host, of the connection, or of one request. */
const VARYING =
  /^(date|content-length|connection|keep-alive|transfer-encoding|x-request-id|vary|content-encoding|x-powered-by|content-security-policy|cross-origin-.*|origin-agent-cluster|referrer-policy|strict-transport-security|x-content-type-options|x-dns-prefetch-control|x-download-options|x-frame-options|x-permitted-cross-domain-policies|x-xss-protection)$/;

interface Asked {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const chat = (body: unknown): Asked => ({
  method: 'POST',
  path: '/agent/chat',
  headers: JSON_BODY,
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

/** Requests in order: the later ones read results of the earlier ones. */
const REQUESTS: Readonly<Record<string, Asked>> = {
  'a chat with a tool call': chat({ query: 'How many lamps?', sessionId: 's1', includeDetails: true }),
  'a streamed chat': { ...chat({ query: 'And now?', sessionId: 's1' }), path: '/agent/chat/stream' },
  'a run in the background': { ...chat({ query: 'Later', sessionId: 's2' }), path: '/agent/runs' },
  'the messages of a session': { path: '/sessions/s1/messages' },
  'a list with a query': { path: '/runs?sessionId=s1&limit=1' },
  'exact numbers in the data of a user': {
    ...chat({}),
    method: 'PUT',
    path: '/sessions/s1/metadata',
    body: '{"metadata":{"order":12345678901234567890,"price":1.10}}',
  },
  'the metadata as they were stored': { path: '/sessions/s1/metadata' },
  'the list of tools': { path: '/tools' },
  'the health of the agent': { path: '/agent/health' },
  'an export': { path: '/sessions/s2/export' },
  'a HEAD request': { method: 'HEAD', path: '/sessions/s1' },
  'an invalid field': chat({ query: 'x', unknown: true, constructor: 1 }),
  'a body that is no JSON': chat('{"query": '),
  'a body that is a list': chat('[]'),
  'a body of another type': { ...chat('query=x'), headers: { 'content-type': 'application/x-www-form-urlencoded' } },
  'a body that is too large': chat({ query: 'x'.repeat(2_000_000) }),
  'an unknown run': { path: '/runs/unknown' },
  'an unknown route': { path: '/nothing/here' },
  'an empty parameter': { path: '/runs//events' },
  'another method': { method: 'DELETE', path: '/agent/chat' },
  'an encoded slash': { path: '/sessions/a%2Fb' },
  'a NUL': { path: '/sessions/a%00b' },
  'a deleted session': { method: 'DELETE', path: '/sessions/s1' },
};

const script = () => [calls(['lamps', {}]), says('Seven.'), says('Still seven.'), says('Later.')];

/** The parts of a response that a client reads, without ids, times and durations. */
async function answerOf(url: string, { method = 'GET', path, headers = {}, body }: Asked, base: string) {
  const init = { method, headers: { ...AUTHORIZED, ...headers }, ...(body !== undefined && { body }) };
  const response = await fetch(`${url}${base}${path}`, init);
  const heads = [...response.headers].filter(([name]) => !VARYING.test(name));
  const all = JSON.stringify({ status: response.status, heads, text: await response.text() });
  return JSON.parse(
    all
      .replaceAll(base, '/api')
      .replaceAll(/\b[0-9a-v]{9}[\w-]{22}(?![\w-])/g, '‹id›')
      .replaceAll(/\b\d{13}\b/g, '‹at›')
      .replaceAll(/(runs\.|signature\\":\\")[\w-]+/g, '$1‹opaque›')
      .replaceAll(/((?:_ms|responseTime)\\?":)\d+(\.\d+)?/g, '$1‹ms›'),
  ) as unknown;
}

describe.each(PLATFORMS)('JackdawHttpModule in a host on %s', (platform) => {
  const agents = new AgentHost();
  const base = `${HOST_PREFIX}/ai`;
  let server: Server;
  let app: INestApplication;
  let url: string;

  beforeAll(async () => {
    const options = () => ({ chatModel: new ScriptedChatModel(script()), tools: [StockTools], builtinTools: false });
    const config = () => ({ ...agents.environment(), LOG_LEVEL: 'silent', PORT: '0' });
    const authenticator = { authenticate: async () => ANN, lookUp: async () => ANN };
    server = await serve({ ...options(), config: config(), authenticator });
    const mount = JackdawHttpModule.forRoot({ prefix: 'ai', principal: principalOf });
    app = await startHost(platform, { ...options(), config: config() }, [mount]);
    url = await app.getUrl();
  });
  afterAll(async () => {
    await app.close();
    await server.close();
    await agents.stop();
  });

  it.each(Object.entries(REQUESTS))('answers %s as the server does', async (_name, asked) => {
    expect(await answerOf(url, asked, base)).toEqual(await answerOf(server.url, asked, '/api'));
  });
});
