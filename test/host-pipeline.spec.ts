import { afterEach, describe, expect, it } from 'vitest';
import {
  Body,
  type CallHandler,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Injectable,
  Module,
  type NestInterceptor,
  Post,
  ValidationPipe,
} from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import { map, type Observable } from 'rxjs';
import { AgentService, JackdawModule, Tool, type ToolEnhancerKind, ToolExecutionContext } from '../src/index.js';
import { AgentHost } from './support/agent-host.js';
import { calls, says, ScriptedChatModel } from './support/scripted-chat-model.js';

const ANN = { id: 'ann', tenant: 'a', roles: ['user'] };
const host = new AgentHost();

/** A host's guard for its own routes, which it did not write for tools. */
@Injectable()
class JwtGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    return context.switchToHttp().getRequest<FastifyRequest>().headers.authorization === 'Bearer good';
  }
}

@Injectable()
class PrincipalGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    return context.getType<string>() !== 'tool' || ToolExecutionContext.create(context).getRequest().tenant !== 'a';
  }
}

class EnvelopeInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((data: unknown) => ({ data })));
  }
}

@Injectable()
class Stock {
  @Tool({ description: 'Counts lamps.', effect: 'read' })
  lamps(): unknown {
    return { lamps: 7 };
  }
}

@Controller('questions')
class QuestionController {
  constructor(private readonly agents: AgentService) {}

  @Post()
  async ask(@Body() { query }: { query: string }) {
    const { result } = await this.agents.chat(ANN, { query });
    return { result };
  }
}

describe('a host with global guards, interceptors and pipes', () => {
  let app: NestFastifyApplication | undefined;
  afterEach(async () => {
    await app?.close();
    await host.stop();
  });

  async function ask(guard: new () => CanActivate, toolEnhancers?: ToolEnhancerKind[], authorization = 'Bearer good') {
    const chatModel = new ScriptedChatModel([calls(['lamps', {}]), says('Seven.')]);
    const jackdaw = JackdawModule.forRoot({
      config: host.environment(),
      chatModel,
      builtinTools: false,
      ...(toolEnhancers && { toolEnhancers }),
    });
    @Module({
      imports: [jackdaw],
      controllers: [QuestionController],
      providers: [Stock, { provide: APP_GUARD, useClass: guard }],
    })
    class Shop {}
    app = await NestFactory.create<NestFastifyApplication>(Shop, new FastifyAdapter(), { logger: false });
    app.useGlobalInterceptors(new EnvelopeInterceptor());
    app.useGlobalPipes(new ValidationPipe({ whitelist: true, forbidUnknownValues: false }));
    await app.listen(0, '127.0.0.1');
    const response = await fetch(`${await app.getUrl()}/questions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization },
      body: '{"query":"How many lamps?"}',
    });
    const received = chatModel.requests[1]?.messages.at(-1)?.content;
    return { status: response.status, body: (await response.json()) as object, received };
  }

  it('applies them to its routes, and not to its tools', async () => {
    expect(await ask(JwtGuard)).toMatchObject({
      status: 201,
      body: { data: { result: 'Seven.' } },
      received: '{"lamps":7}',
    });
  });

  it('protects its routes as before', async () => {
    expect(await ask(JwtGuard, undefined, 'Bearer bad')).toMatchObject({ status: 403 });
  });

  it('applies those that it names to its tools too', async () => {
    const answer = await ask(PrincipalGuard, ['guards', 'interceptors']);
    expect(answer).toMatchObject({ status: 201, received: expect.stringContaining('Forbidden resource') });
  });
});
