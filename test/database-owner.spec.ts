import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { Controller, type LoggerService, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { execFile } from 'node:child_process';
import { existsSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import {
  type Agent,
  AgentService,
  createAgent,
  type CreateAgentOptions,
  HttpExceptionFilter,
  JackdawModule,
  type RunNotice,
} from '../src/index.js';
import { AgentHost } from './support/agent-host.js';
import { newFolder } from './support/jackdaw.js';
import { buildIfStale, killAll, program, ServerProcess } from './support/process.js';
import { says, ScriptedChatModel } from './support/scripted-chat-model.js';

const host = new AgentHost();
beforeAll(() => buildIfStale());
afterEach(async () => {
  await killAll();
  await host.stop();
});

type Env = Readonly<Record<string, string>>;

const LOCKED = { code: 'DATABASE_LOCKED' };

/** Another process that owns the database of a folder. */
async function startOwner(folder: string, args: readonly string[] = [], env: Env = {}): Promise<ServerProcess> {
  const owner = ServerProcess.start(program('file-owner'), env, [folder, ...args]);
  await owner.waitForLine('ready');
  return owner;
}

/** A log that collects its warnings. */
function warningLog() {
  const warnings: string[] = [];
  const ignore = () => undefined;
  const log: LoggerService = {
    log: ignore,
    error: ignore,
    warn: (message: unknown, context: unknown) => {
      if (context === 'Database') warnings.push(String(message));
    },
  };
  return { warnings, log };
}

describe('an application on the SQLite file of another process', () => {
  it('starts; its calls fail with DATABASE_LOCKED until the other process ends, and it logs that once', async () => {
    const env = host.environment();
    const owner = await startOwner(env.DATA_DIR);
    const { warnings, log } = warningLog();
    const agent = await host.start({ config: env, logger: log }, [says('Mine.')]);
    const file = join(realpathSync(env.DATA_DIR), 'jackdaw.db');
    const message = new RegExp(`The database ${file} belongs to another running Jackdaw.* set JACKDAW_DATABASE_URL to`);
    const reason = { ...LOCKED, details: { retry_after_ms: 1000 }, message: expect.stringMatching(message) };
    for (const result of await Promise.allSettled([agent.chat('x'), agent.sessions.list(), agent.chat('y')])) {
      expect(result).toMatchObject({ status: 'rejected', reason });
    }
    expect(warnings).toEqual([expect.stringContaining('calls of Jackdaw fail with DATABASE_LOCKED')]);
    await owner.kill('SIGTERM');
    expect((await agent.chat('x')).content).toBe('Mine.');
  });

  it('lets a call wait for the end of the other process', async () => {
    const env = host.environment();
    const owner = await startOwner(env.DATA_DIR);
    const agent = await host.start({ config: env }, [says('Mine.')]);
    const answer = agent.chat('x');
    await owner.kill('SIGTERM');
    expect((await answer).content).toBe('Mine.');
  });

  it('resumes the runs of the other process after its end, without a call', async () => {
    const env = host.environment();
    const owner = await startOwner(env.DATA_DIR, ['run']);
    const completed = Promise.withResolvers<void>();
    const telemetry = ({ event }: RunNotice) => {
      if (event.type === 'run.completed') completed.resolve();
    };
    await host.start({ config: env, telemetry }, [says('Resumed.')]);
    await owner.kill('SIGKILL');
    await expect(completed.promise).resolves.toBeUndefined();
  });

  it('does not start with requireStore', async () => {
    const env = host.environment();
    await startOwner(env.DATA_DIR);
    await expect(host.start({ config: env, requireStore: true })).rejects.toMatchObject(LOCKED);
  });

  it('closes while the other process still runs', async () => {
    const env = host.environment();
    const owner = await startOwner(env.DATA_DIR);
    const agent = await host.start({ config: env });
    await agent.close();
    await owner.kill('SIGTERM');
    expect((await (await host.start({ config: env }, [says('Mine.')])).chat('x')).content).toBe('Mine.');
  });

  it('closes while calls wait for the other process: they no longer wait', async () => {
    const env = host.environment();
    await startOwner(env.DATA_DIR);
    const agent = await host.start({ config: env });
    // The longest wait of a call never passes: only the close can end it.
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    try {
      const calls = Promise.allSettled([agent.chat('x'), agent.sessions.list()]);
      await Promise.all([agent.close(), agent.close()]);
      const rejected = { status: 'rejected', reason: LOCKED };
      expect(await calls).toMatchObject([rejected, rejected]);
    } finally {
      clock.mockRestore();
    }
  });

  it('fails to start an agent that waits for an MCP server', async () => {
    const env = host.environment();
    await startOwner(env.DATA_DIR);
    const stdio = { command: process.execPath, args: [resolve('test/support/mcp/scripted-server.mjs')] };
    const mcpServers = [{ name: 'local', enabled: true, type: 'stdio' as const, stdio }];
    const started = host.start({ config: env, mcpServers, mcp: { enabled: true, name: 'local' } });
    await expect(started).rejects.toMatchObject(LOCKED);
  });

  it('checks its encryption keys when it becomes the owner: with a missing key its calls fail', async () => {
    const env = host.environment();
    const keyOf = (name: string, byte: number) => `${name}:${Buffer.alloc(32, byte).toString('base64')}`;
    const first = await host.start({ config: { ...env, ENCRYPTION_KEYS: keyOf('k1', 1) } }, [says('Secret.')]);
    await first.chat('x');
    await first.close();
    const owner = await startOwner(env.DATA_DIR, [], { JACKDAW_ENCRYPTION_KEYS: keyOf('k1', 1) });
    const agent = await host.start({ config: { ...env, ENCRYPTION_KEYS: keyOf('k2', 2) } }, [says('No.')]);
    await owner.kill('SIGTERM');
    await expect(agent.chat('x')).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });

  it('answers 503 with Retry-After over HTTP', async () => {
    const env = host.environment();
    const owner = await startOwner(env.DATA_DIR);

    @Controller()
    class ShopController {
      constructor(private readonly agents: AgentService) {}

      @Post('ask')
      async ask(): Promise<unknown> {
        const ann = { id: 'ann', tenant: 'default', roles: ['user' as const] };
        return (await this.agents.chat(ann, { query: 'x' })).result;
      }
    }

    @Module({
      imports: [JackdawModule.forRoot({ config: env, chatModel: new ScriptedChatModel([says('Mine.')]) })],
      controllers: [ShopController],
    })
    class ShopModule {}

    const app = await NestFactory.create<NestFastifyApplication>(ShopModule, new FastifyAdapter(), { logger: false });
    app.useGlobalFilters(new HttpExceptionFilter());
    await app.listen(0, '127.0.0.1');
    const ask = async () => fetch(`${await app.getUrl()}/ask`, { method: 'POST' });
    const refused = await ask();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await refused.json()).toMatchObject(LOCKED);
    await owner.kill('SIGTERM');
    expect(await (await ask()).text()).toBe('Mine.');
    await app.close();
  });
});

describe('a server on the SQLite file of another process', () => {
  const serve = (dataDir: string, shutdownMs: number) =>
    ServerProcess.start('dist/main.js', {
      DATA_DIR: dataDir,
      LLM_PROVIDER: 'offline',
      LOG_LEVEL: 'info',
      PORT: '0',
      SHUTDOWN_TIMEOUT_MS: String(shutdownMs),
    });
  const WAITING = /Waiting for the database \/.*jackdaw\.db/;

  it('logs that it waits, and starts when the other process has ended', async () => {
    const { DATA_DIR } = host.environment();
    const owner = await startOwner(DATA_DIR);
    const server = serve(DATA_DIR, 9_000);
    await server.waitForOutput(WAITING);
    await owner.kill('SIGTERM');
    await server.waitForOutput(/Jackdaw serves/);
    expect(server.output.match(new RegExp(WAITING, 'g'))).toHaveLength(1);
    expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  });

  it('fails after the shutdown time, with an error that names the file and DATABASE_URL', async () => {
    const { DATA_DIR } = host.environment();
    await startOwner(DATA_DIR);
    const server = serve(DATA_DIR, 0);
    expect(await server.ended).toEqual({ code: 78, signal: null });
    expect(server.output).toMatch(WAITING);
    expect(server.stderr).toMatch(
      new RegExp(`The database ${join(realpathSync(DATA_DIR), 'jackdaw.db')} belongs to .* set DATABASE_URL to`),
    );
  });
});

describe('the store of an application under NODE_ENV=test without a database setting', () => {
  const open = (options: CreateAgentOptions = {}): Promise<Agent> =>
    createAgent({ config: { LLM_PROVIDER: 'offline' }, ...options });

  it('is in memory, and each application has its own, also with the same options', async () => {
    expect(process.env['NODE_ENV']).toBe('test');
    const chatModel = new ScriptedChatModel([says('One.')]);
    const [one, other] = [await open({ chatModel }), await open({ chatModel })];
    const isThere = existsSync('.jackdaw');
    await one.chat('x');
    expect([await one.sessions.list(), await other.sessions.list()]).toMatchObject([[{}], []]);
    await Promise.all([one.close(), other.close()]);
    expect(existsSync('.jackdaw')).toBe(isThere);
  });

  it('is that of a setting, if there is one', async () => {
    const env = host.environment();
    await (await host.start({ config: env }, [says('Stored.')])).chat('x');
    expect(existsSync(join(env.DATA_DIR, 'jackdaw.db'))).toBe(true);
  });

  it('lets two workers of Jest run at once', async () => {
    const folder = newFolder();
    const index = resolve('dist/index.js');
    const spec = `import { createAgent } from ${JSON.stringify(index)};
      import { writeFileSync, existsSync } from 'node:fs';
      it('chats while the other worker does', async () => {
        const agent = await createAgent({ config: { LLM_PROVIDER: 'offline' }, requireStore: true });
        expect((await agent.chat('What is 6*7?')).content).toMatch(/offline/);
        writeFileSync(process.env.JEST_WORKER_ID, '');
        while (!existsSync('1') || !existsSync('2')) await new Promise(setImmediate);
        await agent.close();
      });`;
    for (const name of ['a', 'b']) writeFileSync(join(folder, `${name}.spec.mjs`), spec);
    writeFileSync(
      join(folder, 'package.json'),
      JSON.stringify({
        jest: { testMatch: ['**/*.spec.mjs'], transform: {}, testEnvironment: 'node', testTimeout: 120_000 },
      }),
    );
    const args = [
      '--experimental-vm-modules',
      resolve('node_modules/jest/bin/jest.js'),
      '--maxWorkers=2',
      '--watchman=false',
    ];
    await promisify(execFile)(process.execPath, args, { cwd: folder, env: { PATH: process.env['PATH'] } });
    expect(existsSync(join(folder, '.jackdaw'))).toBe(false);
    rmSync(folder, { recursive: true });
  });
});
