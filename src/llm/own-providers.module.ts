import { Module, type DynamicModule } from '@nestjs/common';
import { AsyncOption, provided } from '../kernel/nest/index.js';
import { ModelFactories } from './model-registry.factory.js';
import type { ModelFactory } from './model-factory.js';

/** Registers an application's custom providers in the `ModelRegistry`. */
@Module({})
export class OwnProvidersModule {
  static forRoot(factories: readonly ModelFactory[] | AsyncOption<readonly ModelFactory[]>): DynamicModule {
    return {
      module: OwnProvidersModule,
      global: true,
      providers: [provided(ModelFactories, made(factories))],
      exports: [ModelFactories],
    };
  }
}

function made(
  given: readonly ModelFactory[] | AsyncOption<readonly ModelFactory[]>,
): ModelFactories | AsyncOption<ModelFactories> {
  if (given instanceof AsyncOption) return given.map((factories) => new ModelFactories(factories));
  return new ModelFactories(given);
}
