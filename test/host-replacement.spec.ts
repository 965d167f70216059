import { afterEach, describe, expect, it } from 'vitest';
import { type INestApplication, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { AgentService, JackdawModule, Tool } from '../src/index.js';
import { AgentHost } from './support/agent-host.js';
import { freePort } from './support/free-port.js';
import { describeDatabases, testServers } from './support/test-databases.js';

const ANN = { id: 'ann', tenant: 'default', roles: ['user'] };
const LOCALHOST = '127.0.0.1';
const servers = (await testServers()).filter(({ kind }) => kind !== 'sqlite');
const host = new AgentHost();
const started = new Set<INestApplication>();

afterEach(async () => {
  await Promise.all([...started].map((app) => app.close()));
  started.clear();
  await host.stop();
});

/** An application whose tool ends only in the second version. */
async function start(version: 'first' | 'second', port: number, config: Readonly<Record<string, string>>) {
  const called = Promise.withResolvers<void>();
  @Injectable()
  class Tools {
    @Tool({ description: 'Opens.', effect: 'read' })
    open(): Promise<string> | string {
      called.resolve();
      return version === 'second' ? version : new Promise(() => undefined);
    }
  }
  @Module({ imports: [JackdawModule.forRoot({ config, builtinTools: false })], providers: [Tools] })
  class AppModule {}
  const app = await NestFactory.create(AppModule, new ExpressAdapter(), { logger: false, abortOnError: false });
  started.add(app);
  await app.listen(port, LOCALHOST);
  return { app, agents: app.get(AgentService), called: called.promise };
}

/** @param environment of one database */
function itIsReplaced(environment: () => Readonly<Record<string, string>>): void {
  it.each([
    ['the same settings', {}],
    ['other settings of the database', { RUN_RETENTION_DAYS: '77' }],
  ])('gives its port, database and open run to a next one with %s', async (_title, changed) => {
    const config = { ...environment(), LLM_PROVIDER: 'offline', SHUTDOWN_TIMEOUT_MS: '300' };
    const port = await freePort();
    const first = await start('first', port, config);
    const { id } = await first.agents.submit(ANN, { query: 'call open' });
    await first.called;
    // As `module.hot.dispose(() => app.close())`, which is not awaited.
    const closed = first.app.close();
    const second = await start('second', port, { ...config, ...changed });
    await closed;
    const { result } = await second.agents.chat(ANN, { query: 'call open' });
    expect(result).toBe('second');
    expect(await second.agents.outcome(ANN, id)).toMatchObject({ result: 'second' });
  });
}

describe('an application of a process that closes while the next one starts', () => {
  describe('on SQLite', () => {
    itIsReplaced(() => host.environment());
  });
  describeDatabases('on a server', servers, (created) => {
    itIsReplaced(() => ({ ...host.environment(), DATABASE_URL: created().url }));
  });
});
