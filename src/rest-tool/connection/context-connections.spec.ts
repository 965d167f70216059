import { describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { RestWorld } from '../../../test/support/rest-world.js';
import { contextIdOf } from '../../tool-state/index.js';

Logger.overrideLogger(false);

const world = RestWorld.prepare();
const idOf = (session: string) => contextIdOf({ tenant: 't', session, tool: 'crm' });

async function cleanup(session: string): Promise<void> {
  await (await world.states.managerOf(world.tools.get('crm'))).cleanupContext(idOf(session));
}

/** Counts the open sockets and timers of this process. */
function handles(): { sockets: number; timers: number } {
  const all = process.getActiveResourcesInfo();
  const count = (name: string) => all.filter((one) => one === name).length;
  return { sockets: count('TCPSocketWrap'), timers: count('Timeout') };
}

describe('the connections of a context', () => {
  it('leave no socket open after 1,000 contexts', async () => {
    world.server.json('/crm', { fine: true });
    world.declare({ stateful: true });
    const before = handles();
    const made = world.server.connections;
    const sessions = Array.from({ length: 1000 }, (_, index) => `s${index}`);
    for (let at = 0; at < sessions.length; at += 100) {
      const some = sessions.slice(at, at + 100);
      const results = await Promise.all(some.map((session) => world.callIn(session)));
      expect(results.filter(({ success }) => !success)).toEqual([]);
      // Each context holds its connection until it is cleaned up.
      expect([world.server.open, world.connections.size]).toEqual([100, 100]);
      await Promise.all(some.map(cleanup));
      await world.server.waitForClosed();
    }
    expect(world.server.connections - made).toBe(1000);
    expect([world.server.open, world.connections.size]).toEqual([0, 0]);
    const after = handles();
    expect(after.sockets).toBe(before.sockets);
    // The test itself uses a few timers; a context uses none.
    expect(after.timers - before.timers).toBeLessThan(10);
  });

  it('are closed with a context that is cleaned up during a call, and fail that call', async () => {
    world.server.on('/crm', () => undefined);
    world.declare({ stateful: true });
    const call = world.callIn('s');
    await world.server.waitForRequests(1);
    await cleanup('s');
    expect(await call).toMatchObject({
      success: false,
      error: 'The tool session was closed during the call, together with its connections.',
    });
    await world.server.waitForClosed();
  });

  it('are closed with the application, and cannot be opened after that', async () => {
    world.server.json('/crm', {});
    world.declare({ stateful: true });
    await world.callIn('s');
    await world.connections.onApplicationShutdown();
    await world.server.waitForClosed();
    expect(await world.callIn('s')).toMatchObject({ success: false, error: expect.stringContaining('shutting down') });
  });

  it('are replaced when the tool is declared again', async () => {
    world.server.json('/crm', {});
    for (const poolSize of [1, 2]) {
      world.declare({ stateful: true, connection: { poolSize } });
      await world.callIn('s');
    }
    expect([world.connections.size, world.server.open]).toEqual([1, 1]);
  });
});
