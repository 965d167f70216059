import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type ArgumentsHost,
  BadRequestException,
  type CallHandler,
  type CanActivate,
  Catch,
  Controller,
  createParamDecorator,
  type ExceptionFilter,
  type ExecutionContext,
  Inject,
  Injectable,
  type INestApplicationContext,
  Logger,
  Module,
  type NestInterceptor,
  ParseIntPipe,
  type PipeTransform,
  Scope,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
} from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR, NestFactory, REQUEST } from '@nestjs/core';
import { map, type Observable, of } from 'rxjs';
import { ToolPortsModule } from '../../../test/support/tool-parts.js';
import { callSite } from '../../../test/support/call-site.js';
import { AppConfigModule } from '../../config/index.js';
import { ToolRequest } from '../call/tool-request.factory.js';
import { ToolExecutor } from '../tool.executor.js';
import { ToolModule } from '../tool.module.js';
import { ToolRegistry } from '../tool.registry.js';
import type { CallSite, ToolResult } from '../tool.types.js';
import { ToolEnhancerModule } from './tool-enhancer.module.js';
import { Tool } from './tool.decorator.js';
import { ToolContext, ToolExecutionContext, ToolSignal } from './tool-parameter.decorator.js';

Logger.overrideLogger(false);

const description = 'For a test.';
const INPUT = { type: 'object', properties: { n: { type: 'integer' } } } as const;
/** Observed calls, in order. */
const story: string[] = [];
let madeInstances = 0;

class RoleGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { principal, tool, arguments: args } = ToolExecutionContext.create(context).getRequest();
    story.push(`guard ${context.getClass().name}.${context.getHandler().name} ${tool} ${JSON.stringify(args)}`);
    return principal.roles.includes('boss');
  }
}

class GlobalGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    story.push(`global guard ${context.getType<string>()}`);
    return true;
  }
}

@Injectable({ scope: Scope.REQUEST })
class TenantGuard implements CanActivate {
  constructor(@Inject(REQUEST) private readonly request: ToolRequest) {}
  canActivate(): boolean {
    story.push(`tenant guard ${this.request.tenant} ${this.request instanceof ToolRequest}`);
    return this.request.tenant !== 'banned';
  }
}

@Injectable({ scope: Scope.REQUEST })
class GlobalScopedInterceptor implements NestInterceptor {
  constructor(@Inject(REQUEST) private readonly request: ToolRequest) {}
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    story.push(`global interceptor ${this.request.tool}`);
    return next.handle();
  }
}

class WrapInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    story.push('interceptor before');
    return next.handle().pipe(map((value: unknown) => ({ wrapped: value })));
  }
}

class DoublePipe implements PipeTransform {
  transform(value: unknown): unknown {
    return typeof value === 'object' && value !== null && 'n' in value ? { n: Number(value.n) * 2 } : value;
  }
}

class DomainError extends Error {}

@Catch(DomainError)
class DomainFilter implements ExceptionFilter {
  catch(error: DomainError, host: ArgumentsHost): unknown {
    return { apology: error.message, by: ToolExecutionContext.create(host).getRequest().principal.id };
  }
}

const Tenant = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  context.switchToHttp().getRequest<ToolRequest>().tenant.toUpperCase(),
);

@Injectable()
@UseGuards(RoleGuard)
class StaffTools {
  private readonly calls: number[] = [];

  @Tool({ description, input: INPUT })
  @UseInterceptors(WrapInterceptor)
  @UsePipes(DoublePipe)
  pay({ n }: { n: number }): number {
    this.calls.push(n);
    story.push('method');
    return n + this.calls.length - this.calls.length;
  }

  @Tool({ description, input: INPUT })
  @UseFilters(DomainFilter)
  fail({ n }: { n: number }): never {
    if (n === 1) throw new DomainError('sorry');
    if (n === 2) throw new BadRequestException(['n must not be 2', 'n must be less']);
    throw new Error('broken');
  }

  @Tool({ description, input: INPUT })
  stream(): Observable<string> {
    return of('first', 'last');
  }
}

@Injectable()
class PlainTools {
  @Tool({ description, input: INPUT })
  places(
    @Tenant() tenant: string,
    { n }: { n: number },
    @ToolSignal() signal: AbortSignal,
    @ToolContext() context: ToolContext,
  ): unknown {
    return [tenant, n, signal === context.signal, context.runId];
  }

  @Tool({ description, input: INPUT })
  @UseGuards(TenantGuard)
  guardedByTenant(_input: unknown, { tenant }: ToolContext): string {
    return tenant;
  }
}

@Injectable({ scope: Scope.REQUEST })
class RequestTools {
  private readonly at = ++madeInstances;
  constructor(@Inject(REQUEST) private readonly request: ToolRequest) {}

  @Tool({ description, input: INPUT })
  own({ n }: { n: number }): unknown {
    return { at: this.at, n, tenant: this.request.tenant, run: this.request.runId };
  }
}

@Injectable()
class DependentTools {
  constructor(private readonly tools: RequestTools) {}

  @Tool({ description, input: INPUT })
  dependent(input: { n: number }): unknown {
    return this.tools.own(input);
  }
}

