import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Inject, Injectable, Module, type OnModuleInit } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { readFileSync, rmSync } from 'node:fs';
import { createAgent, JackdawModule, serve, SessionService, Tool } from '../src/index.js';
import { keyHolder } from './support/api-keys.js';
import { FakeLlm } from './support/fake-llm.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { Travel } from './support/travel.module.js';

const ROOT = keyHolder('root', 'acme', 'admin');
const description = 'For a test.';

class StaticTools {
  @Tool({ description })
  static still(): string {
    return 'still';
  }

  @Tool({ description })
  moving(): string {
    return 'moving';
  }
}

class GetterTools {
  @Tool({ description })
  get got(): string {
    return 'got';
  }
}

class MovingTools {
  @Tool({ description })
  moving(): string {
    return 'moving';
  }
}

const STILL = { code: 'TOOL_INVALID', message: expect.stringMatching(/^StaticTools\.still: @Tool is on a static/) };
const GOT = { code: 'TOOL_INVALID', message: expect.stringMatching(/^GetterTools\.got: @Tool is on a getter/) };

describe('tools of a lazily loaded module', () => {
  let llm: FakeLlm;
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    llm = await FakeLlm.start();
    jackdaw = await startJackdaw({ llm, tools: [Travel], env: { API_KEYS: ROOT.entry } });
  });
  afterAll(async () => {
    await jackdaw.stop();
    await llm.close();
  });

  const offered = () => llm.lastRequest.tools?.map((tool) => tool.function.name) ?? [];

  it('are offered from the next run on, and called with its principal', async () => {
    llm.reply({ text: 'none' });
    await jackdaw.chat({ query: 'before' }, ROOT.headers);
    expect(offered()).not.toContain('flights');
    const travel = jackdaw.app.get(Travel, { strict: false });
    expect([await travel.load(), await travel.load()]).toEqual([['flights'], ['flights']]);
    llm.reply({ calls: [{ name: 'flights', arguments: {} }] }, { text: 'done' });
    const { body } = await jackdaw.chat({ query: 'after', includeDetails: true }, ROOT.headers);
    expect(offered().filter((name) => name === 'flights')).toHaveLength(1);
    expect(body['tool_results']).toMatchObject([{ tool: 'flights', result: 'LH1, KL2 for acme' }]);
    expect((await jackdaw.get('/api/tools/flights', ROOT.headers)).body).toMatchObject({
      source: 'TravelTools.flights',
    });
  });

  it('exist for agents that name them when a hook of a module registers them', async () => {
    @Injectable()
    class EarlyTravel extends Travel implements OnModuleInit {
      async onModuleInit(): Promise<void> {
        await this.load();
      }
    }
    const agents = [{ name: 'default', model: { provider: 'openai' }, tools: ['flights'] }];
    const early = await startJackdaw({ llm, tools: [EarlyTravel], options: { agents } });
    llm.reply({ text: 'ready' });
    await early.chat({ query: 'go' });
    expect(offered()).toEqual(['flights']);
    await early.stop();
    await expect(startJackdaw({ llm, tools: [Travel], options: { agents } })).rejects.toMatchObject({
      code: 'AGENT_INVALID',
    });
  });

  it('are registered as docs/tools.md describes', () => {
    const code = readFileSync('test/support/travel.module.ts', 'utf8').replaceAll('../../src/index.js', 'jackdaw');
    expect(readFileSync('docs/tools.md', 'utf8')).toContain(`\`\`\`ts\n${code}\`\`\`\n`);
  });
});

describe('a misplaced @Tool', () => {
  const folders: string[] = [];
  let env: Record<string, string>;
  beforeEach(() => {
    // A start that fails in a host's NestFactory closes nothing: each test has a database of its own.
    folders.push(newFolder());
    env = { LLM_PROVIDER: 'offline', DATA_DIR: folders.at(-1)!, LOG_LEVEL: 'silent', PORT: '0' };
  });
  afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));

  it('stops createAgent() and serve(), which then start without it', async () => {
    await expect(createAgent({ config: env, tools: [StaticTools] })).rejects.toMatchObject(STILL);
    await expect(createAgent({ config: env, tools: [new StaticTools()] })).rejects.toMatchObject(STILL);
    await expect(createAgent({ config: env, tools: [GetterTools, MovingTools] })).rejects.toMatchObject(GOT);
    await expect(serve({ config: env, tools: [StaticTools] })).rejects.toMatchObject(STILL);
    const agent = await createAgent({ config: env, tools: [MovingTools] });
    expect(agent.hasTool('moving')).toBe(true);
    await agent.close();
  });

  it('is refused by registerToolsFromClass(), with all tools of the class', async () => {
    const agent = await createAgent({ config: env });
    for (const given of [StaticTools, new StaticTools()])
      await expect(agent.registerToolsFromClass(given)).rejects.toMatchObject(STILL);
    await expect(agent.registerToolsFromClass(GetterTools)).rejects.toMatchObject(GOT);
    expect([agent.hasTool('still'), agent.hasTool('moving')]).toEqual([false, false]);
    expect(await agent.registerToolsFromClass(MovingTools)).toEqual(['moving']);
    await expect(agent.registerToolsFromClass(MovingTools)).rejects.toMatchObject({ code: 'TOOL_DUPLICATE' });
    await agent.close();
  });

  it('stops an application that imports JackdawModule, also in a module of its own', async () => {
    @Module({ providers: [StaticTools] })
    class ShopModule {}
    @Module({ imports: [JackdawModule.forRoot({ config: env }), ShopModule] })
    class RootModule {}
    const booting = NestFactory.createApplicationContext(RootModule, { logger: false, abortOnError: false });
    await expect(booting).rejects.toMatchObject(STILL);
  });

  it('names both modules of a duplicate, those of forFeature() by who imports them', async () => {
    class OtherTools {
      @Tool({ name: 'moving', description })
      go(): void {}
    }
    @Module({ imports: [JackdawModule.forFeature({ tools: [OtherTools] })] })
    class DeskModule {}
    @Module({ imports: [JackdawModule.forFeature({ tools: [MovingTools] })] })
    class ShopModule {}
    @Module({ imports: [JackdawModule.forRoot({ config: env }), ShopModule, DeskModule] })
    class RootModule {}
    const booting = NestFactory.createApplicationContext(RootModule, { logger: false, abortOnError: false });
    await expect(booting).rejects.toMatchObject({
      code: 'TOOL_DUPLICATE',
      message: expect.stringMatching(/MovingTools\.moving and OtherTools\.go .*ShopModule.*DeskModule/),
    });
  });
});

it('a class given to registerToolsFromClass() can inject what JackdawModule exports', async () => {
  class Archive {
    constructor(@Inject(SessionService) private readonly sessions: SessionService) {}

    @Tool({ description, effect: 'read' })
    hasSessions(): boolean {
      return this.sessions instanceof SessionService;
    }
  }
  const agent = await createAgent({ config: { LLM_PROVIDER: 'offline', DATABASE_URL: 'sqlite::memory:' } });
  await agent.registerToolsFromClass(Archive);
  expect(await agent.callTool('hasSessions')).toBe(true);
  await agent.close();
});
