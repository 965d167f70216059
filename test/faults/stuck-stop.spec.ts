import { afterEach, beforeEach, expect, it } from 'vitest';
import { FaultProxy } from '../support/fault-proxy.js';
import { describeDatabases, testServers } from '../support/test-databases.js';
import { program, ServerProcess } from '../support/process.js';
import { ServedWorld } from './served-world.js';

const servers = (await testServers()).filter(({ kind }) => kind !== 'sqlite');

describeDatabases('a stop with a silent database', servers, (database, kind) => {
  const world = ServedWorld.prepare();
  let proxy: FaultProxy;
  beforeEach(async () => {
    proxy = await FaultProxy.start(new URL(database().url), kind === 'postgres' ? 5432 : 3306);
  });
  afterEach(() => proxy.close());

  it('ends within the time limit and two seconds, and names the database', async () => {
    const server = await world.start({ DATABASE_URL: proxy.through(database().url), SHUTDOWN_TIMEOUT_MS: '1000' });
    const chat = server.chat({ query: 'send 500' }).catch(() => undefined);
    await server.waitForLine('sending');
    proxy.become('silent');
    await new Promise((resolve) => setTimeout(resolve, 600));
    const { code } = await server.kill('SIGTERM');
    await chat;
    expect(code).toBe(1);
    expect(server.output).toMatch(/The stop did not finish within 3000 ms; it waited for/);
    expect(world.effects()).toEqual(['Oslo']);
  });

  it('ends in a host application, which may then end its process', async () => {
    const server = ServerProcess.start(program('hosted-app'), {
      DATABASE_URL: proxy.through(database().url),
      SHUTDOWN_TIMEOUT_MS: '1000',
    });
    await server.waitForLine('ready ');
    proxy.become('silent');
    const { code } = await server.kill('SIGUSR2');
    expect(Number(/^closed (\d+)$/m.exec(server.output)?.[1])).toBeLessThan(60_000);
    expect(code).toBe(0);
  });
});
