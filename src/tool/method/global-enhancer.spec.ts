import { afterEach, describe, expect, it } from 'vitest';
import {
  type CallHandler,
  type CanActivate,
  Catch,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  Inject,
  Injectable,
  type INestApplicationContext,
  Logger,
  Module,
  type NestInterceptor,
  type PipeTransform,
  type Provider,
  Scope,
  UseGuards,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE, ModulesContainer, NestFactory, REQUEST } from '@nestjs/core';
import { map, type Observable } from 'rxjs';
import { ToolPortsModule } from '../../../test/support/tool-parts.js';
import { AppConfigModule } from '../../config/index.js';
import { ToolModule } from '../tool.module.js';
import { ToolRegistry } from '../tool.registry.js';
import { type ToolEnhancerKind, ToolEnhancerModule } from './tool-enhancer.module.js';
import { Tool } from './tool.decorator.js';

const description = 'For a test.';

/** Guards as hosts write them: they read the headers of an HTTP request. */
interface HttpRequest {
  readonly headers: { readonly authorization?: string };
}

class AuthGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    return context.switchToHttp().getRequest<HttpRequest>().headers.authorization !== undefined;
  }
}

@Injectable({ scope: Scope.REQUEST })
class ScopedAuthGuard implements CanActivate {
  private readonly token: string | undefined;

  constructor(@Inject(REQUEST) request: HttpRequest) {
    this.token = request.headers.authorization;
  }

  canActivate(): boolean {
    return this.token !== undefined;
  }
}

class WrapInterceptor implements NestInterceptor {
  intercept(_context: unknown, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((data: unknown) => ({ data })));
  }
}

class RefusingPipe implements PipeTransform {
  transform(): never {
    throw new Error('refused by a pipe');
  }
}

@Catch()
class CatchAllFilter implements ExceptionFilter {
  catch(): unknown {
    return 'hidden by a filter';
  }
}

class OpenGuard implements CanActivate {
  canActivate(): boolean {
    return true;
  }
}

let admitted = 0;

@Injectable({ scope: Scope.TRANSIENT })
class TransientGuard implements CanActivate {
  private readonly isReady = true;

  canActivate(): boolean {
    if (!this.isReady) throw new Error('The constructor did not run');
    admitted += 1;
    return true;
  }
}

let made = 0;

@Injectable()
class CountingTools {
  private readonly at = ++made;
  private calls = 0;

  @Tool({ description, input: { type: 'object', properties: { fails: { type: 'boolean' } } } })
  count({ fails }: { fails?: boolean }): unknown {
    if (fails) throw new Error('failed by the tool');
    this.calls += 1;
    return [this.at, this.calls];
  }

  @Tool({ description })
  @UseGuards(TransientGuard)
  guarded(): string {
    return 'passed';
  }
}

@Controller()
class ControllerTools {
  @Tool({ description })
  @UseGuards(OpenGuard)
  controlled(): string {
    return 'controlled';
  }
}

const HOST_ENHANCERS: Provider[] = [
  { provide: APP_GUARD, useClass: AuthGuard },
  { provide: APP_INTERCEPTOR, useClass: WrapInterceptor },
  { provide: APP_PIPE, useClass: RefusingPipe },
  { provide: APP_FILTER, useClass: CatchAllFilter },
];
const SCOPED_GUARD: Provider = { provide: APP_GUARD, useClass: ScopedAuthGuard, scope: Scope.REQUEST };

