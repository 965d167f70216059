import { describe, expect, it } from 'vitest';
import { Module, type Provider } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ToolPortsModule } from '../../../test/support/tool-parts.js';
import { AppConfigModule } from '../../config/index.js';
import { ToolModule } from '../tool.module.js';
import { ToolRegistry } from '../tool.registry.js';
import { Tool } from './tool.decorator.js';
import { ToolExplorer } from './tool.explorer.js';

const description = 'For a test.';
const SIGN = Symbol('sign');
type AnyDecorator = (...args: readonly unknown[]) => void;
/** Simulates code that is compiled without type checks. */
const anywhere = (options = { description }) => Tool(options) as unknown as AnyDecorator & ClassDecorator;

class StaticTools {
  @Tool({ description })
  static still(): void {}
}

class SymbolTools {
  @anywhere()
  [SIGN](): void {}
}

class GetterTools {
  @Tool({ description })
  get got(): () => void {
    return () => undefined;
  }
}

class SetterTools {
  @Tool({ description })
  set put(_value: unknown) {}
}

/** The compiled form of an `accessor`. */
class AccessorTools {
  @Tool({ description })
  get both(): unknown {
    return undefined;
  }
  set both(_value: unknown) {}
}

class FieldTools {
  @anywhere()
  field = () => 1;
}

class StaticFieldTools {
  @anywhere()
  static field = () => 1;
}

class ParameterTools {
  method(@anywhere() _input: string): void {}
}

class ConstructorTools {
  constructor(@anywhere() readonly input: string = '') {}
}

@anywhere()
class ClassTools {}

class HeirTools extends FieldTools {
  @anywhere()
  override field = () => 2;
}

class OtherHeirTools extends FieldTools {}

/** Replaces a method by another function without its metadata. */
const Timed = () => (_target: object, _member: string, descriptor: PropertyDescriptor) => {
  const inner = descriptor.value as (...args: unknown[]) => unknown;
  descriptor.value = function timed(this: unknown, ...args: unknown[]): unknown {
    return inner.apply(this, args);
  };
};

class ReplacedTools {
  @Timed()
  @Tool({ description })
  slow(): void {}
}

class WrappedTools {
  @Tool({ description })
  @Timed()
  slow(): string {
    return 'slow';
  }
}

/** Returns the error of a failed boot. */
async function boot(providers: Provider[]): Promise<unknown> {
  @Module({ imports: [AppConfigModule.forRoot({}), ToolPortsModule, ToolModule], providers })
  class FaultyModule {}
  const booting = NestFactory.createApplicationContext(FaultyModule, { logger: false, abortOnError: false });
  return booting.then((app) => app.close()).catch((error: unknown) => error);
}

describe('a misplaced @Tool', () => {
  it.each<[string, Provider[], RegExp]>([
    ['a static method', [StaticTools], /^StaticTools\.still: @Tool is on a static member;/],
    ['a static field', [StaticFieldTools], /^StaticFieldTools\.field: @Tool is on a static member;/],
    ['a symbol', [SymbolTools], /^SymbolTools\[Symbol\(sign\)\]: @Tool is on a member with a symbol/],
    ['a getter', [GetterTools], /^GetterTools\.got: @Tool is on a getter,/],
    ['a setter', [SetterTools], /^SetterTools\.put: @Tool is on a getter, a setter/],
    ['an accessor', [AccessorTools], /^AccessorTools\.both: @Tool is on a getter, .* accessor/],
    ['a field', [FieldTools], /^FieldTools\.field: @Tool is on a field/],
    ['a parameter', [ParameterTools], /^ParameterTools\.method: @Tool is on a parameter/],
    [
      'a parameter of a constructor',
      [{ provide: 'ANY', useValue: new ConstructorTools() }],
      /^ConstructorTools: @Tool is on a parameter/,
    ],
    ['a class', [ClassTools], /^ClassTools: @Tool is on the class/],
    ['a member of an object', [{ provide: 'X', useValue: new FieldTools() }], /^FieldTools\.field:/],
    [
      'members of a base class, each once',
      [OtherHeirTools, HeirTools],
      /^2 tools are refused:\n- FieldTools\.field: .*\n- HeirTools\.field: .*\.$/,
    ],
    [
      'a decorator that replaces the method',
      [ReplacedTools],
      /^ReplacedTools\.slow: another decorator replaced the method .* put @Tool above/,
    ],
  ])('stops the boot on %s', async (_case, providers, message) => {
    expect(await boot(providers)).toMatchObject({ code: 'TOOL_INVALID', message: expect.stringMatching(message) });
  });
});

it('a misplaced @Tool in a class or an object that is added later is rejected by its name', async () => {
  @Module({ imports: [AppConfigModule.forRoot({}), ToolPortsModule, ToolModule] })
  class EmptyModule {}
  const app = await NestFactory.createApplicationContext(EmptyModule, { logger: false, abortOnError: false });
  const explorer = app.get(ToolExplorer);
  for (const [given, message] of [
    [new StaticTools(), /^StaticTools\.still: @Tool is on a static/],
    [new SymbolTools(), /^SymbolTools\[Symbol\(sign\)\]: @Tool is on/],
    [new GetterTools(), /^GetterTools\.got: /],
    [new ReplacedTools(), /^ReplacedTools\.slow: /],
  ] as const) {
    await expect(explorer.register(given)).rejects.toMatchObject({
      code: 'TOOL_INVALID',
      message: expect.stringMatching(message),
    });
  }
  expect(app.get(ToolRegistry).list()).toEqual([]);
  expect(await explorer.register(new WrappedTools())).toEqual(['slow']);
  expect(await app.get(ToolRegistry).call('slow')).toBe('slow');
  await app.close();
});

it('the boot ignores a misplaced @Tool in a class that no module provides', async () => {
  expect([typeof StaticTools, await boot([])]).toEqual(['function', undefined]);
});

it('@Tool as an unsupported standard decorator names the member in its error', () => {
  const standard = Tool({ description }) as unknown as (value: unknown, context: object) => void;
  for (const [context, name] of [
    [{ kind: 'method', name: 'pay' }, 'method "pay"'],
    [{ kind: 'method', name: '#pay', private: true }, 'method "#pay"'],
    [{ kind: 'field', name: SIGN }, 'field "Symbol(sign)"'],
  ] as const) {
    expect(() => standard(() => undefined, context)).toThrow(
      expect.objectContaining({ code: 'TOOL_INVALID', message: expect.stringContaining(`@Tool on the ${name}: `) }),
    );
  }
});
