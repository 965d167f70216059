// Closes applications at given moments. Prints `closed`; the process must then end by itself, with nothing in stderr.
import 'reflect-metadata';
import { setImmediate as turn } from 'node:timers/promises';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AgentService, createAgent, JackdawModule, RunService, ToolRegistry } from '../../dist/index.js';

const [, , which, settings = '{}', turnsOf = '[0]'] = process.argv;
const env = { LLM_PROVIDER: 'offline', LOG_LEVEL: 'warn', ...JSON.parse(settings) };
const ann = { id: 'ann', tenant: 'default', roles: ['admin'] };
const UNFINISHED = 120;
/** Delays between creation and close of an application, in turns of the event loop. */
const MOMENTS = JSON.parse(turnsOf);
const silent = {
  name: 'silent',
  enabled: true,
  type: 'stdio',
  stdio: { command: process.execPath, args: ['-e', 'process.stdin.resume()'] },
};
/** A model that never answers until it is aborted. */
const mute = {
  name: 'mute',
  capabilities: {},
  generate: (_request, { signal }) => untilAborted(signal),
  async *stream(_request, { signal }) {
    yield await untilAborted(signal);
  },
};

function untilAborted(signal) {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}

function moduleOf(options) {
  class Application {}
  Module({ imports: [JackdawModule.forRoot({ config: env, agentsDir: false, ...options })] })(Application);
  return Application;
}

function open(options = {}) {
  return NestFactory.createApplicationContext(moduleOf(options), { logger: ['error', 'warn'], abortOnError: false });
}

async function after(turns, app) {
  for (let i = 0; i < turns; i++) await turn();
  await app.close();
}

const cases = {
  /** Leaves unfinished runs. */
  async fill() {
    const app = await open({ recovery: 'manual', chatModel: mute });
    for (let i = 0; i < UNFINISHED; i++) {
      await app.get(AgentService).submit(ann, { query: `6*${i}`, sessionId: `s${i % 50}` });
    }
    process.stdout.write('closed\n', () => process.exit(0));
    await new Promise(() => undefined);
  },
  async start() {
    for (const turns of MOMENTS) await after(turns, await open());
  },
  async mute() {
    for (const turns of MOMENTS) await after(turns, await open({ chatModel: mute }));
  },
  async http() {
    for (const turns of MOMENTS) {
      const app = await NestFactory.create(moduleOf({}), new FastifyAdapter(), {
        logger: ['error', 'warn'],
        abortOnError: false,
      });
      await app.listen(0, '127.0.0.1');
      await after(turns, app);
    }
  },
  /** Closes an application that was never initialised, and one while it starts. */
  async created() {
    for (const isStarted of [false, true]) {
      const app = await NestFactory.create(moduleOf({}), new FastifyAdapter(), {
        logger: ['error'],
        abortOnError: false,
      });
      app.enableShutdownHooks(['SIGTERM']);
      // Fastify refuses a start after its close, or never ends it.
      if (isStarted) app.init().catch(() => undefined);
      await Promise.all([app.close(), app.close()]);
      await app.close();
    }
  },
  async chat() {
    for (const turns of MOMENTS) {
      const app = await open();
      const answer = app.get(AgentService).chat(ann, { query: 'What is 6*7?' });
      const ended = answer.then(
        () => 'answered',
        (error) => error.code,
      );
      await after(turns, app);
      if (!['answered', 'SHUTTING_DOWN'].includes(await ended)) throw new Error(`It ended as ${await ended}`);
    }
  },
  async tool() {
    const app = await open();
    await app.get(ToolRegistry).call('calculator', { expression: '6*7' });
    await app.close();
  },
  async recover() {
    const app = await open({ recovery: 'manual' });
    const recovered = app.get(RunService).recover();
    await app.close();
    await recovered;
    await app.close();
  },
  async agent() {
    for (const turns of MOMENTS) await after(turns, await createAgent({ config: env }));
  },
  async two() {
    const [a, b] = await Promise.all([createAgent({ config: env }), createAgent({ config: env, builtinTools: true })]);
    const asked = b.chat('What is 6*7?').catch((error) => error);
    await a.close();
    const { content } = await asked;
    if (!/42/.test(content)) throw new Error(`It answered ${content}`);
    await b.close();
  },
  async mcp() {
    for (const turns of MOMENTS) await after(turns, await createAgent({ config: env, mcpServers: [silent] }));
    const app = await open({ mcpServers: [silent] });
    await new Promise((resolve) => setTimeout(resolve, 80));
    await app.close();
  },
};

for (const moment of which.split(' ')) await cases[moment]();
process.stdout.write('closed\n');
