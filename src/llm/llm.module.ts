import { Module, type OnApplicationShutdown } from '@nestjs/common';
import { createModelRegistry } from './model-registry.factory.js';
import { ModelRegistry } from './model.registry.js';
import { TokenCounterRegistry } from './tokens/token-counter.registry.js';
import { VocabularyLoader } from './tokens/vocabulary.loader.js';

/** Provides the `ModelRegistry` with every provider and the `TokenCounterRegistry`, and closes its connections at shutdown. */
@Module({
  providers: [{ provide: ModelRegistry, useFactory: createModelRegistry }, TokenCounterRegistry, VocabularyLoader],
  exports: [ModelRegistry, TokenCounterRegistry],
})
export class LlmModule implements OnApplicationShutdown {
  constructor(private readonly registry: ModelRegistry) {}

  async onApplicationShutdown(): Promise<void> {
    await this.registry.close();
  }
}
