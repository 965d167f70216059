import { afterEach, describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { readFileSync } from 'node:fs';
import { RestWorld } from '../../../test/support/rest-world.js';
import { SilentServer } from '../../../test/support/silent-server.js';
import type { RestConnection } from '../rest-tool.types.js';

Logger.overrideLogger(false);

const world = RestWorld.prepare();
let silent: SilentServer | undefined;
afterEach(async () => {
  await silent?.close();
  silent = undefined;
});

const declare = (connection: RestConnection, more: object = {}) =>
  world.declare({ stateful: true, retries: 0, connection, ...more });
const json = () => world.server.json('/crm', {});
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Returns a function that counts the connections opened since this call. */
function counting(): () => number {
  const before = world.server.connections;
  return () => world.server.connections - before;
}

/** Holds all replies. @returns functions that send them, in order of the requests */
function held() {
  const waiting: (() => void)[] = [];
  world.server.on('/crm', (_request, reply) => void waiting.push(() => void reply.writeHead(204).end()));
  return waiting;
}

async function elapsed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

describe('connections of a session', () => {
  it('poolSize limits the connections; further calls wait', async () => {
    const waiting = held();
    const opened = counting();
    declare({ poolSize: 2, maxOverflow: 0 });
    const calls = Array.from({ length: 5 }, () => world.callIn('s'));
    await world.server.waitForRequests(2);
    await pause(50);
    expect(waiting).toHaveLength(2);
    for (let done = 0; done < 5; done++) {
      await world.server.waitForRequests(Math.min(5, 2 + done));
      waiting[done]!();
    }
    expect(await Promise.all(calls)).toMatchObject(Array.from({ length: 5 }, () => ({ success: true })));
    expect(opened()).toBe(2);
  });

  it('maxOverflow adds connections beyond poolSize, which close after their call', async () => {
    const waiting = held();
    const opened = counting();
    declare({ poolSize: 1, maxOverflow: 2 });
    const calls = Array.from({ length: 4 }, () => world.callIn('s'));
    await world.server.waitForRequests(3);
    expect(opened()).toBe(3);
    // The fourth call waits for a connection, and another session has its own.
    const other = world.callIn('other');
    await world.server.waitForRequests(4);
    waiting.pop()!();
    expect(await other).toMatchObject({ success: true });
    for (const reply of waiting.splice(0)) reply();
    await world.server.waitForRequests(5);
    waiting[0]!();
    expect(await Promise.all(calls)).toMatchObject(Array.from({ length: 4 }, () => ({ success: true })));
    const kept = world.server.requests.map(({ headers }) => headers.connection);
    expect(kept.filter((header) => header === 'close').length).toBeGreaterThanOrEqual(2);
    json();
    const before = counting();
    await world.callIn('s');
    expect(before()).toBe(0);
  });

  it('poolTimeoutMs limits the wait for a connection', async () => {
    const waiting = held();
    declare({ poolSize: 1, maxOverflow: 0, poolTimeoutMs: 60 });
    const first = world.callIn('s');
    await world.server.waitForRequests(1);
    const late = await world.callIn('s');
    expect(late).toMatchObject({ error: 'No connection of this session became free within 60 ms.' });
    waiting[0]!();
    await first;
    expect(world.server.requests).toHaveLength(1);
  });

  it('poolRecycleMs replaces a connection of this age', async () => {
    json();
    const opened = counting();
    declare({ poolSize: 1, poolRecycleMs: 1000 });
    await world.callIn('s');
    await world.callIn('s');
    expect(opened()).toBe(1);
    await pause(1100);
    await world.callIn('s');
    expect(opened()).toBe(2);
  });

  it('keepAlive decides whether the next call reuses a connection', async () => {
    json();
    let opened = counting();
    declare({ poolSize: 1 });
    for (let count = 0; count < 3; count++) await world.callIn('s');
    expect([opened(), world.server.requests.map(({ headers }) => headers.connection)]).toEqual([
      1,
      ['keep-alive', 'keep-alive', 'keep-alive'],
    ]);
    opened = counting();
    declare({ keepAlive: false });
    for (let count = 0; count < 3; count++) await world.callIn('s');
    expect([opened(), world.server.requests.at(-1)!.headers.connection]).toEqual([3, 'close']);
    await world.server.waitForClosed();
    expect(world.connections.size).toBe(0);
  });

  it('keepAliveTimeoutMs closes an idle connection', async () => {
    json();
    declare({ keepAliveTimeoutMs: 1500 });
    await world.callIn('s');
    expect([world.server.open, world.connections.size]).toEqual([1, 1]);
    // The default is 30 s.
    expect(await elapsed(() => world.server.waitForClosed())).toBeLessThan(20_000);
    expect(world.connections.size).toBe(0);
  });

  it('keepAliveIntervalMs sets the interval of TCP probes', async () => {
    json();
    declare({ keepAliveIntervalMs: 7000 });
    await world.callIn('s');
    const at = keepAliveTimer(world.server.port);
    expect(at).toBeGreaterThan(5000);
    expect(at).toBeLessThanOrEqual(7000);
  });

  it('connectTimeoutMs limits the connecting', async () => {
    silent = await SilentServer.start();
    await world.allow(silent.place);
    world.reset();
    declare({ connectTimeoutMs: 80 }, { url: `https://${silent.place}/crm` });
    const took = await elapsed(async () => {
      expect(await world.callIn('s')).toMatchObject({ error: expect.stringContaining('the connection took too long') });
    });
    // The default is 10 s.
    expect(took).toBeLessThan(9_000);
    await world.allow();
  });

  it.each([
    ['before a reply', ''],
    ['in the middle of one', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab'],
  ])('readTimeoutMs closes a connection that is silent %s', async (_when, said) => {
    silent = await SilentServer.start(said);
    await world.allow(silent.place);
    world.reset();
    declare({ readTimeoutMs: 80 }, { url: `http://${silent.place}/crm` });
    expect(await world.callIn('s')).toMatchObject({
      error: `${silent.place} sent nothing within the read time-out.`,
    });
    await silent.waitForClosed();
    await world.allow();
  });

  it('writeTimeoutMs closes a connection that accepts no data', async () => {
    silent = await SilentServer.start('', true);
    await world.allow(silent.place);
    world.reset();
    const parameters = { type: 'object', properties: { text: { type: 'string' } } };
    declare({ writeTimeoutMs: 150 }, { url: `http://${silent.place}/crm`, method: 'POST', parameters });
    expect(await world.callIn('s', { text: 'x'.repeat(32 * 1024 * 1024) })).toMatchObject({
      error: `127.0.0.1 accepted no part of the request within 150 ms.`,
    });
    await silent.close();
    await world.allow();
  });

  it('timeoutMs limits all attempts of a call together', async () => {
    world.server.on('/crm', () => undefined);
    world.declare({ stateful: true, connection: { timeoutMs: 60, retry: { attempts: 5, delayMs: 1 } } });
    expect(await world.callIn('s')).toMatchObject({ error: 'The tool did not finish within 60 ms.' });
  });
});

describe('retries of a call of a session', () => {
  const failing = () => world.server.on('/crm', (_request, reply) => void reply.writeHead(503).end());
  const retry = (more: RestConnection['retry']) =>
    world.declare({ stateful: true, connection: { retry: { delayMs: 1, ...more } } });
  const gaps = async () => {
    const times: number[] = [];
    world.server.on('/crm', (_request, reply) => {
      times.push(performance.now());
      reply.writeHead(503).end();
    });
    await world.callIn('s');
    return times.slice(1).map((time, index) => time - times[index]!);
  };

  it.each([
    [{}, 3],
    [{ attempts: 1, delayMs: undefined }, 1],
    [{ attempts: 5 }, 5],
  ] as const)('retry.attempts: with %j, the server receives %i requests', async (more, times) => {
    failing();
    const { delayMs = 1, ...rest } = { ...more } as { attempts?: number; delayMs?: number };
    if ('attempts' in more && more.attempts === 1)
      world.declare({ stateful: true, connection: { retry: { attempts: 1 } } });
    else retry({ delayMs, ...rest });
    await world.callIn('s');
    expect(world.server.requests).toHaveLength(times);
  });

  it('retry.delayMs is the first delay, and retry.backoff multiplies it', async () => {
    retry({ attempts: 4, delayMs: 40, backoff: 3, jitter: false });
    const [first, second, third] = await gaps();
    expect(first).toBeGreaterThanOrEqual(39);
    expect(first).toBeLessThan(110);
    expect(second).toBeGreaterThanOrEqual(119);
    expect(second).toBeLessThan(330);
    expect(third).toBeGreaterThanOrEqual(359);
  });

  it('retry.jitter waits a random part of the delay', async () => {
    retry({ attempts: 9, delayMs: 60, backoff: 1 });
    const some = await gaps();
    expect(some.some((gap) => gap < 45)).toBe(true);
    expect(Math.max(...some) - Math.min(...some)).toBeGreaterThan(5);
  });

  it('do not repeat a call that must not be repeated', async () => {
    failing();
    world.declare({ method: 'POST', stateful: true, connection: {} });
    await world.callIn('s');
    expect(world.server.requests).toHaveLength(1);
  });
});

/** Reads the keep-alive timer of the connection to a port, in ms; -1 without one. See proc(5), /proc/net/tcp. */
function keepAliveTimer(port: number): number {
  const remote = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((row) => row.trim().split(/\s+/));
  const [kind, inTicks] = rows.find((row) => row[2] === remote && row[3] === '01')![5]!.split(':');
  return kind === '02' ? Number.parseInt(inTicks!, 16) * 10 : -1;
}