describe('global enhancers and a tool call', () => {
  let app: INestApplicationContext | undefined;
  afterEach(() => app?.close());

  async function start(enhancers: Provider[], kinds: ToolEnhancerKind[] = []): Promise<ToolRegistry> {
    @Module({
      imports: [
        AppConfigModule.forRoot({}),
        ToolPortsModule,
        ToolEnhancerModule.forRoot({ toolEnhancers: kinds }),
        ToolModule,
      ],
      controllers: [ControllerTools],
      providers: [CountingTools, ...enhancers],
    })
    class AppModule {}
    made = 0;
    app = await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
    return app.get(ToolRegistry);
  }

  it('skips them, so that a tool behaves as without them', async () => {
    const tools = await start(HOST_ENHANCERS);
    expect(await tools.call('count', {})).toEqual([1, 1]);
    await expect(tools.call('count', { fails: true })).rejects.toMatchObject({
      code: 'TOOL_FAILED',
      message: expect.stringContaining('failed by the tool'),
    });
  });

  it.each<[ToolEnhancerKind, unknown]>([
    ['guards', { code: 'TOOL_FAILED' }],
    ['pipes', { code: 'TOOL_FAILED', message: expect.stringContaining('refused by a pipe') }],
  ])('runs the %s that toolEnhancers names', async (kind, error) => {
    const tools = await start(HOST_ENHANCERS, [kind]);
    await expect(tools.call('count', {})).rejects.toMatchObject(error as object);
  });

  it('runs the interceptors and filters that toolEnhancers names', async () => {
    const tools = await start(HOST_ENHANCERS, ['interceptors', 'filters']);
    expect(await tools.call('count', {})).toEqual({ data: [1, 1] });
    expect(await tools.call('count', { fails: true })).toBe('hidden by a filter');
  });

  it('neither creates a request-scoped one nor makes the provider of a tool request-scoped', async () => {
    const tools = await start([SCOPED_GUARD]);
    expect(await tools.call('count', {})).toEqual([1, 1]);
    expect(await tools.call('count', {})).toEqual([1, 2]);
    expect(app!.get(CountingTools)).toBeInstanceOf(CountingTools);
    const wrappers = [...app!.get(ModulesContainer).values()].map(({ providers }) => providers.get(CountingTools));
    expect(wrappers.filter(Boolean).map((wrapper) => wrapper!.isDependencyTreeStatic())).toEqual([true]);
    expect(await tools.call('controlled', {})).toBe('controlled');
  });

  it('creates a named request-scoped one for each call, and keeps the provider of a tool', async () => {
    const seen: unknown[] = [];
    @Injectable({ scope: Scope.REQUEST })
    class ScopedInterceptor implements NestInterceptor {
      constructor(@Inject(REQUEST) private readonly request: { readonly tool: string }) {}
      intercept(_context: unknown, next: CallHandler): Observable<unknown> {
        seen.push([this.request.tool, this]);
        return next.handle();
      }
    }
    @Injectable({ scope: Scope.TRANSIENT })
    class TransientInterceptor extends WrapInterceptor {}
    const tools = await start(
      [
        { provide: APP_INTERCEPTOR, useClass: ScopedInterceptor, scope: Scope.REQUEST },
        { provide: APP_INTERCEPTOR, useClass: TransientInterceptor, scope: Scope.TRANSIENT },
      ],
      ['interceptors'],
    );
    expect(await tools.call('count', {})).toEqual({ data: [1, 1] });
    expect(await tools.call('count', {})).toEqual({ data: [1, 2] });
    expect(await tools.call('controlled', {})).toEqual({ data: 'controlled' });
    expect(seen.map((one) => (one as unknown[])[0])).toEqual(['count', 'count', 'controlled']);
    expect(new Set(seen.map((one) => (one as unknown[])[1])).size).toBe(3);
  });

  it('runs a bound transient guard, whose constructor Nest has called', async () => {
    admitted = 0;
    expect(await (await start([])).call('guarded', {})).toBe('passed');
    expect(admitted).toBe(1);
  });
});

describe('the log at boot', () => {
  async function linesOf(enhancers: Provider[], kinds: ToolEnhancerKind[]): Promise<unknown[]> {
    const lines: unknown[] = [];
    const log = (message: unknown) => void lines.push(message);
    const silent = () => undefined;
    @Module({
      imports: [
        AppConfigModule.forRoot({}),
        ToolPortsModule,
        ToolEnhancerModule.forRoot({ toolEnhancers: kinds }),
        ToolModule,
      ],
      providers: [CountingTools, ...enhancers],
    })
    class AppModule {}
    const logger = { log, warn: silent, error: silent };
    const app = await NestFactory.createApplicationContext(AppModule, { logger, abortOnError: false });
    await app.close();
    Logger.overrideLogger(false);
    return lines.filter((line) => String(line).includes('global enhancers'));
  }

  it('lists the skipped ones by class name, in one line', async () => {
    const all = 'AuthGuard, ScopedAuthGuard, WrapInterceptor, RefusingPipe, CatchAllFilter';
    const remedy = 'to run them for tool calls, name their kinds in toolEnhancers';
    expect(await linesOf([...HOST_ENHANCERS, SCOPED_GUARD], [])).toEqual([
      `Tool calls skip these global enhancers: ${all}; ${remedy}`,
    ]);
    expect(await linesOf([...HOST_ENHANCERS, SCOPED_GUARD], ['guards', 'pipes', 'filters'])).toEqual([
      `Tool calls skip these global enhancers: WrapInterceptor; ${remedy}`,
    ]);
  });

  it('has no such line if none is skipped', async () => {
    expect(await linesOf(HOST_ENHANCERS, ['guards', 'interceptors', 'pipes', 'filters'])).toEqual([]);
    expect(await linesOf([], [])).toEqual([]);
  });
});

describe('toolEnhancers', () => {
  it('rejects an unknown kind', () => {
    expect(() => ToolEnhancerModule.forRoot({ toolEnhancers: ['guard' as never] })).toThrow(
      'toolEnhancers is ["guard"]: give a list of guards, interceptors, pipes, filters.',
    );
  });
});
