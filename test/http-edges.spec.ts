import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { startJackdaw, type Answer, type Jackdaw } from './support/jackdaw.js';

const CHAT = '/api/agent/chat';
const QUESTION = '{"query":"1 + 2"}';

let jackdaw: Jackdaw;
beforeAll(async () => {
  jackdaw = await startJackdaw();
});
afterAll(() => jackdaw.stop());

function post(path: string, body: Uint8Array, encoding?: string): Promise<Answer> {
  const headers = {
    'content-type': 'application/json',
    ...(encoding !== undefined && { 'content-encoding': encoding }),
  };
  return jackdaw.send(path, { method: 'POST', headers, body });
}

const summary = ({ status, body }: Answer) => [status, body['code'] ?? body['result']];

describe('a compressed body', () => {
  it.each<[string, (text: string) => Buffer]>([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['GZIP', gzipSync],
    ['identity, gzip', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
    ['identity', (text) => Buffer.from(text)],
  ])('is decoded: %s', async (encoding, compress) => {
    expect(summary(await post(CHAT, compress(QUESTION), encoding))).toEqual([200, '3']);
  });

  it.each(['compress', 'exi', 'gzip, br', 'aes128gcm', '*'])('is refused with 415: %s', async (encoding) => {
    const answer = await post(CHAT, gzipSync(QUESTION), encoding);
    expect(summary(answer)).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    expect(answer.body['detail']).toContain('gzip, x-gzip, deflate, br, zstd');
  });

  it.each<[string, Uint8Array]>([
    ['gzip', Buffer.from(QUESTION)],
    ['gzip', gzipSync(QUESTION).subarray(0, -9)],
    ['deflate', Buffer.from(QUESTION)],
    ['br', Buffer.from(QUESTION)],
    ['zstd', gzipSync(QUESTION)],
  ])('is refused with 400 when it is not %s', async (encoding, body) => {
    expect(summary(await post(CHAT, body, encoding))).toEqual([400, 'MALFORMED_JSON']);
  });

  const bomb = Buffer.from(JSON.stringify({ query: 'x'.repeat(100 * 1024 * 1024) }));
  it.each<[string, string, Buffer]>([
    ['gzip', CHAT, gzipSync(bomb)],
    ['gzip', '/api/sessions/import', gzipSync(bomb)],
    ['gzip', '/api/sessions', gzipSync(bomb)],
    ['br', CHAT, brotliCompressSync(bomb)],
    ['zstd', CHAT, zstdCompressSync(bomb)],
    ['deflate', CHAT, deflateSync(bomb)],
  ])('is limited by its decoded size: %s to %s', async (encoding, path, body) => {
    expect(body.length).toBeLessThan(1024 * 1024);
    expect(summary(await post(path, body, encoding))).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  });

  it('has the limit for a request without images where images are permitted', async () => {
    const body = gzipSync(JSON.stringify({ query: 'x'.repeat(2 * 1024 * 1024) }));
    expect(summary(await post(CHAT, body, 'gzip'))).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  });

  it('is decoded for MCP, with JSON-RPC errors', async () => {
    const init = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
    const body = gzipSync(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: init }));
    const send = (path: string, encoding: string, bytes: Uint8Array) =>
      jackdaw.send(path, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'content-encoding': encoding,
          accept: 'application/json, text/event-stream',
        },
        body: bytes,
      });
    const answer = await send('/mcp', 'gzip', body);
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('"protocolVersion":"2025-11-25"')]);
    expect((await send('/mcp/', 'gzip', body)).status).toBe(200);
    const [unknown, large] = [await send('/mcp', 'exi', body), await send('/mcp', 'gzip', gzipSync(bomb))];
    expect([unknown.status, large.status]).toEqual([415, 413]);
    expect(large.body['error']).toMatchObject({ code: -32_000 });
  });
});

describe('the text of a body', () => {
  it('can start with a byte order mark, compressed or not', async () => {
    const marked = Buffer.from(`\uFEFF${QUESTION}`);
    expect(summary(await post(CHAT, marked))).toEqual([200, '3']);
    expect(summary(await post(CHAT, gzipSync(marked), 'gzip'))).toEqual([200, '3']);
    expect(summary(await post(CHAT, Buffer.from(`\uFEFF\uFEFF${QUESTION}`)))).toEqual([400, 'MALFORMED_JSON']);
  });

  it('is preserved byte for byte inside strings', async () => {
    const { body } = await jackdaw.post('/api/sessions', { metadata: { note: '\uFEFFx' } });
    const { body: read } = await jackdaw.get(`/api/sessions/${String(body['id'] ?? body['session_id'])}/metadata`);
    expect(read['metadata']).toEqual({ note: '\uFEFFx' });
  });

  it('is refused with the place of a syntax error', async () => {
    const { body } = await post(CHAT, Buffer.from('{\n  "query": "x",\n}'));
    expect(body).toMatchObject({ detail: 'The body is not valid JSON: syntax error at line 3, column 1.' });
  });

  it.each(['\uFEFF', ''])('is refused with a specific message in UTF-16', async (mark) => {
    const little = Buffer.from(mark + QUESTION, 'utf16le');
    for (const bytes of [little, Buffer.from(little).swap16()]) {
      const answer = await post(CHAT, bytes);
      expect(summary(answer)).toEqual([400, 'MALFORMED_JSON']);
      expect(answer.body['detail']).toContain('UTF-16');
    }
  });
});

