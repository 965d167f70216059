import { describe, expect, it, vi } from 'vitest';
import { Logger } from '@nestjs/common';
import { RestWorld } from '../../../test/support/rest-world.js';
import { WebServer } from '../../../test/support/web-server.js';
import { contextIdOf } from '../../tool-state/index.js';
import { HeldCookies } from './cookie-jar.factory.js';

Logger.overrideLogger(false);

const world = RestWorld.prepare();
/** Timers that stay real: only the clock is faked. */
const TIMERS = [
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'setImmediate',
  'nextTick',
  'queueMicrotask',
  'performance',
] as const;
const SESSION = 'a1b2c3d4e5f6';

/** Echoes the received cookies and sets new ones. */
function answer(path: string, ...lines: readonly string[]): void {
  world.server.on(path, (request, reply) => {
    reply.writeHead(200, { 'content-type': 'application/json', 'set-cookie': [...lines] });
    reply.end(JSON.stringify({ received: request.headers.cookie ?? null }));
  });
}

const cookiesAt = ({ requests }: WebServer) => requests.map(({ headers }) => headers.cookie ?? null);
const sent = () => cookiesAt(world.server);

describe('cookies of a tool with a state', () => {
  it('are sent with the next call of the session, and with no other call', async () => {
    answer('/crm', `sid=${SESSION}; HttpOnly`, 'lang=en');
    world.declare({ stateful: true });
    for (const session of ['one', 'one', 'other']) await world.callIn(session);
    await world.callIn('one', {}, { principal: { id: 'p', tenant: 'u', roles: [] } });
    await world.call({});
    expect(sent()).toEqual([null, `sid=${SESSION}; lang=en`, null, null, null]);
  });

  it('are in no visible result, error or state', async () => {
    answer('/crm', `sid=${SESSION}`);
    world.declare({ stateful: true });
    await world.callIn('s');
    const results = [await world.callIn('s')];
    world.server.on('/crm', (request, reply) => void reply.writeHead(403).end(`${request.headers.cookie} is too old`));
    results.push(await world.callIn('s'));
    expect(results).toMatchObject([
      { result: { received: 'sid=[redacted]' } },
      { error: expect.stringContaining('answered 403 Forbidden: sid=[redacted] is too old') },
    ]);
    const manager = await world.states.managerOf(world.tools.get('crm'));
    const id = contextIdOf({ tenant: 't', session: 's', tool: 'crm' });
    const shown = [await manager.getState(id, 'connection'), await manager.getHistory(id, 10)];
    expect(shown).toMatchObject([{ data: { session_active: true, error_count: 1 } }, expect.any(Array)]);
    expect(JSON.stringify(shown)).not.toContain(SESSION);
  });

  it('are stored from a failed call and from a redirect', async () => {
    world.server.on('/crm', (_request, reply, count) => {
      if (count === 1) reply.writeHead(403, { 'set-cookie': 'csrf=0123456789' }).end();
      else reply.writeHead(302, { location: '/home', 'set-cookie': `sid=${SESSION}; Path=/` }).end();
    });
    answer('/home');
    world.declare({ stateful: true });
    await world.callIn('s');
    await world.callIn('s');
    expect(sent()).toEqual([null, 'csrf=0123456789', `csrf=0123456789; sid=${SESSION}`]);
  });

  it('are deleted when the server expires them, and when their lifetime ends', async () => {
    world.server.on('/crm', (_request, reply, count) => {
      const lines = [['a=1; Max-Age=60', 'b=2; Max-Age=60', 'c=3'], ['b=; Max-Age=0']][count - 1];
      reply.writeHead(204, { 'set-cookie': lines ?? [] }).end();
    });
    world.declare({ stateful: true });
    for (let count = 0; count < 3; count++) await world.callIn('s');
    // Sending a cookie does not extend its lifetime.
    vi.useFakeTimers({ now: Date.now() + 59_000, toNotFake: [...TIMERS] });
    await world.callIn('s');
    vi.setSystemTime(Date.now() + 2000);
    await world.callIn('s');
    vi.useRealTimers();
    expect(sent()).toEqual([null, 'a=1; b=2; c=3', 'a=1; c=3', 'a=1; c=3', 'c=3']);
  });

  it('are not sent for a tool with cookies disabled', async () => {
    answer('/crm', `sid=${SESSION}`);
    world.declare({ stateful: true, connection: { cookies: false } });
    await world.callIn('s');
    await world.callIn('s');
    expect(sent()).toEqual([null, null]);
  });

  it('are not sent to another host that a call is redirected to', async () => {
    const other = await WebServer.start();
    await world.allow(other, `localhost:${other.port}`);
    world.reset();
    other.on('/', (_request, reply) => void reply.writeHead(204, { 'set-cookie': 'theirs=0123456789' }).end());
    world.server.on('/crm', (_request, reply) => {
      const location = `http://localhost:${other.port}/`;
      reply.writeHead(302, { location, 'set-cookie': `sid=${SESSION}; Path=/` }).end();
    });
    world.declare({ stateful: true });
    await world.callIn('s');
    await world.callIn('s');
    expect([sent(), cookiesAt(other)]).toEqual([
      [null, `sid=${SESSION}`],
      [null, 'theirs=0123456789'],
    ]);
    await other.close();
    await world.allow();
  });
});

describe('a cookie', () => {
  const taken = async (from: string, line: string) => {
    const cookies = await HeldCookies.of({});
    cookies.take(new URL(from), [line]);
    // The cookies as the next call restores them.
    return HeldCookies.of(cookies.changes());
  };

  it.each([
    ['https://a.example/x/y', 'k=v', 'https://a.example/x/z', true],
    ['https://a.example/x/y', 'k=v', 'https://a.example/z', false],
    ['https://a.example/x', 'k=v; Path=/', 'https://a.example/z', true],
    ['https://a.example/', 'k=v', 'https://b.example/', false],
    ['https://a.example/', 'k=v', 'https://sub.a.example/', false],
    ['https://a.example.com/', 'k=v; Domain=example.com', 'https://b.example.com/', true],
    ['https://a.example.com/', 'k=v; Domain=other.com', 'https://other.com/', false],
    ['https://a.example.com/', 'k=v; Domain=com', 'https://b.com/', false],
    ['https://a.example/', 'k=v; Secure', 'https://a.example/', true],
    ['https://a.example/', 'k=v; Secure', 'http://a.example/', false],
    ['http://127.0.0.1/', 'k=v; Secure', 'http://127.0.0.1/', false],
    ['http://localhost/', 'k=v; Secure', 'http://localhost/', false],
    ['https://a.example/', '__Host-k=v; Domain=a.example; Path=/; Secure', 'https://a.example/', false],
    ['https://a.example/', `k=${'v'.repeat(5000)}`, 'https://a.example/', false],
    ['https://a.example/', '=;;', 'https://a.example/', false],
  ])('from %s with %j is sent to %s: %j', async (from, line, to, isSent) => {
    const cookies = await taken(from, line);
    expect(cookies.headerFor(new URL(to)) !== undefined).toBe(isSent);
  });

  it('is one of at most fifty stored cookies', async () => {
    const cookies = await HeldCookies.of({});
    const from = new URL('https://a.example/');
    for (let n = 0; n < 60; n++) cookies.take(from, [`k${n}=v`]);
    expect(Object.keys(cookies.changes())).toHaveLength(50);
  });

  it('causes no state change while it is unchanged', async () => {
    const cookies = await taken('https://a.example/', 'k=v; Max-Age=60');
    expect(cookies.headerFor(new URL('https://a.example/'))).toBe('k=v');
    expect(cookies.changes()).toEqual({});
  });
});
