import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  Controller,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  Module,
  ParseIntPipe,
  type Provider,
  type Type,
  UseGuards,
} from '@nestjs/common';
import type { INestApplicationContext, LoggerService } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ToolPortsModule } from '../../../test/support/tool-parts.js';
import { AppConfigModule } from '../../config/index.js';
import { Tool } from './tool.decorator.js';
import { ToolExecutor } from '../tool.executor.js';
import { ToolModule } from '../tool.module.js';
import { ToolRegistry } from '../tool.registry.js';
import type { ToolResult } from '../tool.types.js';
import { callSite } from '../../../test/support/call-site.js';

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

  /** An override without a decorator is not a tool. */
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
  imports: [AppConfigModule.forRoot({}), ToolPortsModule, ToolModule],
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
    const context = callSite();
    const planned = await executor.plan({ name, arguments: JSON.stringify(args) }, tools, context);
    if (planned.kind === 'rejected') return planned.result;
    const invoked = await executor.invoke(planned, context);
    if (invoked.kind !== 'result') throw new Error(`${name} asks a person.`);
    return invoked.result;
  }

  it('are all found, each once', () => {
    const names = app.get(ToolRegistry).list();
    expect(names.map((tool) => tool.definition.name).toSorted()).toEqual(['fromController', 'fromValue', 'inherited']);
  });

  it('are logged when they are registered', () => {
    const lines = logger.lines.filter((line) => line.startsWith('Regist'));
    expect(lines).toEqual(
      expect.arrayContaining(['Registering tools from DerivedTools', 'Registered tool: inherited']),
    );
    expect(lines.filter((line) => line === 'Registering tools from DerivedTools')).toHaveLength(1);
  });

  it('are registered before the hooks of the importing modules run', () => {
    expect(seenByHooks).toEqual([3]);
  });

  it('are called on their instances', async () => {
    expect(await call('inherited', {})).toMatchObject({ result: 'inherited by DerivedTools' });
    expect(await call('fromValue', {})).toMatchObject({ result: 'value' });
    expect(await call('fromController', {})).toMatchObject({ result: 'controller' });
    expect(app.get(ToolRegistry).get('inherited').metadata.source).toBe('DerivedTools.inherited');
  });
});

class NamelessTools {
  @Tool({ description: '' })
  nameless(): void {}
}

class WordlessTools {
  @Tool({ description: ' ' })
  wordless(): void {}
}

class DenyGuard {
  canActivate(): boolean {
    return false;
  }
}

const Tenant = createParamDecorator((_data: unknown, context: ExecutionContext) => context.getType());

class PipedTools {
  @Tool({ description })
  piped(@Tenant(ParseIntPipe) _tenant: number): void {}
}

@UseGuards(DenyGuard)
class GuardedTools {
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

/** Returns the error of a failed boot. */
async function boot(providers: Provider[]): Promise<unknown> {
  @Module({ imports: [AppConfigModule.forRoot({}), ToolPortsModule, ToolModule], providers })
  class FaultyModule {}
  const booting = NestFactory.createApplicationContext(FaultyModule, { logger: false, abortOnError: false });
  return booting.then((app) => app.close()).catch((error: unknown) => error);
}

describe('the boot of a Nest application', () => {
  it.each<[string, Provider[], string, RegExp]>([
    ['two of a name', [FirstTools, SecondTools], 'TOOL_DUPLICATE', /"sum": FirstTools\.one and SecondTools\.two/],
    [
      'a guard that Nest does not make',
      [{ provide: 'GUARDED', useValue: new GuardedTools() }],
      'TOOL_INVALID',
      /^GuardedTools\.guarded: DenyGuard would not be run, .* provide its class/,
    ],
    [
      'a pipe of a parameter that Nest does not make',
      [{ provide: 'PIPED', useValue: new PipedTools() }],
      'TOOL_INVALID',
      /^PipedTools\.piped: ParseIntPipe would not be run/,
    ],
    [
      'the same class under two tokens',
      [FirstTools, { provide: 'SECOND', useClass: FirstTools }],
      'TOOL_DUPLICATE',
      /"sum": FirstTools\.one and FirstTools\.one \(both in the module FaultyModule\)/,
    ],
    ['a faulty tool', [NamelessTools], 'TOOL_INVALID', /^NamelessTools\.nameless: it has no description/],
    ['several', [NamelessTools, WordlessTools], 'TOOL_INVALID', /2 tools are refused:\n- Nameless.*\n- Wordless/],
  ])('is stopped by %s', async (_case, providers, code, message) => {
    expect(await boot(providers)).toMatchObject({ code, message: expect.stringMatching(message) });
  });
});

it('the boot names the modules of both duplicate tools, even of dynamic modules', async () => {
  @Module({})
  class ToolSetModule {
    static with(...providers: Type[]) {
      return { module: ToolSetModule, providers };
    }
  }
  @Module({ imports: [ToolSetModule.with(FirstTools)] })
  class ShopModule {}
  @Module({ imports: [ToolSetModule.with(SecondTools)] })
  class DeskModule {}
  @Module({ imports: [AppConfigModule.forRoot({}), ToolPortsModule, ToolModule, ShopModule, DeskModule] })
  class RootModule {}
  const booting = NestFactory.createApplicationContext(RootModule, { logger: false, abortOnError: false });
  await expect(booting).rejects.toMatchObject({
    code: 'TOOL_DUPLICATE',
    message: expect.stringContaining(
      'FirstTools.one and SecondTools.two (in the modules ToolSetModule in ShopModule and ToolSetModule in DeskModule)',
    ),
  });
});

it('a guard also applies to a provider under another token than its class', async () => {
  const providers = [{ provide: 'GUARDED', useClass: GuardedTools }];
  @Module({ imports: [AppConfigModule.forRoot({}), ToolPortsModule, ToolModule], providers })
  class TokenModule {}
  const app = await NestFactory.createApplicationContext(TokenModule, { logger: false, abortOnError: false });
  const denied = app.get(ToolRegistry).call('guarded');
  await expect(denied).rejects.toMatchObject({ code: 'TOOL_FAILED', message: expect.stringContaining('Forbidden') });
  await app.close();
});