describe('a time in a query', () => {
  const wrong = ['2026-02-30', '2026-02-29', '2026-04-31', '2026-00-10', '2026-13-01', '2026-01-00', '2026-01-32'];
  const paths = ['/api/runs', '/api/usage', '/api/usage/tenants', '/api/access-log'];

  it.each(paths.flatMap((path) => ['from', 'to'].map((name) => [path, name])))(
    'must be a day that exists: %s?%s=',
    async (path, name) => {
      for (const day of wrong) {
        const answer = await jackdaw.get(`${path}?${name}=${day}`);
        expect([day, ...summary(answer)]).toEqual([day, 400, 'VALIDATION_FAILED']);
        expect(answer.body['detail']).toContain(name);
      }
      expect((await jackdaw.get(`${path}?${name}=2028-02-29`)).status).toBe(200);
    },
  );

  it('must be on a day that exists', async () => {
    for (const time of ['2026-02-30T10:00:00Z', '2026-02-29T10:00:00%2B05:45', '2026-06-31T00:00-08:00']) {
      expect([time, (await jackdaw.get(`/api/runs?from=${time}`)).status]).toEqual([time, 400]);
    }
    for (const time of ['2028-02-29T23:59:59.999-08:00', '2026-12-31T23:00:00%2B14:00']) {
      expect([time, (await jackdaw.get(`/api/runs?from=${time}`)).status]).toEqual([time, 200]);
    }
  });

  it('is validated in the creation of a key', async () => {
    const answer = await jackdaw.post('/api/keys', { name: 'x', role: 'user', expiresAt: '2030-02-30' });
    expect(summary(answer)).toEqual([400, 'VALIDATION_FAILED']);
    expect(answer.body['detail']).toContain('expiresAt');
  });
});

describe('a trailing slash', () => {
  it.each([
    '/api/runs',
    '/api/sessions',
    '/api/tools',
    '/api/agents',
    '/api/agent/health',
    '/health/live',
    '/docs/json',
  ])('has no effect at %s', async (path) => {
    const [without, withSlash] = [await jackdaw.get(path), await jackdaw.get(`${path}/`)];
    expect([withSlash.status, withSlash.headers.get('content-type')]).toEqual([
      without.status,
      without.headers.get('content-type'),
    ]);
  });

  it('has no effect on a chat: its body, its limits, its query', async () => {
    expect(summary(await post(`${CHAT}/`, Buffer.from(QUESTION)))).toEqual([200, '3']);
    const image = { url: `data:image/png;base64,${'A'.repeat(2 * 1024 * 1024)}` };
    const answer = await jackdaw.post(`${CHAT}/`, { query: '1 + 2', images: [image] });
    expect(answer.status).not.toBe(413);
    expect((await jackdaw.get('/api/runs/?limit=1')).status).toBe(200);
    expect((await jackdaw.get('/api/runs/?limit=0')).status).toBe(400);
  });

  it('is not part of an id', async () => {
    const { body } = await jackdaw.chat({ query: '1 + 2' });
    const id = String(body['run_id']);
    expect((await jackdaw.get(`/api/runs/${id}/`)).body['run_id']).toBe(id);
    expect((await jackdaw.get(`/api/runs/${id}/journal/`)).status).toBe(200);
    expect((await jackdaw.get(`/api/runs/${id}%2F`)).status).toBe(404);
    expect((await jackdaw.get('/nowhere/')).status).toBe(404);
  });

  it('leads to the parts of the documentation page', async () => {
    for (const path of ['/docs', '/docs/', '/docs/?x=a']) {
      const { status, text } = await jackdaw.get(path);
      expect(status).toBe(200);
      const parts = [...text.matchAll(/(?:href="|src="|url: ')([^"']+)/g)].map(([, part]) => part!);
      expect(parts).toHaveLength(3);
      for (const part of parts) {
        const { pathname } = new URL(part, `${jackdaw.url}${path}`);
        expect([pathname, (await jackdaw.get(pathname)).status]).toEqual([pathname, 200]);
      }
    }
  });
});
