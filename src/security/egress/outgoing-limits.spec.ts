import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { WebServer } from '../../../test/support/web-server.js';
import { OutgoingClient } from './outgoing.client.js';
import type { OutgoingRequest } from './outgoing.types.js';

const HERE = { kind: 'range', address: '127.0.0.1', prefix: 32 } as const;

function endless(reply: ServerResponse): void {
  const more = () => {
    while (!reply.destroyed && reply.write('x'.repeat(1024)));
  };
  reply.on('drain', more);
  more();
}

describe('the limits of outgoing calls', () => {
  let server: WebServer;
  let client: OutgoingClient;
  beforeAll(async () => {
    server = await WebServer.start();
    client = new OutgoingClient({ allow: [HERE], ports: [] });
  });
  beforeEach(() => server.reset());
  afterAll(async () => {
    await client.close();
    await server.close();
  });

  const get = (path: string, more: Partial<OutgoingRequest> = {}) =>
    client.send({ url: `${server.url}${path}`, method: 'GET', ...more });

  const announced = (reply: ServerResponse) => void reply.writeHead(200, { 'content-length': '5000' }).write('x');
  const bomb = (reply: ServerResponse) =>
    void reply.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(1_000_000)));

  it.each([
    ['announced as too long', announced],
    ['endless', endless],
    ['a decompression bomb', bomb],
  ])('reject a body that is %s', async (_name, answer) => {
    server.on('/big', (_request, reply) => answer(reply));
    await expect(get('/big', { limits: { maxBytes: 4096 } })).rejects.toMatchObject({
      code: 'OUTGOING_FAILED',
      isRetryable: false,
      message: expect.stringContaining('longer than the limit of 4096 bytes'),
    });
  });

  it('reject headers above the maximum size', async () => {
    server.on('/', (_request, reply) => void reply.writeHead(200, { 'x-long': 'x'.repeat(20_000) }).end());
    await expect(get('/')).rejects.toThrow('headers');
  });

  it.each([
    ['exotic', 'has an unsupported content encoding'],
    ['gzip, gzip', 'has an unsupported content encoding'],
    ['gzip', 'cannot be decompressed'],
  ])('reject the content encoding %s of a plain body', async (encoding, fault) => {
    server.on('/', (_request, reply) => void reply.writeHead(200, { 'content-encoding': encoding }).end('plain'));
    await expect(get('/')).rejects.toThrow(fault);
  });

  it('include the time until the first byte and the total time', async () => {
    server.on('/silent', () => undefined);
    server.on('/slow', (_request, reply) => void reply.writeHead(200).write('x'));
    await expect(get('/silent', { limits: { firstByteTimeoutMs: 30 } })).rejects.toMatchObject({
      code: 'OUTGOING_TIMEOUT',
      message: `127.0.0.1:${server.port} did not start to answer within 30 ms.`,
    });
    await expect(get('/slow', { limits: { firstByteTimeoutMs: 5000, timeoutMs: 60 } })).rejects.toMatchObject({
      code: 'OUTGOING_TIMEOUT',
      isRetryable: true,
      message: expect.stringContaining('did not finish within 60 ms'),
    });
  });

  it.each(['/silent', '/slow'])('close the connection at %s when the call is aborted', async (path) => {
    const own = await WebServer.start();
    own.on('/silent', () => undefined);
    own.on('/slow', (_request, reply) => void reply.writeHead(200).write('x'));
    const fresh = new OutgoingClient({ allow: [HERE], ports: [] });
    const abort = new AbortController();
    const sent = fresh.send({ url: `${own.url}${path}`, method: 'GET', signal: abort.signal });
    await own.waitForRequests(1);
    abort.abort(new Error('enough'));
    await expect(sent).rejects.toThrow('enough');
    await own.waitForClosed();
    await fresh.close();
    await own.close();
  });

  it('close the connection of an endless reply', async () => {
    const own = await WebServer.start();
    own.on('/', (_request, reply) => endless(reply));
    const fresh = new OutgoingClient({ allow: [HERE], ports: [] });
    await expect(fresh.send({ url: own.url, method: 'GET', limits: { maxBytes: 9999 } })).rejects.toThrow('9999 bytes');
    await own.waitForClosed();
    await fresh.close();
    await own.close();
  });
});