@Injectable({ scope: Scope.TRANSIENT })
class TransientTools {
  readonly word = 'made';

  @Tool({ description })
  passing(): string {
    return this.word;
  }
}

@Controller()
class ControllerTools {
  @Tool({ description, input: INPUT })
  @UsePipes(ParseIntPipe)
  strict(_input: unknown): void {}
}

@Module({
  imports: [
    AppConfigModule.forRoot({}),
    ToolEnhancerModule.forRoot({ toolEnhancers: ['guards', 'interceptors'] }),
    ToolPortsModule,
    ToolModule,
  ],
  controllers: [ControllerTools],
  providers: [
    StaffTools,
    PlainTools,
    RequestTools,
    DependentTools,
    TransientTools,
    { provide: APP_GUARD, useClass: GlobalGuard },
    { provide: APP_INTERCEPTOR, useClass: GlobalScopedInterceptor, scope: Scope.REQUEST },
  ],
})
class AppModule {}

describe('a tool in the pipeline of Nest', () => {
  let app: INestApplicationContext;
  beforeAll(async () => {
    app = await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
  });
  afterAll(() => app.close());
  beforeEach(() => void story.splice(0));

  async function call(name: string, args: unknown, given: Partial<CallSite> = {}): Promise<ToolResult> {
    const executor = app.get(ToolExecutor);
    const site = callSite(given);
    const tools = new Map([[name, app.get(ToolRegistry).get(name)]]);
    const planned = await executor.plan({ name, arguments: JSON.stringify(args) }, tools, site);
    if (planned.kind === 'rejected') return planned.result;
    const invoked = await executor.invoke(planned, site);
    if (invoked.kind !== 'result') throw new Error(`${name} asks a person.`);
    return invoked.result;
  }

  const boss = { id: 'ann', tenant: 'acme', roles: ['boss'] };

  it('goes through guards, interceptors and pipes, the application`s and its own, in their order', async () => {
    expect(await call('pay', { n: 4 }, { principal: boss })).toMatchObject({ success: true, result: { wrapped: 8 } });
    expect(story).toEqual([
      'global guard tool',
      'guard StaffTools.pay pay {"n":4}',
      'global interceptor pay',
      'interceptor before',
      'method',
    ]);
  });

  it('denies a call that a guard denies, without calling the method', async () => {
    expect(await call('pay', { n: 4 })).toMatchObject({
      success: false,
      code: 'TOOL_DENIED',
      error: 'Forbidden resource',
    });
    expect(story).not.toContain('method');
  });

  it('returns the result of a filter, and an unhandled exception as an error', async () => {
    const site = { principal: boss };
    expect(await call('fail', { n: 1 }, site)).toMatchObject({ result: { apology: 'sorry', by: 'ann' } });
    expect(await call('fail', { n: 2 }, site)).toMatchObject({
      code: 'TOOL_FAILED',
      error: 'n must not be 2; n must be less',
    });
    expect(await call('fail', { n: 3 }, site)).toMatchObject({ code: 'TOOL_FAILED', error: 'broken' });
    expect(await call('strict', {})).toMatchObject({ error: 'Validation failed (numeric string is expected)' });
  });

  it('returns the last value of an Observable', async () => {
    expect(await call('stream', {}, { principal: boss })).toMatchObject({ result: 'last' });
  });

  it('fills parameters with built-in and custom decorators, at any position of the arguments', async () => {
    expect(await call('places', { n: 1 })).toMatchObject({ result: ['T', 1, true, 'r'] });
  });

  it('creates a request-scoped provider for each call, with the call as its request', async () => {
    const before = madeInstances;
    const first = await call('own', { n: 1 }, { runId: 'r1' });
    const second = await call('own', { n: 2 }, { runId: 'r2', principal: { ...boss, tenant: 'other' } });
    expect(first).toMatchObject({ result: { at: before + 1, n: 1, tenant: 't', run: 'r1' } });
    expect(second).toMatchObject({ result: { at: before + 2, n: 2, tenant: 'other', run: 'r2' } });
    expect(await call('dependent', { n: 3 }, { runId: 'r3' })).toMatchObject({ result: { n: 3, run: 'r3' } });
  });

  it('gives a request-scoped guard of a static provider its tenant', async () => {
    expect(await call('guardedByTenant', {})).toMatchObject({ result: 't' });
    expect(story).toContain('tenant guard t true');
    const banned = { principal: { ...boss, tenant: 'banned' } };
    expect(await call('guardedByTenant', {}, banned)).toMatchObject({ code: 'TOOL_DENIED' });
  });

  it('supports transient providers', async () => {
    expect(await call('passing', {})).toMatchObject({ result: 'made' });
  });

  it('gives each concurrent call its own request', async () => {
    const runs = Array.from({ length: 50 }, (_, at) => `run-${at}`);
    const results = await Promise.all(runs.map((runId) => call('own', { n: 1 }, { runId })));
    expect(results).toEqual(runs.map((run) => expect.objectContaining({ result: expect.objectContaining({ run }) })));
  });
});
