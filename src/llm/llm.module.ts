import { Module, type OnApplicationShutdown } from '@nestjs/common';
import { createModelRegistry } from './model-registry.factory.js';
import { ModelRegistry } from './model.registry.js';
import { TokenCounterRegistry } from './token-stub.registry.js';

/** Provides the `ModelRegistry` with every provider, and closes its connections at shutdown. */
@Module({
  providers: [{ provide: ModelRegistry, useFactory: createModelRegistry }, TokenCounterRegistry],
  exports: [ModelRegistry, TokenCounterRegistry],
})
export class LlmModule implements OnApplicationShutdown {
  constructor(private readonly registry: ModelRegistry) {}

  async onApplicationShutdown(): Promise<void> {
    await this.registry.close();
  }
}
