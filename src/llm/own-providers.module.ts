import { Module, type DynamicModule } from '@nestjs/common';
import { ModelFactories } from './model-factories.registry.js';
import type { ModelFactory } from './model-factory.js';

/** Gives an application's own providers to the `ModelRegistry`. */
@Module({})
export class OwnProvidersModule {
  static forRoot(factories: readonly ModelFactory[]): DynamicModule {
    return {
      module: OwnProvidersModule,
      global: true,
      providers: [{ provide: ModelFactories, useValue: new ModelFactories(factories) }],
      exports: [ModelFactories],
    };
  }
}
