import { existsSync } from 'node:fs';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { afterEach, describe, expect, it } from 'vitest';
import { AgentService } from '../src/agent/index.js';
import { JackdawModule } from '../src/index.js';
import { RunExportService } from '../src/run/replay/index.js';
import { ScheduleService } from '../src/schedule/index.js';
import { callTool, FakeProvider, startTestApplication } from '../src/testing/index.js';
import { replayRun } from '../src/run/replay/index.js';
import { StockModule, StockTools } from './fixtures/stock.module.js';
import { eventually } from './support/eventually.js';

const CLERK = { id: 'ann', tenant: 'default', roles: ['clerk'] };
const SELL = { calls: [{ name: 'sell', arguments: { count: 2 } }] };

afterEach(() => void (StockTools.sold = 0));

describe('startTestApplication', () => {
  it('starts a feature module with Jackdaw and a scripted model', async () => {
    const application = await startTestApplication(() => StockModule, { script: [SELL, 'It is sold.'] });
    const reply = await application.get(AgentService).chat(CLERK, { query: 'Sell 2.' });
    expect([reply.result, StockTools.sold]).toEqual(['It is sold.', 2]);
    await application.close();
    expect(existsSync(application.folder)).toBe(false);
  });

  it('starts a root module with its own Jackdaw on the folder, with a model over HTTP', async () => {
    const provider = await FakeProvider.start();
    provider.reply(SELL, { text: 'It is sold.' });
    const load = async () => (await import('./fixtures/shop.module.js')).ShopModule;
    const application = await startTestApplication(load, { provider });
    const reply = await application.get(AgentService).chat(CLERK, { query: 'Sell 2.' });
    expect([reply.result, existsSync(`${application.folder}/jackdaw.db`)]).toEqual(['It is sold.', true]);
    expect(Object.keys(process.env).filter((name) => name.startsWith('JACKDAW_DATA'))).toEqual([]);
    await application.close();
    await provider.close();
  });

  it('creates an application with HTTP', async () => {
    const application = await startTestApplication(() => StockModule, {
      create: (module) => NestFactory.create(module, { logger: false }),
    });
    await application.app.listen(0, '127.0.0.1');
    expect((await fetch(`${await application.app.getUrl()}/none`)).status).toBe(404);
    await application.close();
  });

  it('resumes a run in the next application after a crash', async () => {
    const application = await startTestApplication(() => StockModule, { script: [SELL, 'It is sold.'] });
    const { application: next, runId } = await application.crash({ before: 'tool:1:1' }, () =>
      application.get(AgentService).chat(CLERK, { query: 'Sell 2.' }),
    );
    const reply = await next.get(AgentService).outcome(CLERK, runId);
    expect([reply.result, StockTools.sold]).toEqual(['It is sold.', 4]);
    await application.close();
  });
});

describe('advance', () => {
  it('starts a run that an outage of its provider has postponed', async () => {
    const application = await startTestApplication(() => StockModule, { script: [{ fault: 503 }, 'It is back.'] });
    const agents = application.get(AgentService);
    const { id } = await agents.submit(CLERK, { query: 'Hi' });
    await eventually(async () =>
      expect(await agents.answer(CLERK, id)).toMatchObject({ status: 'queued', queued_reason: expect.any(String) }),
    );
    expect(application.script.requests.length).toBe(1);
    await application.advance(600_000);
    expect((await agents.outcome(CLERK, id)).result).toBe('It is back.');
    await application.close();
  });
});

describe('advance with a schedule', () => {
  it('starts the runs of the time', async () => {
    const application = await startTestApplication(() => StockModule, { script: ['Monday.', 'Tuesday.'] });
    const schedules = application.get(ScheduleService);
    const work = { kind: 'agent', subject: 'default', query: 'Report.' } as const;
    const daily = { work, cron: '0 9 * * *', at: null, timeZone: 'UTC', overlap: 'skip', missed: 'once' } as const;
    const { id } = await schedules.create(CLERK, daily);
    for (const result of ['Monday.', 'Tuesday.']) {
      await application.advance(86_400_000);
      const { lastRunId } = await schedules.get(CLERK, id);
      expect((await application.get(AgentService).outcome(CLERK, lastRunId!)).result).toBe(result);
    }
    await application.close();
  });
});

describe('callTool', () => {
  it('calls a tool of a module with its guard, its input and its interceptor', async () => {
    expect(await callTool(StockModule, 'sell', { count: 1 }, CLERK)).toBe('sold 1 to ann!');
    await expect(callTool(StockModule, 'sell', { count: 10 }, CLERK)).rejects.toMatchObject({
      code: 'TOOL_INVALID_ARGUMENTS',
    });
    await expect(callTool(StockModule, 'sell', { count: 1 })).rejects.toThrow(/Forbidden/);
    expect(StockTools.sold).toBe(1);
  });

  it('calls a tool of a running application', async () => {
    const application = await startTestApplication(() => StockModule);
    expect(await callTool(application, 'sell', { count: 3 }, CLERK)).toBe('sold 3 to ann!');
    await application.close();
  });
});

describe('replayRun of jackdaw/testing', () => {
  const agent = { name: 'support', model: { provider: 'openai', name: 'gpt-4o' }, instructions: 'Be brief.' };
  const start = (config: Readonly<Record<string, string>>, instructions = 'Be brief.') =>
    startTestApplication(() => {
      @Module({ imports: [JackdawModule.forRoot({ config, agents: [{ ...agent, instructions }] })] })
      class AppModule {}
      return AppModule;
    }, {});

  it('checks a Nest application, whose provider needs no key', async () => {
    const provider = await FakeProvider.start();
    provider.reply({ text: 'Yes.' });
    const config = { ...provider.env, OPENAI_API_KEY: 'none' };
    const source = await start(config);
    const { run_id: id } = await source.get(AgentService).chat(CLERK, { query: 'Really?' });
    const exported = await source.get(RunExportService).export(CLERK, id);
    await source.close();
    await provider.close();
    for (const [instructions, status] of [
      ['Be brief.', 'same'],
      ['Be long.', 'diverged'],
    ] as const) {
      const application = await start(config, instructions);
      expect(await replayRun(application.app, exported)).toMatchObject({ status, agent: 'support' });
      await application.close();
    }
  });
});
