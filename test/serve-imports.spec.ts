import { afterEach, describe, expect, it } from 'vitest';
import { Controller, Get, Module } from '@nestjs/common';
import {
  CurrentPrincipal,
  JackdawModule,
  type Principal,
  Public,
  Requires,
  serve,
  type Server,
  Tool,
} from '../src/index.js';
import { AgentHost } from './support/agent-host.js';
import { calls, says, ScriptedChatModel } from './support/scripted-chat-model.js';

const ANN = { id: 'ann', tenant: 'acme', roles: ['user'] };

class Stock {
  @Tool({ description: 'Counts lamps.', effect: 'read' })
  lamps(): unknown {
    return { lamps: 7 };
  }
}

@Controller('orders')
class OrderController {
  @Get('mine')
  @Requires('chat')
  mine(@CurrentPrincipal() { id }: Principal): unknown {
    return { owner: id };
  }

  @Get('catalogue')
  @Public()
  catalogue(): unknown {
    return ['lamp'];
  }

  @Get('closed')
  closed(): unknown {
    return 'closed';
  }
}

@Module({
  imports: [
    JackdawModule.forFeature({
      tools: [Stock],
      agents: [{ name: 'clerk', instructions: 'You count.', model: { provider: 'offline' }, tools: ['lamps'] }],
    }),
  ],
  controllers: [OrderController],
})
class ShopModule {}

describe('serve({ imports })', () => {
  const agents = new AgentHost();
  let server: Server | undefined;
  afterEach(async () => {
    await server?.close();
    await agents.stop();
  });

  it('serves the tools, agents and controllers of application modules', async () => {
    const chatModel = new ScriptedChatModel([calls(['lamps', {}]), says('Seven.')]);
    const authenticator = {
      authenticate: async ({ headers }: { headers: object }) => ('authorization' in headers ? ANN : null),
      lookUp: async () => ANN,
    };
    const config = { ...agents.environment(), LOG_LEVEL: 'silent', PORT: '0' };
    server = await serve({ imports: [ShopModule], config, chatModel, authenticator, files: false });
    const get = async (path: string, headers = {}) => {
      const response = await fetch(`${server!.url}/api/${path}`, { headers });
      return { status: response.status, body: await response.json() };
    };
    const authorization = 'Bearer x';
    expect(await get('orders/mine', { authorization })).toEqual({ status: 200, body: { owner: 'ann' } });
    expect(await get('orders/mine')).toMatchObject({ status: 401 });
    expect(await get('orders/catalogue')).toEqual({ status: 200, body: ['lamp'] });
    expect(await get('orders/closed', { authorization })).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
    expect(await get('agents/clerk', { authorization })).toMatchObject({ status: 200, body: { name: 'clerk' } });
    const response = await fetch(`${server.url}/api/agent/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization },
      body: '{"query":"How many?"}',
    });
    expect(await response.json()).toMatchObject({ result: 'Seven.' });
    expect(chatModel.requests[1]?.messages.at(-1)).toMatchObject({ content: '{"lamps":7}' });
  });
});
