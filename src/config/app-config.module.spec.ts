import { afterEach, describe, expect, it } from 'vitest';
import { Inject, Injectable, Module } from '@nestjs/common';
import { ConfigModule, ConfigService } from '@nestjs/config';
import { Test, type TestingModule } from '@nestjs/testing';
import { AsyncOption } from '../kernel/nest/index.js';
import { AppConfigModule } from './app-config.module.js';
import { NAMESPACES } from './env.schema.js';
import { runConfig, type RunConfig } from './namespaces/run.config.js';

@Injectable()
class Runner {
  constructor(@Inject(runConfig.KEY) readonly config: RunConfig) {}
}

@Module({ providers: [Runner] })
class RunnerModule {}

const OVERRIDES = Symbol('OVERRIDES');

@Module({ providers: [{ provide: OVERRIDES, useValue: { RUN_CONCURRENCY: '7' } }], exports: [OVERRIDES] })
class OverridesModule {}

describe('AppConfigModule', () => {
  let app: TestingModule | undefined;
  const start = async (imports: NonNullable<Parameters<typeof Test.createTestingModule>[0]['imports']>) => {
    app = await Test.createTestingModule({ imports: [...imports, RunnerModule] }).compile();
    return app;
  };
  const valueOf = () => app!.get(Runner, { strict: false }).config;

  afterEach(async () => app?.close());

  it('injects a frozen namespace into a class of any module, and writes nothing to process.env', async () => {
    const before = { ...process.env };
    await start([AppConfigModule.forRoot({ RUN_CONCURRENCY: '7' })]);
    expect(valueOf()).toMatchObject({ concurrency: 7, queueLimit: 10_000 });
    expect(Object.isFrozen(valueOf().retention)).toBe(true);
    expect(process.env).toEqual(before);
  });

  it('provides every namespace', async () => {
    await start([AppConfigModule.forRoot()]);
    for (const { KEY } of Object.values(NAMESPACES)) expect(app!.get<object>(KEY, { strict: false })).toBeDefined();
  });

  it('accepts variables of a factory with injected providers', async () => {
    const given = new AsyncOption([OVERRIDES], (overrides: Record<string, string>) => overrides);
    const module = AppConfigModule.forRoot(given);
    await start([{ ...module, imports: [OverridesModule] }]);
    expect(valueOf().concurrency).toBe(7);
  });

  it('works beside a global ConfigModule.forRoot of the host application, in either order', async () => {
    const host = () =>
      ConfigModule.forRoot({ isGlobal: true, ignoreEnvFile: true, load: [() => ({ shop: { currency: 'EUR' } })] });
    for (const isFirst of [true, false]) {
      const own = AppConfigModule.forRoot({ RUN_CONCURRENCY: '7' });
      const before = { ...process.env };
      await start(isFirst ? [await host(), own] : [own, await host()]);
      expect(valueOf().concurrency).toBe(7);
      const service = app!.get(ConfigService, { strict: false });
      expect([service.get('shop.currency'), service.get('jackdaw.run.concurrency')]).toEqual(['EUR', 7]);
      expect(process.env).toEqual(before);
      await app!.close();
    }
  });

  it('reports the mistakes of all namespaces together', () => {
    const overrides = { PORT: 'x', RUN_CONCURRENCY: '0', LLM_TEMPERATURE: '3' };
    expect(() => AppConfigModule.forRoot(overrides)).toThrow(
      /3 mistakes[^]*PORT[^]*LLM_TEMPERATURE[^]*RUN_CONCURRENCY/,
    );
  });
});

describe('namespaces', () => {
  it('declare each variable once', () => {
    const names = Object.values(NAMESPACES).flatMap(({ variables }) => Object.keys(variables));
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  });

  it('name only existing variables as settings that applications of a process share', () => {
    const names = new Set(Object.values(NAMESPACES).flatMap(({ variables }) => Object.keys(variables)));
    const { sharedSettings } = NAMESPACES.database.shape({ DATA_DIR: '.' }, { values: {}, nameOf: String } as never);
    expect(Object.keys(sharedSettings).filter((name) => !names.has(name))).toEqual([]);
  });
});
