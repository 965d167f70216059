import { describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { CANARY, RestWorld } from '../../test/support/rest-world.js';
import { modelText, toolResultText } from '../tool/result/index.js';

Logger.overrideLogger(false);

const world = RestWorld.prepare();

describe('the reply of a REST tool', () => {
  const body = (type: string, content: string | Buffer, status = 200) =>
    world.server.on('/crm', (_request, reply) => void reply.writeHead(status, { 'content-type': type }).end(content));

  it.each([
    ['application/json', '{"a":{"b/c":[1,2]}}', '/a/b~1c/1', 2],
    ['application/vnd.api+json; charset=utf-8', '[null]', '', [null]],
    ['application/json', 'null', '', null],
    ['text/plain', 'grüße', '', 'grüße'],
    ['text/plain; charset=iso-8859-1', Buffer.from('gr\xfc\xdfe', 'latin1'), '', 'grüße'],
    ['application/xml', '<a/>', '', '<a/>'],
    ['text/plain', '', '', null],
    ['application/pdf', '%PDF-1.7', '', '[file: application/pdf, 8 bytes]'],
    ['application/octet-stream', Buffer.from([0xff, 0]), '', '[file: application/octet-stream, 2 bytes]'],
  ])('is read from %s %j by %j', async (type, content, result, expected) => {
    body(type, content);
    world.declare({ result });
    expect(await world.call({})).toMatchObject({ success: true, result: expected });
  });

  it.each([
    ['application/json', '{', 200, 'answered with invalid JSON (the text ends too early).'],
    ['application/json', '['.repeat(200), 200, 'answered with invalid JSON (nested deeper than 100 levels).'],
    ['application/json', '{"a":1,"z":2}', 200, 'answered without /b, where the result is expected; it has a, z.'],
    ['image/png', 'x', 200, 'answered with image/png, and JSON was expected.'],
    ['text/html', '<p>', 200, 'answered with text/html, and JSON was expected.'],
    ['text/html', '<p>\n  Not\n here</p>', 404, 'answered 404 Not Found: <p> Not here</p>.'],
    ['application/json', '{"error":"bad"}', 422, 'answered 422 Unprocessable Entity: {"error":"bad"}'],
    ['text/plain', 'x'.repeat(1000), 400, `answered 400 Bad Request: ${'x'.repeat(500)}…`],
    ['application/octet-stream', 'x', 599, 'answered 599.'],
  ])('is an error for %s %j of status %i', async (type, content, status, fault) => {
    body(type, content, status);
    world.declare({ result: '/b' });
    expect(await world.errorOf({})).toBe(`127.0.0.1:${world.server.port} ${fault}`);
  });

  it('contains the status and the headers for HEAD', async () => {
    world.server.on(
      '/crm',
      (_request, reply) => void reply.writeHead(200, { etag: '"7"', 'content-length': 12 }).end(),
    );
    world.declare({ method: 'HEAD' });
    expect(await world.call({})).toMatchObject({
      result: { status: 200, headers: { etag: '"7"', 'content-length': '12' } },
    });
  });

  const HEADERS = {
    'content-type': 'application/json',
    link: '<https://crm.example/?page=2>; rel="next"',
    etag: '"7"',
    'x-ratelimit-remaining': '41',
    'x-other': 'hidden',
  };
  const NOTE = '[link: <https://crm.example/?page=2>; rel="next"; etag: "7"; x-ratelimit-remaining: 41]';

  it.each([false, true])(
    'has a line with its headers for the model, beside the value (stateful: %s)',
    async (stateful) => {
      world.server.on('/crm', (_request, reply) => void reply.writeHead(200, HEADERS).end('{"a":{"b":1}}'));
      world.declare({ result: '/a', stateful });
      const result = await world.call({}, { sessionId: 's' });
      expect(result).toMatchObject({ result: { b: 1 }, note: NOTE });
      expect(toolResultText(result)).toBe('{"b":1}');
      expect(modelText(result)).toBe(`${NOTE}\n{"b":1}`);
    },
  );

  it('has the line also if it is cached', async () => {
    world.server.on('/crm', (_request, reply) => void reply.writeHead(200, HEADERS).end('1'));
    world.declare({ cacheTtlMs: 60_000 });
    expect([await world.call({}), await world.call({})]).toMatchObject([
      { result: 1, note: NOTE },
      { result: 1, note: NOTE },
    ]);
    expect(world.server.requests).toHaveLength(1);
  });

  it('has no secret in the line', async () => {
    const location = `https://crm.example/?token=${encodeURIComponent(CANARY)}`;
    world.server.on('/crm', (_request, reply) => void reply.writeHead(201, { location }).end());
    world.declare({ auth: { type: 'bearer', token: 'CRM_TOKEN' } });
    expect(await world.call({})).toMatchObject({
      result: null,
      note: '[location: https://crm.example/?token=[redacted]]',
    });
  });

  it('has its time to wait in the error', async () => {
    world.server.on('/crm', (_request, reply) => void reply.writeHead(429, { 'retry-after': '30' }).end('Slow down'));
    world.declare({ retries: 0 });
    expect(await world.errorOf({})).toContain('answered 429 Too Many Requests [retry-after: 30]: Slow down');
  });

  it('is plain text for the model if it is HTML', async () => {
    const html =
      '<html><head><style>a{}</style><script>evil()</script></head><body><h1>Orders</h1><p>Two are <a href="/o/1">open</a>.</p></body></html>';
    body('text/html', html);
    world.declare({});
    const result = await world.call({});
    expect(result).toMatchObject({ result: html });
    expect(modelText(result)).toBe('Orders\n\nTwo are open [/o/1].');
  });

  it.each([
    ['nested tags', '<i>'.repeat(330_000)],
    ['paragraphs', '<p>a'.repeat(80_000)],
    ['nested quotations', `${'<blockquote>'.repeat(250)}${'<p>a'.repeat(10_000)}`],
    ['nested lists', `${'<ul><li>'.repeat(125)}${'a<br>'.repeat(10_000)}`],
    ['open scripts', '<script></script'.repeat(50_000)],
    ['open comments', '<!--'.repeat(200_000)],
  ])('is converted from hostile HTML within bounds: %s', async (_what, html) => {
    body('text/html', html);
    world.declare({});
    const { success, text } = (await world.call({})) as { success: boolean; text: string };
    expect(success).toBe(true);
    expect(text.length).toBeLessThanOrEqual(50_000);
  });

  it('is converted from HTML after long parts without text', async () => {
    const long = 'var a = "<body>";'.repeat(10_000);
    body('text/html', `<html><head><script>${long}</script></head><body><!--${long}--><p>Orders</p></body></html>`);
    world.declare({});
    expect(modelText(await world.call({}))).toBe('Orders');
  });
});
