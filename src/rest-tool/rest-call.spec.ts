import { describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { RestWorld } from '../../test/support/rest-world.js';

Logger.overrideLogger(false);

const world = RestWorld.prepare();

describe('the retries of a REST tool', () => {
  const flaky = (failures: number, status = 503, headers = {}) =>
    world.server.on('/crm', (_request, reply, count) => {
      reply.writeHead(count > failures ? 200 : status, { 'content-type': 'application/json', ...headers }).end('{}');
    });

  it.each([
    ['GET', {}, 3],
    ['POST', {}, 1],
    ['DELETE', {}, 1],
    ['POST', { effect: 'idempotent' }, 3],
    ['PUT', { effect: 'idempotent', retries: 0 }, 1],
    ['GET', { effect: 'once' }, 1],
    ['GET', { retries: 4 }, 5],
  ] as const)('follow its effect: %s with %j is requested %i times', async (method, more, times) => {
    flaky(9);
    world.declare({ method, ...more });
    expect(await world.errorOf({})).toContain('answered 503 Service Unavailable');
    expect(world.server.requests).toHaveLength(times);
  });

  it('continue until a call succeeds, with the same idempotency key', async () => {
    flaky(2, 429, { 'retry-after': '0' });
    world.declare({ method: 'PUT', effect: 'idempotent' });
    expect(await world.call({}, { key: 'run-1:tool:1:1' })).toMatchObject({ success: true });
    expect(world.server.requests.map(({ headers }) => headers['idempotency-key'])).toEqual(
      Array.from({ length: 3 }, () => 'run-1:tool:1:1'),
    );
  });

  it.each([400, 401, 404, 409, 422, 501])('do not follow the status %i', async (status) => {
    flaky(9, status);
    world.declare({});
    await world.call({});
    expect(world.server.requests).toHaveLength(1);
  });

  it('follow a broken connection', async () => {
    world.server.on('/crm', (_request, reply, count) => {
      if (count === 1) reply.destroy();
      else reply.writeHead(204).end();
    });
    world.declare({});
    expect(await world.call({})).toMatchObject({ success: true, result: null });
  });

  it('follow a first-byte timeout', async () => {
    world.server.on('/crm', (_request, reply, count) => void (count > 1 && reply.writeHead(204).end()));
    world.declare({ firstByteTimeoutMs: 1000 });
    expect(await world.call({})).toMatchObject({ success: true });
  });

  it('stop when Retry-After exceeds the remaining time', async () => {
    flaky(1, 503, { 'retry-after': '3600' });
    world.declare({ timeoutMs: 60_000 });
    expect(await world.errorOf({})).toContain('answered 503');
    expect(world.server.requests).toHaveLength(1);
  });

  it('wait as long as the server requests', async () => {
    flaky(1, 503, { 'retry-after-ms': '60' });
    world.declare({});
    const started = performance.now();
    expect(await world.call({})).toMatchObject({ success: true });
    expect(performance.now() - started).toBeGreaterThanOrEqual(59);
  });
});

it('a REST request stops with its call, even between attempts', async () => {
  world.server.on('/crm', (_request, reply) => void reply.writeHead(503, { 'retry-after': '20' }).end());
  world.declare({});
  const abort = new AbortController();
  const result = world.call({}, { signal: abort.signal });
  await world.server.waitForRequests(1);
  abort.abort();
  expect(await result).toMatchObject({ success: false, code: 'TOOL_CANCELLED' });
  world.server.on('/crm', () => undefined);
  world.declare({ timeoutMs: 50 });
  expect(await world.call({})).toMatchObject({ code: 'TOOL_TIMEOUT', error: 'The tool did not finish within 50 ms.' });
});

it('a REST tool derives its handling from its method and its declaration', () => {
  world.declare({});
  expect(world.tools.get('crm').metadata).toEqual({
    effect: 'read',
    egress: false,
    untrusted: true,
    private: false,
    origin: {
      name: expect.stringMatching(/^REST API https?:\/\/[^/]+$/),
      hosts: [expect.any(String)],
      isReadOnly: true,
    },
    source: 'REST tool "crm"',
    timeoutMs: 30_000,
  });
  world.declare({ auth: { type: 'bearer', token: 'CRM_TOKEN' } });
  expect(world.tools.get('crm').metadata).toMatchObject({ egress: false, private: true });
  world.declare({ parameters: { type: 'object', properties: { q: { type: 'string' } } } });
  expect(world.tools.get('crm').metadata).toMatchObject({ egress: true, private: false });
  world.declare({ method: 'POST', approval: 'always', concurrency: 2, untrusted: false });
  expect(world.tools.get('crm').metadata).toMatchObject({
    effect: 'once',
    egress: true,
    untrusted: false,
    approval: 'always',
    concurrency: 2,
  });
});
