import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { loadConfig } from '../src/config/index.js';
import type { NotificationChannel } from '../src/persistence/index.js';
import { openPersistence } from '../src/persistence/shared-persistence.registry.js';
import type { OpenPersistence } from '../src/persistence/persistence.types.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { describePgbouncer, type Pgbouncer } from './support/pgbouncer.js';
import { buildIfStale, ServerProcess } from './support/process.js';

Logger.overrideLogger(false);
/** The level of warnings in the log. */
const WARNING = 40;
const SETTINGS = `SELECT current_setting('search_path') AS path, current_setting('default_transaction_isolation') AS isolation,
  current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock,
  current_setting('idle_in_transaction_session_timeout') AS idle`;

const opened: OpenPersistence[] = [];
const poolers: Pgbouncer[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
  await Promise.all(poolers.splice(0).map((one) => one.stop()));
});

async function open(url: string): Promise<OpenPersistence> {
  const { config } = loadConfig({ env: { DATABASE_URL: url } });
  const one = await openPersistence(config.database, { entities: [], migrations: [] });
  opened.push(one);
  return one;
}

function withOptions(url: string): string {
  const changed = new URL(url);
  changed.searchParams.set('options', '-c work_mem=8MB');
  return changed.href;
}

await describePgbouncer('pgbouncer', (database, start) => {
  beforeAll(() => buildIfStale());

  describe('in session mode, with its default settings', () => {
    let pooler: Pgbouncer;
    beforeAll(async () => {
      pooler = await start('session');
    });
    afterAll(() => pooler.stop());

    describe('before two processes', () => {
      let llm: FakeLlm;
      let nodes: Jackdaw[];
      beforeAll(async () => {
        llm = (await FakeLlm.start()).always({ text: 'hello' });
        const env = {
          DATABASE_URL: pooler.through(database().url),
          // The other tests open the same database without the migrations of the application.
          DATABASE_SCHEMA: 'nodes',
          DATABASE_POOL_SIZE: '4',
          LOG_LEVEL: 'warn',
          OPENAI_API_KEY: 'long-enough-to-be-masked',
        };
        nodes = [await startJackdaw({ llm, env }), await startJackdaw({ llm, env })];
      });
      afterAll(async () => {
        await Promise.all(nodes.map((node) => node.stop()));
        await llm.close();
      });

      it('serves chats, and runs of the queue that the other process follows', async () => {
        const [here, there] = nodes as [Jackdaw, Jackdaw];
        const chat = await here.chat({ query: 'hi' });
        expect([chat.status, chat.body['result']]).toEqual([200, 'hello']);
        const { status, body } = await here.post('/api/agent/runs', { query: 'hi' });
        expect(status).toBe(202);
        const events = await there.events(String(body['run_id']));
        expect(events.at(-1)).toMatchObject({ event: 'run.completed' });
        const warnings = nodes.flatMap(({ log }) => log.filter(({ level }) => Number(level) >= WARNING));
        expect(warnings.map(({ msg }) => msg)).toEqual([]);
      });
    });

    it('delivers notifications', async () => {
      const url = pooler.through(database().url);
      const [here, there] = [await open(url), await open(url)];
      const { promise, resolve } = Promise.withResolvers<string>();
      await (there.notifications as NotificationChannel).listen('runs', resolve);
      here.notifications!.notify('runs', 'started');
      expect(await promise).toBe('started');
    });

    it('has the parameters of a direct connection', async () => {
      const [through, direct] = [await open(pooler.through(database().url)), await open(database().url)];
      const settings = await through.database.query(SETTINGS);
      expect(settings).toEqual(await direct.database.query(SETTINGS));
      expect(settings).toEqual([
        { path: '"public"', isolation: 'read committed', statement: '4500ms', lock: '4500ms', idle: '30s' },
      ]);
    });

    it('refuses options of the URL, and the start names them', async () => {
      await expect(open(withOptions(pooler.through(database().url)))).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        message: expect.stringContaining('its pooler refuses the parameter options: remove it from DATABASE_URL'),
      });
    });
  });

  it('that drops options of the URL stops the start', async () => {
    const pooler = await start('session', { ignore_startup_parameters: 'options' });
    poolers.push(pooler);
    await open(pooler.through(database().url));
    await expect(open(withOptions(pooler.through(database().url)))).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('its pooler drops options of DATABASE_URL (work_mem)'),
    });
  });

  it('without a free connection stops the start with the remedy', async () => {
    const pooler = await start('session', { default_pool_size: '1', query_wait_timeout: '1' });
    poolers.push(pooler);
    await expect(open(pooler.through(database().url))).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('raise default_pool_size'),
    });
  });

  describe.each(['transaction', 'statement'] as const)('in %s mode', (mode) => {
    it.each([
      ['by default', {}],
      ['with one connection to the server', { default_pool_size: '1' }],
      ['with connections that take turns', { server_round_robin: '1', min_pool_size: '3' }],
      ['with ignored parameters', { ignore_startup_parameters: 'options,statement_timeout,extra_float_digits' }],
    ])('stops the start with the mode and the remedy, %s', async (_case, settings) => {
      const pooler = await start(mode, settings);
      poolers.push(pooler);
      const url = pooler.through(database().url);
      await expect(open(url)).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        message: `The PostgreSQL database ${new URL(url).host}${new URL(url).pathname} cannot be opened: its pooler (pgbouncer) runs in ${mode} mode, which changes the session of a client between its statements: set pool_mode=session there, or connect to PostgreSQL directly.`,
      });
    });

    it('is reported by the server in one line, with exit code 1', async () => {
      const pooler = await start(mode);
      poolers.push(pooler);
      const server = ServerProcess.start('dist/main.js', {
        DATABASE_URL: pooler.through(database().url),
        LLM_PROVIDER: 'offline',
        LOG_LEVEL: 'info',
        PORT: '0',
      });
      expect(await server.ended).toMatchObject({ code: 1 });
      expect(server.output.trim().split('\n')).toEqual([expect.stringContaining(`runs in ${mode} mode`)]);
    });
  });
});
