import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type ArgumentsHost,
  type CallHandler,
  Catch,
  type CanActivate,
  type ExceptionFilter,
  Injectable,
  type INestApplicationContext,
  Logger,
  Module,
  type NestInterceptor,
  type PipeTransform,
  Scope,
  type Type,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE, NestFactory } from '@nestjs/core';
import type { Observable } from 'rxjs';
import { ToolPortsModule } from '../../../test/support/tool-parts.js';
import { AppConfigModule } from '../../config/index.js';
import { ToolModule } from '../tool.module.js';
import { ToolRegistry } from '../tool.registry.js';
import { ToolEnhancerModule } from './tool-enhancer.module.js';
import { Tool } from './tool.decorator.js';

Logger.overrideLogger(false);

/** Invoked enhancers, in order. */
const story: string[] = [];

function guard(where: string): Type<CanActivate> {
  return class implements CanActivate {
    canActivate(): boolean {
      story.push(`guard of ${where}`);
      return true;
    }
  };
}

function interceptor(where: string): Type<NestInterceptor> {
  return class implements NestInterceptor {
    intercept(_context: unknown, next: CallHandler): Observable<unknown> {
      story.push(`interceptor of ${where}`);
      return next.handle();
    }
  };
}

function pipe(where: string): Type<PipeTransform> {
  return class implements PipeTransform {
    transform(value: unknown): unknown {
      story.push(`pipe of ${where}`);
      return value;
    }
  };
}

class Fault extends Error {
  constructor(readonly of: string) {
    super(`of ${of}`);
  }
}

/** Catches the faults of its own place; outer filters handle the others. */
function filter(where: string): Type<ExceptionFilter> {
  class OfPlace extends Error {
    static override [Symbol.hasInstance](error: unknown): boolean {
      return error instanceof Fault && error.of === where;
    }
  }
  @Catch(OfPlace)
  class PlaceFilter implements ExceptionFilter {
    catch(_error: unknown, host: ArgumentsHost): unknown {
      return `${host.getType<string>()}: filter of ${where}`;
    }
  }
  return PlaceFilter;
}

const INPUT = { type: 'object', properties: { of: { type: 'string' } } } as const;

@Injectable()
@UseGuards(guard('class'))
@UseInterceptors(interceptor('class'))
@UsePipes(pipe('class'))
@UseFilters(filter('class'))
class BoundTools {
  @Tool({ description: 'Does.', input: INPUT })
  @UseGuards(guard('method'))
  @UseInterceptors(interceptor('method'))
  @UsePipes(pipe('method'))
  @UseFilters(filter('method'))
  bound({ of }: { of?: string }): string {
    story.push('method');
    if (of !== undefined) throw new Fault(of);
    return 'done';
  }
}

@Module({
  imports: [
    AppConfigModule.forRoot({}),
    ToolEnhancerModule.forRoot({ toolEnhancers: ['guards', 'interceptors', 'pipes', 'filters'] }),
    ToolPortsModule,
    ToolModule,
  ],
  providers: [
    BoundTools,
    { provide: APP_GUARD, useClass: guard('application') },
    { provide: APP_INTERCEPTOR, useClass: interceptor('application') },
    { provide: APP_PIPE, useClass: pipe('application') },
    { provide: APP_PIPE, useClass: pipe('application, for each call'), scope: Scope.REQUEST },
    { provide: APP_FILTER, useClass: filter('application') },
    { provide: APP_FILTER, useClass: filter('application, for each call'), scope: Scope.REQUEST },
  ],
})
class AppModule {}

describe('a tool with enhancers at every level', () => {
  let app: INestApplicationContext;
  beforeAll(async () => {
    app = await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
  });
  afterAll(() => app.close());
  beforeEach(() => void story.splice(0));

  it('passes all enhancers from the outside in', async () => {
    expect(await app.get(ToolRegistry).call('bound', {})).toBe('done');
    const kinds = ['guard', 'interceptor', 'pipe'];
    const places = kinds.map((kind) => story.filter((line) => line.startsWith(kind)));
    const inward = ['application', 'class', 'method'];
    expect(places[0]).toEqual(inward.map((where) => `guard of ${where}`));
    expect(places[1]).toEqual(inward.map((where) => `interceptor of ${where}`));
    expect(new Set(places[2])).toEqual(
      new Set(['application', 'application, for each call', 'class', 'method'].map((where) => `pipe of ${where}`)),
    );
    expect(story.at(-1)).toBe('method');
  });

  it.each(['method', 'class', 'application', 'application, for each call'])(
    'uses the filters of the %s',
    async (of) => {
      expect(await app.get(ToolRegistry).call('bound', { of })).toBe(`tool: filter of ${of}`);
    },
  );

  it('fails with an error that no filter handles', async () => {
    await expect(app.get(ToolRegistry).call('bound', { of: 'unknown' })).rejects.toMatchObject({ code: 'TOOL_FAILED' });
  });
});
