import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { RestWorld } from '../../../test/support/rest-world.js';

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
  ])('is read from %s %j by %j', async (type, content, result, expected) => {
    body(type, content);
    world.declare({ result });
    expect(await world.call({})).toMatchObject({ success: true, result: expected });
  });

  it.each([
    ['application/json', '{', 200, 'answered with invalid JSON (syntax).'],
    ['application/json', '['.repeat(200), 200, 'answered with invalid JSON (depth).'],
    ['application/json', '{"a":1,"z":2}', 200, 'answered without /b, where the result is expected; it has a, z.'],
    ['image/png', 'x', 200, 'answered with image/png, which is not text.'],
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
});
