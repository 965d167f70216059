import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { CANARY, RestWorld } from '../../test/support/rest-world.js';
import { WebServer } from '../../test/support/web-server.js';

Logger.overrideLogger(false);

const world = RestWorld.prepare();

describe('the credential of a REST tool', () => {
  it.each([
    [{ type: 'bearer', token: 'CRM_TOKEN' }, '/crm', { authorization: `Bearer ${CANARY}` }],
    [
      { type: 'basic', username: 'CRM_USER', password: 'CRM_TOKEN' },
      '/crm',
      { authorization: `Basic ${Buffer.from(`crm-user:${CANARY}`).toString('base64')}` },
    ],
    [
      { type: 'basic', user: 'Änn', username: undefined, password: 'CRM_TOKEN' },
      '/crm',
      { authorization: `Basic ${Buffer.from(`Änn:${CANARY}`).toString('base64')}` },
    ],
    [{ type: 'apiKey', in: 'header', name: 'X-Api-Key', key: 'CRM_TOKEN' }, '/crm', { 'x-api-key': CANARY }],
    [
      { type: 'apiKey', in: 'query', name: 'key', key: 'CRM_TOKEN' },
      `/crm?${new URLSearchParams({ key: CANARY }).toString()}`,
      {},
    ],
    [
      [
        { type: 'apiKey', in: 'cookie', name: 'sid', key: 'CRM_USER' },
        { type: 'bearer', token: 'CRM_TOKEN' },
      ],
      '/crm',
      { cookie: 'sid=crm-user', authorization: `Bearer ${CANARY}` },
    ],
  ] as const)('is sent by %j, and redacted in results', async (auth, path, headers) => {
    world.declare({ auth, parameters: [] });
    // The server echoes the whole request, with the secret in several encodings.
    world.server.on('/crm', (request, reply, count) => {
      const echoed = { ...request.headers, url: request.path, [CANARY]: [encodeURIComponent(CANARY), CANARY] };
      const escaped = JSON.stringify(echoed).replaceAll('canary', String.raw`\u0063anary`);
      reply.writeHead(count === 1 ? 200 : 403, { 'content-type': count < 3 ? 'application/json' : 'text/plain' });
      reply.end(count < 3 ? escaped : JSON.stringify(echoed));
    });
    const results = [await world.call({}), await world.call({}), await world.call({})];
    expect(world.server.requests[0]).toMatchObject({ path, headers });
    expect(results.map(({ success }) => success)).toEqual([true, false, false]);
    const shown = JSON.stringify(results);
    expect(shown).toContain('[redacted]');
    const pairs = ['crm-user', 'Änn'].map((user) => Buffer.from(`${user}:${CANARY}`).toString('base64'));
    for (const secret of ['canary', 'crm-user', ...pairs]) {
      expect(shown).not.toContain(secret);
    }
  });

  it('is beside the cookies of a session', async () => {
    world.server.on('/crm', (_request, reply) => void reply.writeHead(200, { 'set-cookie': 'seen=1' }).end());
    world.declare({ auth: { type: 'apiKey', in: 'cookie', name: 'sid', key: 'CRM_USER' }, stateful: true });
    await world.callIn('s');
    await world.callIn('s');
    expect(world.server.requests.map(({ headers }) => headers.cookie)).toEqual([
      'sid=crm-user',
      'sid=crm-user; seen=1',
    ]);
  });

  it('is in one of two places of the same name', () => {
    const auth = { type: 'apiKey', in: 'cookie', name: 'sid', key: 'CRM_USER' } as const;
    expect(() => world.declare({ auth: [auth, auth] })).toThrow('its auth has two entries for one cookie');
  });

  it('is not sent to another origin', async () => {
    const other = await WebServer.start('127.0.0.1');
    world.server.on('/crm', (_request, reply) => void reply.writeHead(307, { location: `${other.url}/crm` }).end());
    world.declare({ auth: { type: 'apiKey', in: 'header', name: 'x-own', key: 'CRM_TOKEN' } });
    expect(await world.errorOf({})).toContain('127.0.0.1 is not public (loopback)');
    expect(other.requests).toEqual([]);
    await other.close();
  });

  describe('with a redirect to another allowed origin', () => {
    let other: WebServer;
    beforeAll(async () => {
      other = await WebServer.start();
      await world.allow(other);
    });
    beforeEach(() => other.reset());
    afterAll(async () => {
      await world.allow();
      await other.close();
    });

    it('is not sent in a cookie', async () => {
      world.server.on('/crm', (_request, reply) => void reply.writeHead(307, { location: `${other.url}/crm` }).end());
      other.json('/crm', {});
      world.declare({ auth: { type: 'apiKey', in: 'cookie', name: 'sid', key: 'CRM_USER' } });
      expect(await world.call({})).toMatchObject({ success: true });
      expect(world.server.requests).toMatchObject([{ headers: { cookie: 'sid=crm-user' } }]);
      expect(other.requests[0]?.headers).not.toHaveProperty('cookie');
    });

    it.each(['User-Agent', 'Accept', 'accept-language', 'X-Api-Key', 'authorization'])(
      'is not sent in the header %s',
      async (name) => {
        world.server.on('/crm', (_request, reply) => void reply.writeHead(307, { location: `${other.url}/crm` }).end());
        other.json('/crm', {});
        world.declare({ auth: { type: 'apiKey', in: 'header', name, key: 'CRM_TOKEN' } });
        expect(await world.call({})).toMatchObject({ success: true });
        expect(world.server.requests).toMatchObject([{ headers: { [name.toLowerCase()]: CANARY } }]);
        expect(JSON.stringify(other.requests)).not.toContain('canary');
      },
    );

    it.each([encodeURIComponent(CANARY), new URLSearchParams({ CANARY }).toString(), 'canary/secret+1%22x'])(
      'is not sent in the query, even if the server repeats it as %s',
      async (said) => {
        const locations = [
          `${other.url}/crm?key=${said}`,
          `${other.url}/login?to=${encodeURIComponent(`/crm?${said}`)}`,
          `secret://${said}`,
        ];
        for (const location of locations) {
          world.server.on('/crm', (_request, reply) => void reply.writeHead(302, { location }).end());
          world.declare({ auth: { type: 'apiKey', in: 'query', name: 'key', key: 'CRM_TOKEN' } });
          const error = await world.errorOf({});
          expect(error).toContain(
            `127.0.0.1:${world.server.port} redirects to another origin with a secret of the call in the URL`,
          );
          expect(error).not.toContain('canary');
        }
        expect(other.requests).toEqual([]);
        world.server.on('/crm', (_request, reply) => void reply.writeHead(302, { location: `${other.url}/crm` }).end());
        other.json('/crm', {});
        expect(await world.call({})).toMatchObject({ success: true });
        expect(other.requests).toMatchObject([{ path: '/crm' }]);
      },
    );
  });
});
