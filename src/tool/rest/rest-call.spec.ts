import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { RestWorld } from '../../../test/support/rest-world.js';

Logger.overrideLogger(false);

const world = RestWorld.prepare();

describe('a REST tool is repeated', () => {
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
  ] as const)('by its effect: %s %j is asked %i times', async (method, more, times) => {
    flaky(9);
    world.declare({ method, ...more });
    expect(await world.errorOf({})).toContain('answered 503 Service Unavailable');
    expect(world.server.requests).toHaveLength(times);
  });

  it('until it succeeds, with the same key each time', async () => {
    flaky(2, 429, { 'retry-after': '0' });
    world.declare({ method: 'PUT', effect: 'idempotent' });
    expect(await world.call({}, { key: 'run-1:tool:1:1' })).toMatchObject({ success: true });
    expect(world.server.requests.map(({ headers }) => headers['idempotency-key'])).toEqual(
      Array.from({ length: 3 }, () => 'run-1:tool:1:1'),
    );
  });

  it.each([400, 401, 404, 409, 422, 501])('but not after %i', async (status) => {
    flaky(9, status);
    world.declare({});
    await world.call({});
    expect(world.server.requests).toHaveLength(1);
  });

  it('when the connection breaks', async () => {
    world.server.on('/crm', (_request, reply, count) => {
      if (count === 1) reply.destroy();
      else reply.writeHead(204).end();
    });
    world.declare({});
    expect(await world.call({})).toMatchObject({ success: true, result: null });
  });

  it('when nothing comes, within its time', async () => {
    world.server.on('/crm', (_request, reply, count) => void (count > 1 && reply.writeHead(204).end()));
    world.declare({ firstByteTimeoutMs: 50 });
    expect(await world.call({})).toMatchObject({ success: true });
  });

  it('not when the server asks for more time than there is', async () => {
    flaky(1, 503, { 'retry-after': '3600' });
    world.declare({ timeoutMs: 5000 });
    expect(await world.errorOf({})).toContain('answered 503');
    expect(world.server.requests).toHaveLength(1);
  });

  it('as late as the server asks', async () => {
    flaky(1, 503, { 'retry-after-ms': '60' });
    world.declare({});
    const started = performance.now();
    expect(await world.call({})).toMatchObject({ success: true });
    expect(performance.now() - started).toBeGreaterThanOrEqual(59);
  });
});

it('stops with its call, between attempts too', async () => {
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

it('is handled as its method and its author say', () => {
  world.declare({});
  expect(world.tools.get('crm').metadata).toEqual({
    effect: 'read',
    egress: false,
    untrusted: true,
    source: 'REST tool "crm"',
    timeoutMs: 30_000,
  });
  world.declare({ method: 'POST', approval: 'always', concurrency: 2, untrusted: false });
  expect(world.tools.get('crm').metadata).toMatchObject({
    effect: 'once',
    egress: true,
    untrusted: false,
    approval: 'always',
    concurrency: 2,
  });
});
