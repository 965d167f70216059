import { afterEach, describe, expect, it } from 'vitest';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AgentService } from '../src/index.js';
import { ask, moduleOf, NamedTools, startAgent } from './fixtures/consumer/undefined-options.js';
import { AgentHost } from './support/agent-host.js';

const host = new AgentHost();
afterEach(() => host.stop());

describe('options whose value is undefined', () => {
  it('have their defaults in an agent and in a call', async () => {
    const agent = await startAgent({ ...host.environment() });
    expect((await ask(agent)).finishReason).toBe('stop');
    await agent.close();
  });

  it('have their defaults in a module and in a tool', async () => {
    @Module({ imports: [moduleOf({ ...host.environment() })], providers: [NamedTools] })
    class AppModule {}
    const app = await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
    const ann = { id: 'ann', tenant: 'default', roles: ['user'] };
    expect((await app.get(AgentService).chat(ann, { query: 'call answer' })).result).toBe('Here.');
    await app.close();
  });
});
