import { describe, expect, it } from 'vitest';
import { RestWorld } from '../../../test/support/rest-world.js';
import type { RestToolDeclaration } from '../rest-tool.types.js';

const world = RestWorld.prepare();
const token = (header: string, more: object = {}) => ({ capture: { t: { from: '/t', header, ...more } } });

describe('the declaration of a connection', () => {
  it.each([
    [{ stateful: undefined, connection: {} }, 'it has a connection but no state: add `"stateful": true`'],
    [{ stateful: false, connection: {} }, 'it has a connection but no state'],
    [{ stateful: { initial: {} } }, 'its stateful.initial has no effect: a REST tool stores a connection and has no'],
    [{ stateful: { maxVersions: 3 } }, 'its stateful.maxVersions has no effect'],
    [{ stateful: { managers: 'x' } }, 'its stateful has an unknown option managers'],
    [{ stateful: 'yes' }, 'its stateful is neither true, false nor an object'],
    [{ connection: { poolsize: 1 } }, 'unrecognized key: "poolsize"'],
    [{ connection: { poolSize: 0 } }, 'its connection.poolSize: '],
    [{ connection: { poolSize: 1.5 } }, 'its connection.poolSize: '],
    [{ connection: { maxOverflow: -1 } }, 'its connection.maxOverflow: '],
    [{ connection: { readTimeoutMs: 2 ** 31 } }, 'its connection.readTimeoutMs: '],
    [{ connection: { keepAliveIntervalMs: 1500 } }, 'its connection.keepAliveIntervalMs: must be whole seconds'],
    [{ connection: { retry: { attempts: 0 } } }, 'its connection.retry.attempts: '],
    [{ connection: { retry: { backoff: 0.5 } } }, 'its connection.retry.backoff: '],
    [{ connection: { keepAlive: false, keepAliveTimeoutMs: 5 } }, 'its connection.keepAliveTimeoutMs has no effect'],
    [{ connection: { keepAlive: false, keepAliveIntervalMs: 1000 } }, 'connection.keepAliveIntervalMs has no effect'],
    [{ connection: { keepAlive: false, poolRecycleMs: 5 } }, 'its connection.poolRecycleMs has no effect'],
    [{ connection: { retry: { attempts: 1, jitter: true } } }, 'its connection.retry has attempts 1, so its'],
    [{ retries: 1, connection: { retry: {} } }, 'it has retries and connection.retry: use one of them'],
    [{ timeoutMs: 5, connection: { timeoutMs: 5 } }, 'it has timeoutMs and connection.timeoutMs, which are the same'],
    [{ method: 'POST', connection: { retry: {} } }, 'it has a connection.retry, but calls with the effect "once"'],
    [{ connection: token('x y') }, 'its connection.capture.t names the header "x y", which is not a valid header name'],
    [{ connection: token('Cookie') }, 'its connection.capture.t names the header "cookie", which a tool cannot set'],
    [{ connection: token('Idempotency-Key') }, 'names the header "idempotency-key", which a tool cannot set'],
    [{ connection: token('x-t'), headers: { 'X-T': '1' } }, 'names the header "x-t", which is already set elsewhere'],
    [
      { connection: token('authorization'), auth: { type: 'bearer', token: 'CRM_TOKEN' } },
      'names the header "authorization", which is already set elsewhere',
    ],
    [
      { connection: token('x-t', { prefix: 'ü' }) },
      'its connection.capture.t has a prefix that a header cannot contain',
    ],
    [{ connection: token('x-t', { from: 't' }) }, '"t" is not a JSON pointer'],
    [{ cacheTtlMs: 5 }, 'it has a cacheTtlMs and keeps state'],
  ])('%j is refused', (more, fault) => {
    expect(() => world.declare({ stateful: true, ...more } as unknown as RestToolDeclaration)).toThrow(fault);
    expect(world.tools.list()).toEqual([]);
  });
});

it('a connection also applies to an operation of an OpenAPI document', async () => {
  const document = {
    openapi: '3.1.0',
    info: { title: 'Shop', version: '1' },
    servers: [{ url: world.server.url }],
    paths: { '/crm': { get: { operationId: 'crm', summary: 'Asks the CRM.' } } },
  };
  const operation = { operationId: 'crm', stateful: true, connection: { poolSize: 1 } };
  await world.registry.importOpenApi({ document, operations: [operation] });
  world.server.on('/crm', (_request, reply) => void reply.writeHead(204, { 'set-cookie': 'a=1' }).end());
  await world.callIn('s');
  await world.callIn('s');
  expect(world.server.requests.map(({ headers }) => headers.cookie ?? null)).toEqual([null, 'a=1']);
});
