import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { CANARY, RestWorld } from '../../../test/support/rest-world.js';
import { WebServer } from '../../../test/support/web-server.js';

Logger.overrideLogger(false);

const world = RestWorld.prepare();

describe('a REST tool says who it is', () => {
  it.each([
    [{ type: 'bearer', token: 'CRM_TOKEN' }, '/crm', { authorization: `Bearer ${CANARY}` }],
    [
      { type: 'basic', username: 'CRM_USER', password: 'CRM_TOKEN' },
      '/crm',
      { authorization: `Basic ${Buffer.from(`crm-user:${CANARY}`).toString('base64')}` },
    ],
    [{ type: 'apiKey', in: 'header', name: 'X-Api-Key', key: 'CRM_TOKEN' }, '/crm', { 'x-api-key': CANARY }],
    [
      { type: 'apiKey', in: 'query', name: 'key', key: 'CRM_TOKEN' },
      `/crm?${new URLSearchParams({ key: CANARY }).toString()}`,
      {},
    ],
  ] as const)('by %j, and tells nobody', async (auth, path, headers) => {
    world.declare({ auth, parameters: [] });
    // A server that says back all that it is told, in all ways.
    world.server.on('/crm', (request, reply, count) => {
      const told = { ...request.headers, url: request.path, [CANARY]: [encodeURIComponent(CANARY), CANARY] };
      const escaped = JSON.stringify(told).replaceAll('canary', String.raw`\u0063anary`);
      reply.writeHead(count === 1 ? 200 : 403, { 'content-type': count < 3 ? 'application/json' : 'text/plain' });
      reply.end(count < 3 ? escaped : JSON.stringify(told));
    });
    const results = [await world.call({}), await world.call({}), await world.call({})];
    expect(world.server.requests[0]).toMatchObject({ path, headers });
    expect(results.map(({ success }) => success)).toEqual([true, false, false]);
    const told = JSON.stringify(results);
    expect(told).toContain('[redacted]');
    for (const secret of ['canary', Buffer.from(`crm-user:${CANARY}`).toString('base64'), 'crm-user']) {
      expect(told).not.toContain(secret);
    }
  });

  it('to the origin it is for, and to no other', async () => {
    const other = await WebServer.start('127.0.0.1');
    world.server.on('/crm', (_request, reply) => void reply.writeHead(307, { location: `${other.url}/crm` }).end());
    world.declare({ auth: { type: 'apiKey', in: 'header', name: 'x-own', key: 'CRM_TOKEN' } });
    expect(await world.errorOf({})).toContain('127.0.0.1 is not public (loopback)');
    expect(other.requests).toEqual([]);
    await other.close();
  });
});
