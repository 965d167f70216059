import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Injectable, Module, type Provider, Scope, UseGuards } from '@nestjs/common';
import type { INestApplicationContext, LoggerService } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { BuiltinToolModule } from './builtin/builtin-tool.module.js';
import { Tool } from './tool.decorator.js';
import { ToolExecutor } from './tool.executor.js';
import { ToolModule } from './tool.module.js';
import { ToolRegistry } from './tool.registry.js';
import type { ToolResult } from './tool.types.js';

const description = 'For a test.';
const seenByHooks: number[] = [];

abstract class BaseTools {
  @Tool({ description })
  inherited(): string {
    return `inherited by ${this.constructor.name}`;
  }

  @Tool({ description })
  hidden(): string {
    return 'hidden';
  }
}

@Injectable()
class DerivedTools extends BaseTools {
  constructor(private readonly registry: ToolRegistry) {
    super();
  }

  /** An override without a decorator is no tool. */
  override hidden(): string {
    return 'shown';
  }

  onModuleInit(): void {
    seenByHooks.push(this.registry.list().length);
  }
}

class ValueTools {
  @Tool({ description })
  fromValue(): string {
    return 'value';
  }
}

@Controller()
class ControllerTools {
  @Tool({ description })
  fromController(): string {
    return 'controller';
  }
}

const value = new ValueTools();

@Module({
  imports: [ToolModule, BuiltinToolModule],
  controllers: [ControllerTools],
  providers: [
    DerivedTools,
    { provide: 'VALUE', useValue: value },
    { provide: 'SAME', useValue: value },
    { provide: 'ALIAS', useExisting: DerivedTools },
    { provide: 'TEXT', useValue: 'text' },
    { provide: 'BARE', useValue: Object.create(null) as object },
  ],
})
class AppModule {}

class LineLogger implements LoggerService {
  readonly lines: string[] = [];
  log(message: string): void {
    this.lines.push(message);
  }
  error(message: string): void {
    this.lines.push(message);
  }
  warn(): void {}
}

describe('tools of a Nest application', () => {
  const logger = new LineLogger();
  let app: INestApplicationContext;

  beforeAll(async () => {
    app = await NestFactory.createApplicationContext(AppModule, { logger });
  });
  afterAll(() => app.close());

  async function call(name: string, args: unknown): Promise<ToolResult> {
    const executor = app.get(ToolExecutor);
    const tools = new Map([[name, app.get(ToolRegistry).get(name)]]);
    const signal = new AbortController().signal;
    const principal = { id: 'p', tenant: 't', roles: [] };
    const context = { principal, sessionId: null, runId: 'r', callId: 'c', key: 'k', signal };
    const planned = await executor.plan({ name, arguments: JSON.stringify(args) }, tools, context);
    if (planned.kind === 'rejected') return planned.result;
    const invoked = await executor.invoke(planned, context);
    if (invoked.kind !== 'result') throw new Error(`${name} asks a person.`);
    return invoked.result;
  }

  it('finds all, each once', () => {
    const names = app.get(ToolRegistry).list();
    expect(names.map((tool) => tool.definition.name).toSorted()).toEqual([
      'calculator',
      'fromController',
      'fromValue',
      'get_timestamp',
      'inherited',
      'string_tools',
    ]);
  });

  it('logs what it registers', () => {
    const lines = logger.lines.filter((line) => line.startsWith('Regist'));
    expect(lines).toEqual(
      expect.arrayContaining([
        'Registering tools from BuiltinTools',
        'Registered tool: calculator',
        'Registering tools from DerivedTools',
        'Registered tool: inherited',
      ]),
    );
    expect(lines.filter((line) => line === 'Registering tools from BuiltinTools')).toHaveLength(1);
  });

  it('has registered everything before the hooks of the modules above', () => {
    expect(seenByHooks).toEqual([6]);
  });

  it('calls methods on their instances', async () => {
    expect(await call('inherited', {})).toMatchObject({ result: 'inherited by DerivedTools' });
    expect(await call('fromValue', {})).toMatchObject({ result: 'value' });
    expect(await call('fromController', {})).toMatchObject({ result: 'controller' });
    expect(app.get(ToolRegistry).get('inherited').metadata.source).toBe('DerivedTools.inherited');
  });

  it('serves the built-in tools', async () => {
    expect(await call('calculator', { expression: '100 + 200' })).toMatchObject({ result: '300' });
    expect(await call('calculator', { expression: '1/0' })).toMatchObject({ error: 'Division by zero.' });
    expect(await call('get_timestamp', { format: 'epoch_ms' })).toMatchObject({ result: expect.any(Number) });
    expect(await call('get_timestamp', { format: 'rfc' })).toMatchObject({
      error: expect.stringMatching(/^Unknown format/),
    });
    expect(await call('string_tools', { text: 'upper: hello' })).toMatchObject({ result: 'HELLO' });
    expect(await call('string_tools', { operation: 'shout', text: 'a' })).toMatchObject({
      code: 'TOOL_INVALID_ARGUMENTS',
    });
    expect(app.get(ToolRegistry).get('calculator').metadata.effect).toBe('read');
  });
});

