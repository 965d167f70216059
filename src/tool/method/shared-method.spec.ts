import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type CanActivate,
  Controller,
  createParamDecorator,
  type ExecutionContext,
  Get,
  Injectable,
  type INestApplication,
  Module,
  Query,
  Req,
  Scope,
} from '@nestjs/common';
import { APP_GUARD, ExternalContextCreator, NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import { ToolPortsModule } from '../../../test/support/tool-parts.js';
import { AppConfigModule } from '../../config/index.js';
import { ROUTE_ARGS_METADATA } from '../../kernel/nest/nest-metadata.js';
import { ToolModule } from '../tool.module.js';
import { ToolRegistry } from '../tool.registry.js';
import { Tool } from './tool.decorator.js';

const INPUT = { type: 'object', properties: { of: { type: 'string' } } } as const;
const description = 'For a test.';
/** Context types that the global guard has seen. */
const seen: string[] = [];

@Injectable({ scope: Scope.REQUEST })
class GlobalGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    seen.push(context.getType<string>());
    return true;
  }
}

/** Methods that serve a route and a tool. */
@Controller('stock')
class StockController {
  @Get('all')
  @Tool({ description })
  all(): string {
    return 'all';
  }

  @Get('count')
  @Tool({ description, input: INPUT })
  count(@Query('of') of: string | undefined, input: { of: string } | undefined): unknown {
    return { query: of, tool: input?.of };
  }

  @Tool({ description, input: INPUT })
  @Get('raw')
  raw(@Req() request: FastifyRequest | undefined, input: { of: string } | undefined): unknown {
    return { url: request?.url, tool: input?.of };
  }
}

/** An argument as GraphQL's `@Args()`. */
const Args = createParamDecorator((_data: unknown, context: ExecutionContext) => context.getArgByIndex<unknown>(1));

/** A resolver, as another library calls it. */
@Injectable()
class StockResolver {
  @Tool({ description, input: INPUT })
  resolved(input: unknown): unknown {
    return { input };
  }

  @Tool({ description, input: INPUT })
  argued(@Args() args: unknown, input: unknown): unknown {
    return { args: args ?? null, input: input ?? null };
  }
}

@Module({
  imports: [AppConfigModule.forRoot({}), ToolPortsModule, ToolModule],
  controllers: [StockController],
  providers: [StockResolver, { provide: APP_GUARD, useClass: GlobalGuard, scope: Scope.REQUEST }],
})
class AppModule {}

describe('a method that is a tool and a handler of another kind', () => {
  let app: INestApplication;
  beforeAll(async () => {
    app = await NestFactory.create<NestFastifyApplication>(AppModule, new FastifyAdapter(), { logger: false });
    await app.listen(0, '127.0.0.1');
  });
  afterAll(() => app.close());

  async function route(path: string): Promise<unknown> {
    const response = await fetch(`${await app.getUrl()}/stock/${path}`);
    const text = await response.text();
    return response.ok ? text : response.status;
  }

  it('answers its route as without @Tool', async () => {
    seen.splice(0);
    expect(await route('all')).toBe('all');
    expect(await route('count?of=lamps')).toBe('{"query":"lamps"}');
    expect(await route('raw')).toBe('{"url":"/stock/raw"}');
    expect(seen).toEqual(['http', 'http', 'http']);
  });

  it('is a tool as without the route', async () => {
    seen.splice(0);
    const tools = app.get(ToolRegistry);
    expect(await tools.call('all', {})).toBe('all');
    expect(await tools.call('count', { of: 'lamps' })).toEqual({ tool: 'lamps' });
    expect(await tools.call('raw', { of: 'lamps' })).toEqual({ tool: 'lamps' });
    expect(seen).toEqual([]);
  });

  it('is called by another library in its own context, with its own arguments', async () => {
    const resolver = app.get(StockResolver);
    const resolve = (name: 'resolved' | 'argued') =>
      app
        .get(ExternalContextCreator)
        .create(
          resolver,
          resolver[name],
          name,
          ROUTE_ARGS_METADATA,
          { exchangeKeyForValue: () => undefined },
          undefined,
          undefined,
          { guards: false, interceptors: true, filters: true },
          'graphql',
        ) as (...args: unknown[]) => Promise<unknown>;
    expect(await resolve('resolved')('root', { of: 'lamps' })).toEqual({ input: 'root' });
    expect(await resolve('argued')('root', { of: 'lamps' })).toEqual({ args: { of: 'lamps' }, input: null });
    expect(await app.get(ToolRegistry).call('resolved', { of: 'chairs' })).toEqual({ input: { of: 'chairs' } });
  });
});
