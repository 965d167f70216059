import { Module, type OnApplicationShutdown } from '@nestjs/common';
import { AppConfig } from '../config/index.js';
import { EmbeddingModel } from './embedding-model.js';
import { createEmbeddingModel } from './embedding-model.factory.js';
import { ModelFactories } from './model-factories.registry.js';
import { createModelRegistry } from './model-registry.factory.js';
import { ModelRegistry } from './model.registry.js';
import { TokenCounterRegistry } from './tokens/token-counter.registry.js';
import { VocabularyLoader } from './tokens/vocabulary.loader.js';

/** Provides the `ModelRegistry` with every provider and the `TokenCounterRegistry`, and closes its connections at shutdown. */
@Module({
  providers: [
    {
      provide: ModelRegistry,
      useFactory: createModelRegistry,
      inject: [{ token: ModelFactories, optional: true }],
    },
    // `null` where none is configured: inject it with `@Optional()`.
    { provide: EmbeddingModel, useFactory: createEmbeddingModel, inject: [ModelRegistry, AppConfig] },
    TokenCounterRegistry,
    VocabularyLoader,
  ],
  exports: [ModelRegistry, EmbeddingModel, TokenCounterRegistry],
})
export class LlmModule implements OnApplicationShutdown {
  constructor(private readonly registry: ModelRegistry) {}

  async onApplicationShutdown(): Promise<void> {
    await this.registry.close();
  }
}
