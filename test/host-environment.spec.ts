import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LoggerService } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAgent, JackdawModule, type CreateAgentOptions, type JackdawOptions } from '../src/index.js';
import { AppError } from '../src/errors/index.js';
import { createApp } from '../src/server/bootstrap.js';
import { newFolder } from './support/jackdaw.js';
import { ScriptedChatModel } from './support/scripted-chat-model.js';

/** A logger that stores warnings, except the one about a slow disk. */
class Warnings implements LoggerService {
  readonly lines: string[] = [];
  log(): void {}
  error(): void {}
  warn(message: unknown): void {
    if (!String(message).startsWith('The disk of')) this.lines.push(String(message));
  }
}

const KUBERNETES = {
  JACKDAW_SERVICE_HOST: '10.0.0.1',
  JACKDAW_SERVICE_PORT_HTTP: '3000',
  JACKDAW_PORT: 'tcp://10.0.0.1:3000',
  JACKDAW_PORT_3000_TCP_ADDR: '10.0.0.1',
};

describe('the environment of a host application', () => {
  const before = { ...process.env };
  const home = process.cwd();
  let folder: string;

  beforeEach(() => {
    folder = newFolder();
    process.chdir(folder);
    // Under `test` a host has a store in memory.
    process.env['NODE_ENV'] = 'development';
  });
  afterEach(() => {
    process.chdir(home);
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    process.env['NODE_ENV'] = before['NODE_ENV'];
    rmSync(folder, { recursive: true });
  });

  const set = (variables: Record<string, string>) => Object.assign(process.env, variables);

  async function start(options: CreateAgentOptions = {}): Promise<string[]> {
    const logger = new Warnings();
    const agent = await createAgent({ chatModel: new ScriptedChatModel([]), logger, ...options });
    await agent.close();
    return logger.lines;
  }

  async function failure(options?: CreateAgentOptions): Promise<readonly string[]> {
    const error = await start(options).catch((reason: unknown) => reason);
    if (!(error instanceof AppError) || error.code !== 'CONFIG_INVALID')
      throw new Error(`It started, or ${String(error)}`);
    return error.details?.['mistakes'] as string[];
  }

  describe('createAgent', () => {
    it('reads its own variables with the prefix, and ignores those of the host', async () => {
      set({ JACKDAW_DATA_DIR: 'own', DATA_DIR: 'host', DATABASE_URL: 'mongodb://host', API_KEYS: 'x', PORT: 'pipe' });
      await start();
      expect(readdirSync(folder)).toEqual(['own']);
      expect(existsSync('own/jackdaw.db')).toBe(true);
    });

    it('stores its data in .jackdaw by default', async () => {
      await start();
      expect(readdirSync(folder)).toEqual(['.jackdaw']);
    });

    it('warns once, without values, about names that had an effect without the prefix', async () => {
      set({ DATA_DIR: 'hunter2', REDIS_URL: 'redis://:hunter2@h', HTTP_PROXY: 'http://p', PORT: '3000', API_KEYS: '' });
      const lines = await start();
      expect(lines).toEqual([
        'DATA_DIR, REDIS_URL: without the prefix these names have no effect on Jackdaw in a host application; to set its variables, use JACKDAW_DATA_DIR, JACKDAW_REDIS_URL',
      ]);
      set({ JACKDAW_DATA_DIR: 'own' });
      expect((await start({ config: { REDIS_URL: '' } }))[0]).toMatch(/^REDIS_URL: /);
    });

    it('reads variables of models, providers and proxies without the prefix', async () => {
      set({ LLM_TEMPERATURE: '9', OPENAI_BASE_URL: 'x', HTTPS_PROXY: 'x' });
      const lines = await failure();
      expect(lines.map((line) => line.split(':')[0])).toEqual(['HTTPS_PROXY', 'OPENAI_BASE_URL', 'LLM_TEMPERATURE']);
    });

    it('names the variables that were set in errors and warnings', async () => {
      set({ JACKDAW_DATA_DIR: '~/PORT', JACKDAW_SESSION_STORE: 'redis', JACKDAW_REST_TOOLS: '~' });
      expect(await failure({ config: { RUN_CONCURRENCY: '0', JACKDAW_RUN_QUEUE_LIMIT: 'x' } })).toEqual([
        expect.stringMatching(/^JACKDAW_DATA_DIR: "~\/PORT" is not allowed/),
        expect.stringMatching(/^RUN_CONCURRENCY: "0"/),
        expect.stringMatching(/^JACKDAW_RUN_QUEUE_LIMIT: "x"/),
        expect.stringMatching(/^JACKDAW_REST_TOOLS: "~"/),
        expect.stringMatching(/^JACKDAW_SESSION_STORE: its value needs JACKDAW_REDIS_URL, or/),
      ]);
      set({
        JACKDAW_DATA_DIR: 'own',
        JACKDAW_SESSION_STORE: '',
        JACKDAW_REST_TOOLS: '',
        JACKDAW_CLUSTER_LEASE_MS: '900',
      });
      expect((await start())[0]).toMatch(/^JACKDAW_CLUSTER_LEASE_MS does nothing.*MariaDB with JACKDAW_REDIS_URL/);
    });

    it('names the variables in errors of the database', async () => {
      writeFileSync('taken', '');
      set({ JACKDAW_DATA_DIR: 'taken' });
      await expect(start()).rejects.toThrow(/set another JACKDAW_DATA_DIR/);
      await expect(start({ config: { DATA_DIR: 'taken' } })).rejects.toThrow(/set another DATA_DIR/);
      set({ JACKDAW_DATABASE_URL: 'postgres://reader@127.0.0.1:1/none' });
      await expect(start()).rejects.toThrow(/correct JACKDAW_DATABASE_URL/);
    });

    it('reads secrets of files that JACKDAW_…_FILE names', async () => {
      writeFileSync('keys', 'short');
      set({ JACKDAW_ENCRYPTION_KEYS_FILE: 'keys', ENCRYPTION_KEYS_FILE: 'missing' });
      expect(await failure()).toEqual([expect.stringMatching(/^JACKDAW_ENCRYPTION_KEYS: its value is not allowed/)]);
      set({ JACKDAW_ENCRYPTION_KEYS_FILE: 'missing' });
      expect((await failure())[0]).toMatch(/^JACKDAW_ENCRYPTION_KEYS_FILE: "missing" cannot be used/);
    });

    it('rejects unknown names with the prefix, and names the near one', async () => {
      set({ JACKDAW_DATADIR: 'hunter2', JACKDAW_LLM_MODEL: 'hunter2', JACKDAW_COLOUR: 'hunter2', JACKDAW_EMPTY: '' });
      expect(await failure({ config: { JACKDAW_RUN_CONCURENCY: '1' } })).toEqual([
        'JACKDAW_DATADIR is not a variable of Jackdaw: did you mean JACKDAW_DATA_DIR?',
        'JACKDAW_LLM_MODEL is not a variable of Jackdaw: did you mean LLM_MODEL?',
        'JACKDAW_COLOUR is not a variable of Jackdaw: remove it, or see docs/configuration.md',
        'JACKDAW_RUN_CONCURENCY is not a variable of Jackdaw: did you mean JACKDAW_RUN_CONCURRENCY?',
      ]);
    });

    it('ignores names of clients, of MCP server processes and of a Kubernetes service', async () => {
      set({ JACKDAW_URL: 'http://other', JACKDAW_DIR: '/opt/jackdaw', JACKDAW_MCP_CHILD: '1', ...KUBERNETES });
      expect(await start()).toEqual([]);
    });

    it('prefers variables given in code, with or without the prefix', async () => {
      set({ JACKDAW_DATA_DIR: 'environment', JACKDAW_ENCRYPTION_KEYS_FILE: 'missing' });
      await start({ config: { DATA_DIR: 'bare', ENCRYPTION_KEYS: '' } });
      await start({ config: { JACKDAW_DATA_DIR: 'prefixed', JACKDAW_ENCRYPTION_KEYS: '' } });
      expect(readdirSync(folder).toSorted()).toEqual(['bare', 'prefixed']);
    });

    it('reads .env, by the same names, and config/mcp-servers.json only with files: true', async () => {
      mkdirSync('config');
      writeFileSync('config/mcp-servers.json', '{ "servers": {} }');
      writeFileSync('.env', 'JACKDAW_RUN_CONCURRENCY=x\nRUN_QUEUE_LIMIT=x\n');
      expect(await start()).toEqual([]);
      expect(await failure({ files: true })).toEqual([
        expect.stringMatching(/^JACKDAW_RUN_CONCURRENCY: "x"/),
        expect.stringMatching(/^config\/mcp-servers\.json must be/),
      ]);
    });
  });

  describe('JackdawModule', () => {
    async function open(module: ReturnType<typeof JackdawModule.forRoot>): Promise<void> {
      const app = await NestFactory.createApplicationContext(module, { logger: false, abortOnError: false });
      await app.close();
    }
    const forRoot = async (options: JackdawOptions) => open(JackdawModule.forRoot(options));
    const forRootAsync = ({ config = {}, ...options }: JackdawOptions) =>
      open(JackdawModule.forRootAsync({ ...options, useFactory: () => ({ config }) }));

    it.each([
      ['forRoot', forRoot],
      ['forRootAsync', forRootAsync],
    ])(
      'reads folders of agents and workflows only with files: true, or if a variable names them (%s)',
      async (_name, boot) => {
        for (const kind of ['agents', 'workflows']) {
          mkdirSync(join('config', kind), { recursive: true });
          writeFileSync(join('config', kind, 'broken.json'), '{');
        }
        await boot({});
        expect(existsSync('.jackdaw/jackdaw.db')).toBe(true);
        await expect(boot({ files: true })).rejects.toMatchObject({ code: 'WORKFLOW_INVALID' });
        rmSync('config/workflows', { recursive: true });
        await expect(boot({ files: true })).rejects.toMatchObject({ code: 'AGENT_INVALID' });
        set({ JACKDAW_AGENTS_DIR: 'config/agents' });
        await expect(boot({})).rejects.toMatchObject({ code: 'AGENT_INVALID' });
        set({ JACKDAW_AGENTS_DIR: 'nowhere' });
        await expect(boot({})).rejects.toThrow(/JACKDAW_AGENTS_DIR/);
      },
    );

    it.each([
      ['forRoot', forRoot],
      ['forRootAsync', forRootAsync],
    ])('reads its variables with the prefix (%s)', async (_name, boot) => {
      set({ JACKDAW_RUN_CONCURRENCY: 'x', RUN_QUEUE_LIMIT: 'x' });
      await expect(boot({})).rejects.toThrow(/a mistake \(environment\):\n {2}JACKDAW_RUN_CONCURRENCY: "x"/);
      await boot({ config: { RUN_CONCURRENCY: '3' } });
    });
  });

  describe('a server', () => {
    async function serverMistake(): Promise<string> {
      const error = await createApp().catch((reason: unknown) => reason);
      return error instanceof AppError ? error.message : 'It started.';
    }

    it('reads its variables with and without the prefix, which wins, and .env', async () => {
      writeFileSync('.env', 'JACKDAW_RUN_QUEUE_LIMIT=x\n');
      set({ HOST: 'not a host', JACKDAW_PORT: 'x', PORT: '3000', JACKDAW_DATA_DIR: 'own', DATA_DIR: '~' });
      const message = await serverMistake();
      expect(message.split('\n')).toEqual([
        'The configuration has 3 mistakes (environment and .env):',
        expect.stringMatching(/^ {2}JACKDAW_PORT: "x"/),
        expect.stringMatching(/^ {2}HOST: "not a host"/),
        expect.stringMatching(/^ {2}JACKDAW_RUN_QUEUE_LIMIT: "x"/),
      ]);
    });

    it('uses the name without the prefix where the other is empty or belongs to Kubernetes', async () => {
      set({ ...KUBERNETES, PORT: 'x', HOST: 'not a host', JACKDAW_HOST: '' });
      expect((await serverMistake()).split('\n').slice(1)).toEqual([
        expect.stringMatching(/^ {2}PORT: "x"/),
        expect.stringMatching(/^ {2}HOST: "not a host"/),
      ]);
    });

    it('rejects unknown names with the prefix', async () => {
      set({ JACKDAW_PROT: '3000' });
      expect(await serverMistake()).toContain('JACKDAW_PROT is not a variable of Jackdaw: did you mean JACKDAW_PORT?');
    });
  });
});
