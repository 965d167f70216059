import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { loadConfig } from '../src/config/index.js';
import { SCOPES } from '../src/security/index.js';
import { scopesOf } from '../src/security/request-authenticator.service.js';
import { keyHolder } from './support/api-keys.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { dismissed, JwtAuthenticator } from './support/jwt-authenticator.js';
import { callOf, WaitingRun } from './support/waiting-run.js';
import { WaitingTools } from './support/waiting.tool.js';

const DOCUMENT = readFileSync('docs/authentication.md', 'utf8');
const SECRET = 'a secret that only the issuer and this server know';
const BOB = keyHolder('bob', 'b', 'user');

const encode = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url');

function token(claims: object, { alg = 'HS256', secret = SECRET } = {}) {
  const signed = `${encode({ alg, typ: 'JWT' })}.${encode({ exp: Date.now() / 1000 + 3600, ...claims })}`;
  const signature = createHmac('sha256', secret).update(signed).digest('base64url');
  return { authorization: `Bearer ${signed}.${signature}` };
}

/** The header and signature of one token with the claims of another. */
function mixed(): string {
  const [head, , signature] = token(ANN).authorization.split('.');
  const [, claims] = token({ ...ANN, roles: ['admin'] }).authorization.split('.');
  return [head, claims, signature].join('.');
}

const ANN = { sub: 'ann', tenant: 'a', roles: ['user'] };

describe('docs/authentication.md', () => {
  it('has the code of these tests', () => {
    const code = readFileSync('test/support/jwt-authenticator.ts', 'utf8').replaceAll('../../src/index.js', 'jackdaw');
    expect(DOCUMENT).toContain(`\`\`\`ts\n${code}\`\`\`\n`);
  });

  it('lists each scope and the scopes of each role', () => {
    for (const scope of SCOPES) expect(DOCUMENT).toContain(`\`${scope}\``);
    expect(scopesOf({ roles: ['admin'] })).toEqual(SCOPES.filter((scope) => scope !== 'operate'));
    expect(scopesOf({ roles: ['operator'] })).toEqual(['usage:read', 'operate']);
    expect(scopesOf({ roles: ['user'] })).toEqual(
      SCOPES.filter(
        (scope) => !['sessions:trust', 'tools:write', 'webhooks', 'keys', 'erase', 'audit', 'operate'].includes(scope),
      ),
    );
    expect(scopesOf({ roles: ['viewer'] })).toEqual(['runs:read', 'sessions:read', 'tools:read', 'usage:read']);
    expect(scopesOf({ roles: ['ops'], scopes: ['*'] })).toEqual([]);
  });
});

describe('a custom authenticator', () => {
  let llm: FakeLlm;
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    process.env['JWT_SECRET'] = SECRET;
    llm = await FakeLlm.start();
    jackdaw = await startJackdaw({
      llm,
      env: { API_KEYS: BOB.entry },
      options: { authenticator: JwtAuthenticator, tools: [new WaitingTools()] },
    });
  });
  afterAll(async () => {
    delete process.env['JWT_SECRET'];
    await jackdaw.stop();
    await llm.close();
  });

  it("admits its principals, each in the principal's tenant", async () => {
    llm.always({ text: 'hello' });
    const { status, body } = await jackdaw.chat({ query: 'x', sessionId: 's' }, token(ANN));
    expect([status, body['result']]).toEqual([200, 'hello']);
    expect((await jackdaw.get('/api/sessions/s', token(ANN))).body).toMatchObject({ owner: 'jwt:ann' });
    expect((await jackdaw.get('/api/sessions/s', token({ ...ANN, tenant: 'b' }))).status).toBe(404);
    expect((await jackdaw.get('/api/sessions/s', BOB.headers)).status).toBe(404);
    llm.reset();
  });

  it.each([
    ['a token signed with a different secret', token(ANN, { secret: 'guessed' })],
    ['a token without an algorithm', token(ANN, { alg: 'none' })],
    ['an expired token', token({ ...ANN, exp: Date.now() / 1000 - 1 })],
    ['a token without an expiry', token({ ...ANN, exp: undefined })],
    ['a token with the claims of another one', { authorization: mixed() }],
    ['an unknown key', { 'x-api-key': 'unknown' }],
    ['a request without credentials', {}],
  ])('refuses %s', async (_case, headers: Record<string, string>) => {
    const { status, body } = await jackdaw.get('/api/runs', headers);
    expect([status, body['code']]).toEqual([401, 'UNAUTHENTICATED']);
  });

  it('leaves credentials that it does not know to the API keys', async () => {
    expect((await jackdaw.get('/api/runs', BOB.headers)).status).toBe(200);
  });

  it('is restricted by roles and scopes like API keys', async () => {
    const { status, body } = await jackdaw.chat({ query: 'x' }, token({ ...ANN, roles: ['viewer', 'sales'] }));
    expect([status, body['scope']]).toEqual([403, 'chat']);
  });

  it('decides whether a waiting run may resume', async () => {
    const waiting = async () => {
      llm.reply({ text: 'I try.', calls: [callOf('pay', { to: 'shop', amount: 5 })] }, { text: 'the end' });
      const { body } = await jackdaw.chat({ query: 'go' }, token(ANN));
      return new WaitingRun(jackdaw, String(body['run_id']), token(ANN));
    };
    expect((await (await waiting()).after('approve')).at(-1)?.data.type).toBe('run.completed');
    const run = await waiting();
    const boss = new WaitingRun(jackdaw, run.id, token({ ...ANN, sub: 'boss', roles: ['admin'] }));
    dismissed.add('jwt:ann');
    expect((await jackdaw.get('/api/runs', token(ANN))).status).toBe(401);
    expect((await boss.after('approve')).at(-1)?.data).toMatchObject({
      type: 'run.failed',
      error: { code: 'FORBIDDEN' },
    });
  });
});

describe('a server with an authenticator and no API_KEYS', () => {
  it('does not admit requests of the local machine without credentials', async () => {
    const jackdaw = await startJackdaw({ options: { authenticator: JwtAuthenticator } });
    expect((await jackdaw.get('/api/runs')).status).toBe(401);
    expect((await jackdaw.get('/api/health/live')).status).toBe(200);
    await jackdaw.stop();
  });

  it('may listen on any address and serves its documents only if enabled', () => {
    const { config } = loadConfig({ env: { HOST: '0.0.0.0' }, hasAuthenticator: true });
    expect([config.server.host, config.server.hasDocs]).toEqual(['0.0.0.0', false]);
  });
});
