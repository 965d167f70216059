import { afterEach, describe, expect, it } from 'vitest';
import { type INestApplicationContext, Injectable, Module } from '@nestjs/common';
import { ModulesContainer, NestFactory } from '@nestjs/core';
import {
  AgentRegistry,
  AgentService,
  JackdawModule,
  McpRegistry,
  Tool,
  ToolRegistry,
  WorkflowRegistry,
} from '../src/index.js';
import { AgentHost } from './support/agent-host.js';
import { listed, scripted } from './support/mcp/scripted-servers.js';
import { calls, says, ScriptedChatModel } from './support/scripted-chat-model.js';

const ANN = { id: 'ann', tenant: 'a', roles: ['user'] };
const host = new AgentHost();
const model = new ScriptedChatModel([calls(['stock', {}]), says('Seven.'), says('I am the buyer.')]);

/** A provider that the host application has already. */
@Injectable()
class Settings {
  readonly jackdaw = { ...host.environment(), AGENT_NAME: 'clerk' };
}
@Module({ providers: [Settings], exports: [Settings] })
class SettingsModule {}

@Injectable()
class Stock {
  constructor(private readonly settings: Settings) {}

  @Tool({ description: 'How many there are.', effect: 'read' })
  stock(): string {
    return `7 of ${this.settings.jackdaw.AGENT_NAME}`;
  }
}
@Module({ imports: [SettingsModule], providers: [Stock] })
class StockModule {}

class Orders {
  @Tool({ description: 'Orders more.' })
  order(): string {
    return 'ordered';
  }
}
@Module({
  imports: [
    JackdawModule.forFeature({
      tools: [Orders],
      agents: [{ name: 'buyer', instructions: 'You buy.', model: { provider: 'offline' }, tools: ['order'] }],
      mcpServers: [scripted('suppliers', { tools: [listed('echo')] })],
      workflows: [{ name: 'buy', nodes: [{ id: 'ask', type: 'agent', agent: 'buyer' }] }],
    }),
  ],
})
class OrdersModule {}

describe('Jackdaw in another application', () => {
  let app: INestApplicationContext | undefined;
  afterEach(async () => {
    await app?.close();
    await host.stop();
  });

  it('is configured by injected settings, and has the tools of the host’s modules', async () => {
    @Module({
      imports: [
        JackdawModule.forRootAsync({
          imports: [SettingsModule],
          inject: [Settings],
          useFactory: async ({ jackdaw }: Settings) => ({ config: jackdaw, chatModel: model }),
          builtinTools: false,
        }),
        StockModule,
        OrdersModule,
      ],
    })
    class Shop {}
    app = await NestFactory.createApplicationContext(Shop, { logger: false, abortOnError: false });
    expect(app.get(AgentRegistry, { strict: false }).names()).toEqual(['clerk', 'buyer']);
    const tools = app.get(ToolRegistry, { strict: false });
    expect(tools.list().map(({ definition }) => definition.name)).toEqual(expect.arrayContaining(['stock', 'order']));
    await app.get(McpRegistry, { strict: false }).get('suppliers').offered();
    expect(tools.has('suppliers__echo')).toBe(true);

    const agents = app.get(AgentService, { strict: false });
    expect(await agents.chat(ANN, { query: 'How many?' })).toMatchObject({ agent: 'clerk', result: 'Seven.' });
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({ role: 'tool', content: '7 of clerk' });
    expect(await agents.chat(ANN, { query: 'Who are you?', agent: 'buyer' })).toMatchObject({ agent: 'buyer' });
    expect(model.requests[2]?.tools?.map(({ name }) => name)).toEqual(['order']);

    expect(app.get(WorkflowRegistry, { strict: false }).names()).toEqual(['buy']);

    // The host has no controllers of the server, which it did not import.
    const modules = [...app.get(ModulesContainer).values()];
    expect(modules.flatMap(({ controllers }) => [...controllers.keys()])).toEqual([]);
    expect(modules.map(({ name }) => name)).not.toContain('BuiltinToolModule');
  });

  it('does not start with a wrong configuration', async () => {
    const module = JackdawModule.forRootAsync({
      useFactory: () => ({ config: { LLM_PROVIDER: 'openai', OPENAI_API_KEY: '' } }),
    });
    const started = NestFactory.createApplicationContext(module, { logger: false, abortOnError: false });
    await expect(started).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });
});
