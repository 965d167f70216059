import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CanActivate, Injectable, type INestApplicationContext, Module, Scope, UseGuards } from '@nestjs/common';
import { LazyModuleLoader, ModuleRef, NestFactory } from '@nestjs/core';
import { ToolPortsModule } from '../../../test/support/tool-parts.js';
import { AppConfigModule } from '../../config/index.js';
import { ToolModule } from '../tool.module.js';
import { ToolRegistry } from '../tool.registry.js';
import { Tool } from './tool.decorator.js';

const description = 'For a test.';

@Injectable()
class SharedTools {
  @Tool({ description })
  shared(): string {
    return 'shared';
  }
}

@Module({ providers: [SharedTools, { provide: 'ALIAS', useExisting: SharedTools }], exports: [SharedTools, 'ALIAS'] })
class SharedModule {}

class ClosedGuard implements CanActivate {
  canActivate(): boolean {
    return false;
  }
}

@Injectable()
class ShopTools {
  constructor(private readonly tools: SharedTools) {}

  @Tool({ description })
  buy(): string {
    return `bought, ${this.tools.shared()}`;
  }

  @Tool({ description })
  @UseGuards(ClosedGuard)
  steal(): string {
    return 'stolen';
  }
}

@Injectable({ scope: Scope.REQUEST })
class ScopedShopTools {
  constructor(readonly tools: SharedTools) {}

  @Tool({ description })
  scoped(): string {
    return `scoped, ${this.tools.shared()}`;
  }
}

@Module({ imports: [SharedModule], providers: [ShopTools, ScopedShopTools, { provide: 'SAME', useExisting: 'ALIAS' }] })
class ShopModule {}

@Injectable()
class OtherShopTools {
  @Tool({ description })
  fresh(): string {
    return 'fresh';
  }

  @Tool({ name: 'buy', description })
  purchase(): string {
    return 'purchased';
  }
}

@Module({ providers: [OtherShopTools] })
class OtherShopModule {}

@Module({ imports: [SharedModule], providers: [] })
class UserModule {}

class FaultyTools {
  @Tool({ description })
  fine(): void {}

  @Tool({ description })
  static still(): void {}

  @Tool({ description: '' })
  wordless(): void {}
}

@Module({ providers: [FaultyTools] })
class FaultyModule {}

@Module({})
class DynamicModule {
  static with(name: string) {
    class NamedTools {
      @Tool({ name, description })
      named(): string {
        return name;
      }
    }
    return { module: DynamicModule, providers: [NamedTools] };
  }
}

@Injectable()
class BootTools {
  @Tool({ description })
  boot(): string {
    return 'boot';
  }
}

@Module({ imports: [AppConfigModule.forRoot({}), ToolPortsModule, ToolModule], providers: [BootTools] })
class AppModule {}

describe('a lazily loaded module', () => {
  let app: INestApplicationContext;
  let tools: ToolRegistry;
  let lazy: LazyModuleLoader;
  beforeEach(async () => {
    app = await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
    tools = app.get(ToolRegistry);
    lazy = app.get(LazyModuleLoader);
  });
  afterEach(() => app.close());

  const names = () =>
    tools
      .list()
      .map(({ definition }) => definition.name)
      .toSorted();

  it('adds its tools and those of its imports when it is registered', async () => {
    const shop = await lazy.load(() => ShopModule);
    expect(names()).toEqual(['boot']);
    const heard: string[][] = [];
    tools.changes.add(() => void heard.push(names()));
    expect((await tools.registerModule(shop)).toSorted()).toEqual(['buy', 'scoped', 'shared', 'steal']);
    expect(names()).toEqual(['boot', 'buy', 'scoped', 'shared', 'steal']);
    expect(heard).toHaveLength(1);
    expect([await tools.call('buy'), await tools.call('scoped')]).toEqual(['bought, shared', 'scoped, shared']);
    await expect(tools.call('steal')).rejects.toMatchObject({ message: expect.stringContaining('Forbidden') });
    expect(tools.get('buy').metadata).toMatchObject({ source: 'ShopTools.buy', module: 'ShopModule' });
  });

  it('changes nothing when it is registered again, even concurrently', async () => {
    const load = async () => tools.registerModule(await lazy.load(() => ShopModule));
    const [first, second] = await Promise.all([load(), load()]);
    const buy = tools.get('buy');
    expect([second, await load()]).toEqual([first, first]);
    expect([names(), tools.get('buy')]).toEqual([['boot', 'buy', 'scoped', 'shared', 'steal'], buy]);
  });

  it('registers again the tools that were unregistered', async () => {
    const shop = await lazy.load(() => ShopModule);
    await tools.registerModule(shop);
    tools.unregister('buy');
    tools.unregister('boot');
    await tools.registerModule(shop);
    expect(names()).toEqual(['buy', 'scoped', 'shared', 'steal']);
  });

  it('registers nothing when a name is taken, and reports which modules have it', async () => {
    await tools.registerModule(await lazy.load(() => ShopModule));
    const other = await lazy.load(() => OtherShopModule);
    const duplicate = {
      code: 'TOOL_DUPLICATE',
      message: expect.stringMatching(
        /^Two tools are named "buy": ShopTools\.buy and OtherShopTools\.purchase \(in the modules ShopModule and OtherShopModule\)/,
      ),
      details: {
        tool: 'buy',
        sources: ['ShopTools.buy', 'OtherShopTools.purchase'],
        modules: ['ShopModule', 'OtherShopModule'],
      },
    };
    await expect(tools.registerModule(other)).rejects.toMatchObject(duplicate);
    expect(tools.has('fresh')).toBe(false);
    await expect(tools.registerModule(other)).rejects.toMatchObject(duplicate);
    tools.unregister('buy');
    expect(await tools.registerModule(other)).toEqual(['fresh', 'buy']);
    expect(await tools.call('buy')).toBe('purchased');
  });

  it('shares modules with others that are loaded later', async () => {
    await tools.registerModule(await lazy.load(() => ShopModule));
    expect(await tools.registerModule(await lazy.load(() => UserModule))).toEqual([]);
    expect(await tools.registerModule(await lazy.load(() => SharedModule))).toEqual(['shared']);
  });

  it('can be a dynamic module, once for each set of options', async () => {
    expect(await tools.registerModule(await lazy.load(() => DynamicModule.with('one')))).toEqual(['one']);
    expect(await tools.registerModule(await lazy.load(() => DynamicModule.with('two')))).toEqual(['two']);
  });

  it('is rejected with all its mistakes', async () => {
    await expect(tools.registerModule(await lazy.load(() => FaultyModule))).rejects.toMatchObject({
      code: 'TOOL_INVALID',
      message: expect.stringMatching(
        /2 tools are refused:\n- FaultyTools\.still: @Tool is on a static.*\n- FaultyTools\.wordless/,
      ),
    });
    expect(names()).toEqual(['boot']);
  });

  it('must be a ModuleRef of the application', async () => {
    const other = await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
    const given = [ShopModule, undefined, null, {}, app, other.get(ModuleRef)] as unknown as ModuleRef[];
    for (const one of given) await expect(tools.registerModule(one)).rejects.toMatchObject({ code: 'TOOL_INVALID' });
    await other.close();
    await expect(new ToolRegistry().registerModule(app.get(ModuleRef))).rejects.toMatchObject({ code: 'TOOL_INVALID' });
  });

  it('returns its existing tools if the application had it from the start', async () => {
    expect(await tools.registerModule(app.select(AppModule).get(ModuleRef, { strict: true }))).toEqual(['boot']);
    expect(names()).toEqual(['boot']);
  });
});