@Injectable({ scope: Scope.REQUEST })
class RequestTools {
  @Tool({ description })
  scoped(): void {}
}

@Injectable()
class TaintedTools {
  constructor(readonly tools: RequestTools) {}

  @Tool({ description })
  tainted(): void {}
}

@Injectable({ scope: Scope.TRANSIENT })
class TransientTools {
  @Tool({ description })
  passing(): void {}
}

class NamelessTools {
  @Tool({ description: '' })
  nameless(): void {}
}

class DenyGuard {
  canActivate(): boolean {
    return false;
  }
}

class GuardedTools {
  @UseGuards(DenyGuard)
  @Tool({ description })
  guarded(): void {}
}

@UseGuards(DenyGuard)
class GuardedClassTools {
  @Tool({ description })
  guarded(): void {}
}

class FirstTools {
  @Tool({ name: 'sum', description })
  one(): void {}
}

class SecondTools {
  @Tool({ name: 'sum', description })
  two(): void {}
}

/** Gives the error that stopped the boot. */
async function boot(providers: Provider[]): Promise<unknown> {
  @Module({ imports: [ToolModule], providers })
  class FaultyModule {}
  const booting = NestFactory.createApplicationContext(FaultyModule, { logger: false, abortOnError: false });
  return booting.then((app) => app.close()).catch((error: unknown) => error);
}

describe('what stops the boot', () => {
  it.each<[string, Provider[], string, RegExp]>([
    ['two of a name', [FirstTools, SecondTools], 'TOOL_DUPLICATE', /"sum": FirstTools\.one and SecondTools\.two/],
    [
      'a request-scoped provider',
      [RequestTools],
      'TOOL_INVALID',
      /^RequestTools\.scoped: .*request-scoped.*not served/,
    ],
    ['what it injects', [TaintedTools, RequestTools], 'TOOL_INVALID', /TaintedTools\.tainted: .*request-scoped/],
    ['a transient provider', [TransientTools], 'TOOL_INVALID', /^TransientTools\.passing: .*transient/],
    ['a guard on the method', [GuardedTools], 'TOOL_INVALID', /^GuardedTools\.guarded: guards are bound to it/],
    ['a guard on the class', [GuardedClassTools], 'TOOL_INVALID', /^GuardedClassTools\.guarded: guards are bound/],
    ['a faulty tool', [NamelessTools], 'TOOL_INVALID', /^NamelessTools\.nameless: it has no description/],
    ['several', [NamelessTools, RequestTools], 'TOOL_INVALID', /2 tools are refused:\n- Nameless.*\n- Request/],
  ])('%s', async (_case, providers, code, message) => {
    expect(await boot(providers)).toMatchObject({ code, message: expect.stringMatching(message) });
  });
});
