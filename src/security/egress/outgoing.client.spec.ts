import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { once } from 'node:events';
import type { LookupFunction } from 'node:net';
import { createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { ForwardProxy } from '../../../test/support/forward-proxy.js';
import { WebServer } from '../../../test/support/web-server.js';
import { OutgoingClient } from './outgoing.client.js';
import type { OutgoingRequest } from './outgoing.types.js';

/** Resolves every name to the given answers, one per lookup, and counts the lookups. */
function resolver(...answers: readonly (readonly string[])[]): { lookup: LookupFunction; asked: () => number } {
  let lookups = 0;
  const lookup: LookupFunction = (_name, _options, callback) => {
    const found = answers[Math.min(lookups++, answers.length - 1)]!;
    const addresses = found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    setImmediate(() => callback(null, addresses));
  };
  return { lookup, asked: () => lookups };
}

describe('OutgoingClient', () => {
  let server: WebServer;
  let other: WebServer;
  let client: OutgoingClient;
  const allow = () =>
    [server, other].map(({ port }) => ({ kind: 'range', address: '127.0.0.1', prefix: 32, port }) as const);
  beforeAll(async () => {
    server = await WebServer.start();
    other = await WebServer.start();
    client = new OutgoingClient({ allow: allow(), ports: [] });
  });
  beforeEach(() => {
    server.reset();
    other.reset();
  });
  afterAll(async () => {
    await client.close();
    await server.close();
    await other.close();
  });

  const get = (path: string, more: Partial<OutgoingRequest> = {}) =>
    client.send({ url: `${server.url}${path}`, method: 'GET', ...more });

  it('returns status, headers and decoded body for any status', async () => {
    server.on('/zip', (_request, reply) => {
      reply.writeHead(418, { 'content-encoding': 'gzip', 'x-many': ['a', 'b'] }).end(gzipSync('grüße'));
    });
    const { status, headers, body } = await get('/zip?a=1');
    expect({ status, many: headers['x-many'], body: body.toString() }).toEqual({
      status: 418,
      many: 'a, b',
      body: 'grüße',
    });
    expect(server.requests[0]).toMatchObject({ path: '/zip?a=1', headers: { 'accept-encoding': 'gzip, br' } });
  });

  it('reuses connections', async () => {
    server.json('/', {});
    const before = server.connections;
    for (let count = 0; count < 10; count++) await get('/');
    // A call that starts as the previous one ends may not find its connection free yet.
    expect(server.connections - before).toBeLessThanOrEqual(2);
  });

  describe('guard', () => {
    it('checks a URL before it connects', async () => {
      const before = server.connections;
      const closed = new OutgoingClient({ allow: [], ports: [] });
      await expect(closed.send({ url: server.url, method: 'GET' })).rejects.toMatchObject({
        code: 'OUTGOING_REFUSED',
        message:
          '127.0.0.1 is not public (loopback), and calls to it are not allowed; an operator can allow it with OUTGOING_ALLOW.',
      });
      await closed.close();
      expect(server.connections).toBe(before);
    });

    it.each([[['127.0.0.1']], [['93.184.215.14', '127.0.0.1']], [['::ffff:7f00:1']], [['64:ff9b::7f00:1']], [['::1']]])(
      'checks every resolved address of a name: %j',
      async (addresses) => {
        const before = server.connections;
        const { lookup, asked } = resolver(addresses);
        const closed = new OutgoingClient({ allow: [], ports: [] }, { lookup });
        const url = `http://rebind.example:${server.port}/`;
        await expect(closed.send({ url, method: 'GET' })).rejects.toMatchObject({
          code: 'OUTGOING_REFUSED',
          message: expect.stringContaining('rebind.example resolves to an address that is not public'),
        });
        await closed.close();
        expect({ asked: asked(), connections: server.connections - before }).toEqual({ asked: 1, connections: 0 });
      },
    );

    it('resolves a name once, and connects only to the checked address', async () => {
      server.json('/', { here: true });
      // The resolver returns an allowed address first, then a forbidden one: a second lookup would get the forbidden one.
      const { lookup, asked } = resolver(['127.0.0.1'], ['127.0.0.2']);
      const pinned = new OutgoingClient({ allow: allow(), ports: [] }, { lookup });
      const url = `http://rebind.example:${server.port}/`;
      expect((await pinned.send({ url, method: 'GET' })).status).toBe(200);
      expect(asked()).toBe(1);
      expect(server.requests[0]?.headers.host).toBe(`rebind.example:${server.port}`);
      await pinned.close();
    });

    it('checks each new connection again', async () => {
      server.on('/', (_request, reply) => void reply.writeHead(200, { connection: 'close' }).end());
      const { lookup, asked } = resolver(['127.0.0.1'], ['127.0.0.2']);
      const pinned = new OutgoingClient({ allow: allow(), ports: [] }, { lookup });
      const request = { url: `http://rebind.example:${server.port}/`, method: 'GET' };
      await pinned.send(request);
      await expect(pinned.send(request)).rejects.toMatchObject({ code: 'OUTGOING_REFUSED' });
      expect(asked()).toBe(2);
      await pinned.close();
    });

    it('ignores the proxy variables of the environment', async () => {
      server.json('/', {});
      const proxies = { HTTP_PROXY: other.url, http_proxy: other.url, NODE_USE_ENV_PROXY: '1' };
      Object.assign(process.env, proxies);
      const fresh = new OutgoingClient({ allow: allow(), ports: [] });
      await fresh.send({ url: server.url, method: 'GET' });
      await fresh.close();
      for (const name of Object.keys(proxies)) delete process.env[name];
      expect([server.requests.length, other.requests.length]).toEqual([1, 0]);
    });
  });

  describe('redirects', () => {
    const to = (location: string, status: number) => (from: WebServer, path: string) =>
      from.on(path, (_request, reply) => void reply.writeHead(status, { location }).end('moved'));

    it.each([
      [301, 'POST', 'GET'],
      [302, 'POST', 'GET'],
      [303, 'POST', 'GET'],
      [307, 'POST', 'POST'],
      [308, 'POST', 'POST'],
      [301, 'PUT', 'PUT'],
      [303, 'PUT', 'GET'],
      [303, 'HEAD', 'HEAD'],
      [302, 'GET', 'GET'],
    ])('are followed for status %i from %s with %s', async (status, method, then) => {
      to('/there?x=1', status)(server, '/here');
      server.json('/there', {});
      const body = method === 'POST' || method === 'PUT' ? { body: '{"a":1}' } : {};
      const headers = { 'content-type': 'application/json', authorization: 'Bearer of-this-origin' };
      await get('/here', { method, headers, ...body });
      const [seen] = server.at('/there');
      expect(seen).toMatchObject({ method: then, path: '/there?x=1', body: then === method ? (body.body ?? '') : '' });
      expect(seen?.headers['content-type']).toBe(then === method ? 'application/json' : undefined);
      expect(seen?.headers.authorization).toBe('Bearer of-this-origin');
    });

    it('are followed to another origin without credentials, which a redirect back does not restore', async () => {
      to(`${other.url}/there`, 307)(server, '/here');
      to(`${server.url}/back`, 307)(other, '/there');
      server.json('/back', {});
      const headers = {
        'content-type': 'text/plain',
        authorization: 'Bearer canary',
        cookie: 'canary',
        'x-api-key': 'canary',
        accept: 'application/json',
      };
      await get('/here', { method: 'POST', headers, body: 'hello' });
      const seen = [other.at('/there')[0], server.at('/back')[0]];
      for (const request of seen) {
        expect(request).toMatchObject({ method: 'POST', body: 'hello', headers: { accept: 'application/json' } });
        expect(JSON.stringify(request)).not.toContain('canary');
      }
    });

    it.each([
      ['http://127.0.0.1:1/', 'not public (loopback)'],
      ['//0x7f.1:1/', 'not public (loopback)'],
      ['http://169.254.169.254/latest/meta-data/', 'not public (metadata)'],
      ['http://localhost/', 'is this machine'],
      ['file:///etc/passwd', 'use http:// or https://'],
      ['http://user:pass@example.com/', 'user name or password'],
      ['http://[', 'with an invalid URL in Location'],
    ])('are refused to %s', async (location, fault) => {
      to(location, 302)(server, '/here');
      await expect(get('/here')).rejects.toThrow(fault);
    });

    it('are limited in number', async () => {
      to('/here', 302)(server, '/here');
      await expect(get('/here', { limits: { maxRedirects: 3 } })).rejects.toThrow('more than 3 times');
      expect(server.requests).toHaveLength(4);
    });
  });

  it('reports why a host is unreachable, without path or query', async () => {
    const silent = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as { port: number };
    const range = { kind: 'range', address: '127.0.0.0', prefix: 8 } as const;
    const open = new OutgoingClient({ allow: [range], ports: [] });
    const ask = () => open.send({ url: `http://127.0.0.1:${port}/secret?key=canary`, method: 'GET' });
    await expect(ask()).rejects.toMatchObject({
      code: 'OUTGOING_FAILED',
      isRetryable: true,
      message: `127.0.0.1:${port} cannot be reached: it closed the connection.`,
    });
    silent.close();
    await once(silent, 'close');
    await expect(ask()).rejects.toThrow(`127.0.0.1:${port} cannot be reached: it does not accept connections.`);
    await open.close();
    await expect(ask()).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
  });

  it('ends a lookup that hangs at the time limit of the call', async () => {
    const rules = { allow: [], ports: [], proxy: { httpProxy: 'http://127.0.0.1:9', httpsProxy: '', noProxy: '' } };
    const stuck = new OutgoingClient(rules, { lookup: () => undefined });
    const call = stuck.send({ url: 'http://api.example/', method: 'GET', limits: { timeoutMs: 20 } });
    await expect(call).rejects.toMatchObject({ code: 'OUTGOING_TIMEOUT' });
    await stuck.close();
  });

  it('sends requests through a proxy, which resolves their names', async () => {
    const proxy = await ForwardProxy.start();
    const rules = {
      allow: [],
      ports: [],
      proxy: { httpProxy: proxy.url, httpsProxy: proxy.url, noProxy: '127.0.0.1' },
    };
    const unknown: LookupFunction = (_name, _options, callback) => callback(new Error('unknown'), []);
    const remote = new OutgoingClient(rules, { lookup: unknown });
    const near = new OutgoingClient(rules, resolver(['10.0.0.8']));
    const direct = new OutgoingClient({ ...rules, allow: allow() }, { lookup: unknown });
    try {
      server.json('/data', { from: 'server' });
      const url = `http://api.example:${server.port}/data`;
      expect((await remote.send({ url, method: 'GET' })).status).toBe(200);
      expect(proxy.seen).toEqual([`GET ${url}`]);
      // A name that is private for this machine is never left to the proxy, and literal addresses neither.
      await expect(near.send({ url, method: 'GET' })).rejects.toMatchObject({ code: 'OUTGOING_REFUSED' });
      await expect(remote.send({ url: 'http://10.0.0.8/', method: 'GET' })).rejects.toMatchObject({
        code: 'OUTGOING_REFUSED',
      });
      expect((await direct.send({ url: `${server.url}/data`, method: 'GET' })).status).toBe(200);
      proxy.credentials = 'user:other';
      const secure = remote.send({ url: 'https://api.example/', method: 'GET' });
      await expect(secure).rejects.toThrow(/proxy of HTTP_PROXY or HTTPS_PROXY answered with 407/);
      expect(proxy.seen).toEqual([`GET ${url}`, 'CONNECT api.example:443']);
    } finally {
      await Promise.all([remote, near, direct].map((one) => one.close()));
      await proxy.close();
    }
  });
});
