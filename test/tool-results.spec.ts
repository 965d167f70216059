import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { ToolRegistry } from '../src/index.js';
import { callTool } from './support/direct-calls.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';

const ring: Record<string, unknown> = { id: 7 };
ring['self'] = ring;
const shared = { id: 1 };

/** Returned values, and the results that they become. */
const RETURNED: Readonly<Record<string, readonly [() => unknown, unknown]>> = {
  bigint: [() => 12345678901234567890n, '12345678901234567890'],
  smallBigint: [() => 5n, 5],
  row: [
    () => ({ id: 9007199254740993n, count: 3n, list: [-12345678901234567890n] }),
    { id: '9007199254740993', count: 3, list: ['-12345678901234567890'] },
  ],
  dates: [() => ({ at: new Date(0), never: new Date(NaN) }), { at: '1970-01-01T00:00:00.000Z', never: 'Invalid Date' }],
  map: [
    () =>
      new Map<string, unknown>([
        ['a', 1],
        ['b', new Map([['c', 2n]])],
      ]),
    { a: 1, b: { c: 2 } },
  ],
  numberedMap: [
    () =>
      new Map([
        [1, 'a'],
        [2, 'b'],
      ]),
    [
      [1, 'a'],
      [2, 'b'],
    ],
  ],
  set: [() => new Set([1, new Set(['x'])]), [1, ['x']]],
  anError: [() => new RangeError('too far', { cause: new Error('the wall') }), 'too far: the wall'],
  errors: [() => [{ status: 'rejected', reason: new TypeError() }], [{ status: 'rejected', reason: 'TypeError' }]],
  buffer: [() => Buffer.from('grüße'), 'grüße'],
  bytes: [
    () => ({ data: new Uint8Array([0xff, 0xfe, 0]), raw: new TextEncoder().encode('hi').buffer }),
    { data: '[file 1: application/octet-stream, 3 bytes]', raw: 'hi' },
  ],
  floats: [() => new Float32Array([1, 2.5]), [1, 2.5]],
  ring: [() => ring, { id: 7, self: '[circular]' }],
  ringOfMaps: [
    () => {
      const map = new Map<string, unknown>([['a', 1]]);
      return map.set('self', { map });
    },
    { a: 1, self: { map: '[circular]' } },
  ],
  twice: [() => [shared, shared, { shared }], [{ id: 1 }, { id: 1 }, { shared: { id: 1 } }]],
  functions: [() => ({ id: 1, save() {}, tag: Symbol('s') }), { id: 1, save: '[function save]', tag: 'Symbol(s)' }],
  promised: [() => ({ later: Promise.resolve(1) }), { later: '[promise]' }],
  pattern: [() => ({ of: /a+/g, url: new URL('https://a.example/b') }), { of: '/a+/g', url: 'https://a.example/b' }],
  query: [() => new URLSearchParams('a=1&b=2'), { a: '1', b: '2' }],
  headers: [() => new Headers({ 'x-a': '1' }), { 'x-a': '1' }],
  generator: [
    function* () {
      yield 1;
      yield { n: 2n };
      return 'end';
    },
    [1, { n: 2 }, 'end'],
  ],
  endless: [
    function* () {
      for (let n = 0; ; n++) yield n;
    },
    [...Array(10_000).keys(), '[cut: only the first 10000 values or 4 MiB are read]'],
  ],
  exactlyAll: [
    function* () {
      for (let n = 0; n < 10_000; n++) yield n;
    },
    [...Array(10_000).keys()],
  ],
  iterator: [() => new Map([['a', 1]]).entries(), [['a', 1]]],
  nestedGenerator: [() => ({ rows: [1, 2].values() }), { rows: [1, 2] }],
  asyncGenerator: [
    async function* () {
      yield 'a';
      await setImmediate();
      yield 'b';
    },
    ['a', 'b'],
  ],
  stream: [
    () =>
      Readable.from([Buffer.from('gr\u00fc').subarray(0, 3), Buffer.from('gr\u00fc').subarray(3), Buffer.from('n')]),
    'grün',
  ],
  objectStream: [() => Readable.from([{ id: 1n }, { id: 2n }]), [{ id: 1 }, { id: 2 }]],
  webStream: [() => new Blob(['from a ', 'stream']).stream(), 'from a stream'],
  blob: [() => new Blob(['text'], { type: 'text/plain' }), 'text'],
  response: [() => new Response('a page'), 'a page'],
  jsonResponse: [() => Response.json({ id: 1, ok: true }), { id: 1, ok: true }],
  emptyResponse: [() => new Response(null, { status: 204 }), ''],
  nestedResponse: [
    () => ({ response: new Response('x', { status: 201, statusText: 'Created' }) }),
    { response: '[response 201 Created]' },
  ],
  axios: [
    () => ({
      status: 200,
      statusText: 'OK',
      data: { id: 1n },
      headers: { 'set-cookie': 'session=abc' },
      config: { headers: { Authorization: 'Bearer abcdef123456' } },
      request: { path: '/orders' },
    }),
    { status: 200, data: { id: 1 } },
  ],
  config: [() => ({ status: 1, data: 'x', config: { port: 2 } }), { status: 1, data: 'x', config: { port: 2 } }],
  fetched: [() => fetch(web), { from: 'the web' }],
  endlessFile: [() => fetch(`${web}/endless`), '[file left out: application/pdf, larger than 4 MiB]'],
  noValue: [() => undefined, null],
};
function* repeated<T>(value: T): Generator<T> {
  for (;;) yield value;
}

/** The ends of the endless replies. */
const ended: Promise<unknown>[] = [];
let web: string;
let server: Server;
let jackdaw: Jackdaw;

beforeAll(async () => {
  server = createServer((request, reply) => {
    if (request.url === '/endless') {
      ended.push(once(reply, 'close'));
      const bytes = Buffer.alloc(65_536, 0xff);
      reply.writeHead(200, { 'content-type': 'application/pdf' });
      return void pipeline(Readable.from(repeated(bytes)), reply, () => undefined);
    }
    reply.writeHead(200, { 'content-type': 'application/json' }).end('{"from":"the web"}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  web = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  jackdaw = await startJackdaw();
  for (const [name, [handler]] of Object.entries(RETURNED))
    jackdaw.app.get(ToolRegistry).register({ name, handler, description: 'x', effect: 'read' });
});
afterAll(async () => {
  await jackdaw.stop();
  server.close();
});

describe('a returned value', () => {
  it.each(Object.keys(RETURNED))('becomes a readable result: %s', async (name) => {
    const { body } = await callTool(jackdaw, name);
    expect(body).toMatchObject({ success: true });
    expect(body['result']).toEqual(RETURNED[name]![1]);
  });

  it('does not read an endless file further', async () => {
    await callTool(jackdaw, 'endlessFile');
    await Promise.all(ended);
    expect(ended).not.toEqual([]);
  });
});
