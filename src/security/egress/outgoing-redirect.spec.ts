import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LookupFunction } from 'node:net';
import { WebServer } from '../../../test/support/web-server.js';
import { loadConfig } from '../../config/index.js';
import { OutgoingClient } from './outgoing.client.js';

/** Resolves every name to this machine. */
const lookup: LookupFunction = (_name, _options, callback) =>
  setImmediate(() => callback(null, [{ address: '127.0.0.1', family: 4 }]));

const REFUSED = 'a redirect from another origin is followed there only if OUTGOING_ALLOW names its host and port';

describe('a redirect to another origin', () => {
  let open: WebServer;
  let inner: WebServer;
  let client: OutgoingClient;
  beforeAll(async () => {
    open = await WebServer.start();
    inner = await WebServer.start();
  });
  beforeEach(() => {
    open.reset();
    inner.reset();
    inner.json('/admin', { inner: true });
  });
  afterEach(() => client.close());
  afterAll(async () => {
    await open.close();
    await inner.close();
  });

  /** Allows `open` by its name, and the given entries; `:port` in an entry means the port of `inner`. */
  const allow = (entries: string) => {
    const env = { OUTGOING_ALLOW: `open.example,${entries.replaceAll(':port', `:${inner.port}`)}` };
    client = new OutgoingClient(loadConfig({ env }).config.security.outgoing, { lookup });
  };
  const at = (host: string, server: WebServer, path: string) => `http://${host}:${server.port}${path}`;
  const lead = (location: string, from = open, path = '/') =>
    from.on(path, (_request, reply) => void reply.writeHead(302, { location }).end());
  const ask = (url = at('open.example', open, '/')) => client.send({ url, method: 'GET' });

  it.each([
    ['127.0.0.1', '127.0.0.0/8'],
    ['127.0.0.1', '127.0.0.0/8:port'],
    ['127.0.0.1', '127.0.0.1'],
    ['127.0.0.1', '0.0.0.0/0:port'],
    ['crm.internal', 'crm.internal'],
    ['crm.internal', '*.internal:port'],
    ['crm.internal', '127.0.0.1:port'],
    ['crm.internal', '127.0.0.0/8'],
    ['crm.internal', '127.0.0.1,other.internal:port'],
    ['localhost', 'localhost'],
  ])('is refused to %s if %s allows direct calls only', async (host, entry) => {
    allow(entry);
    const url = at(host, inner, '/admin');
    expect((await ask(url)).status).toBe(200);
    inner.requests.length = 0;
    const before = inner.connections;
    lead(url);
    // The redirect must not use an existing connection to that host either.
    await expect(ask()).rejects.toMatchObject({ code: 'OUTGOING_REFUSED', message: expect.stringContaining(REFUSED) });
    expect({ requests: inner.requests, connections: inner.connections - before }).toEqual({
      requests: [],
      connections: 0,
    });
  });

  it.each([
    ['127.0.0.1', '127.0.0.1:port'],
    ['127.0.0.1', '127.0.0.0/8,127.0.0.1/32:port'],
    ['crm.internal', 'crm.internal:port'],
    ['localhost', 'localhost:port'],
  ])('is followed to %s if %s lists it with its port', async (host, entry) => {
    allow(entry);
    lead(at(host, inner, '/admin'));
    expect((await ask()).body.toString()).toBe('{"inner":true}');
  });

  it('is checked at each further hop, also back to the first origin', async () => {
    allow('crm.internal:port');
    lead(at('crm.internal', inner, '/step'));
    lead('/admin', inner, '/step');
    expect((await ask()).status).toBe(200);
    lead(at('open.example', open, '/mine'), inner, '/step');
    await expect(ask()).rejects.toThrow(REFUSED);
    expect(open.at('/mine')).toEqual([]);
  });

  it('does not include a redirect that changes only the path', async () => {
    allow('127.0.0.1');
    lead('/there');
    open.json('/there', {});
    expect((await ask()).status).toBe(200);
    lead(at('OPEN.example', open, '/there'));
    expect((await ask()).status).toBe(200);
  });

  it('includes a redirect to a different port of an allowed host', async () => {
    allow('127.0.0.1');
    lead(at('open.example', inner, '/admin'));
    await expect(ask()).rejects.toThrow(REFUSED);
    expect(inner.requests).toEqual([]);
  });
});
