import { Module, type OnApplicationShutdown } from '@nestjs/common';
import { CacheModule } from '../cache/index.js';
import { llmConfig, type LlmConfig } from '../config/index.js';
import { Database } from '../persistence/index.js';
import { ModelBudget } from './budget/model-budget.js';
import { createModelBudget } from './budget/model-budget.factory.js';
import { EmbeddingModel } from './embedding-model.js';
import { createEmbeddingModel } from './embedding-model.factory.js';
import { httpOptions } from './http.client.js';
import { ModelFactories } from './model-factories.registry.js';
import { createModelRegistry } from './model-registry.factory.js';
import { ModelRegistry } from './model.registry.js';
import { TokenCounterRegistry } from './tokens/token-counter.registry.js';
import { KeyPoolRegistry } from './wrappers/key-pool.registry.js';
import { ModelStackFactory } from './wrappers/model-stack.factory.js';
import { VocabularyLoader } from './tokens/vocabulary.loader.js';

/** Provides the `ModelRegistry` with all providers, and the `TokenCounterRegistry`. Closes connections at shutdown. */
@Module({
  imports: [CacheModule],
  providers: [
    {
      provide: ModelRegistry,
      useFactory: (config: LlmConfig, own?: ModelFactories) =>
        createModelRegistry(httpOptions(config), own, config.models),
      inject: [llmConfig.KEY, { token: ModelFactories, optional: true }],
    },
    KeyPoolRegistry,
    ModelStackFactory,
    // `null` if not configured: without embeddings, facts have no vectors and are found by their words only.
    { provide: EmbeddingModel, useFactory: createEmbeddingModel, inject: [ModelStackFactory, llmConfig.KEY] },
    {
      provide: ModelBudget,
      useFactory: createModelBudget,
      inject: [llmConfig.KEY, TokenCounterRegistry, Database],
    },
    TokenCounterRegistry,
    VocabularyLoader,
  ],
  exports: [ModelRegistry, ModelStackFactory, KeyPoolRegistry, EmbeddingModel, TokenCounterRegistry, ModelBudget],
})
export class LlmModule implements OnApplicationShutdown {
  constructor(private readonly registry: ModelRegistry) {}

  async onApplicationShutdown(): Promise<void> {
    await this.registry.close();
  }
}
