import { Module, type OnApplicationShutdown } from '@nestjs/common';
import { CacheModule } from '../cache/index.js';
import { AppConfig } from '../config/index.js';
import { Database } from '../persistence/index.js';
import { ModelBudget } from './budget/model-budget.js';
import { createModelBudget } from './budget/model-budget.factory.js';
import { EmbeddingModel } from './embedding-model.js';
import { createEmbeddingModel } from './embedding-model.factory.js';
import type { HttpOptions } from './http.client.js';
import { ModelFactories } from './model-factories.registry.js';
import { createModelRegistry } from './model-registry.factory.js';
import { ModelRegistry } from './model.registry.js';
import { TokenCounterRegistry } from './tokens/token-counter.registry.js';
import { KeyPoolRegistry } from './wrappers/key-pool.registry.js';
import { ModelStackFactory } from './wrappers/model-stack.factory.js';
import { VocabularyLoader } from './tokens/vocabulary.loader.js';

function httpOptions({ resilience, signingKeys }: AppConfig['llm']): HttpOptions {
  const [signingKey] = signingKeys;
  return { connectTimeoutMs: resilience.connectTimeoutMs, ...(signingKey && { signingKey }) };
}

/** Provides the `ModelRegistry` with all providers, and the `TokenCounterRegistry`. Closes connections at shutdown. */
@Module({
  imports: [CacheModule],
  providers: [
    {
      provide: ModelRegistry,
      useFactory: ({ llm }: AppConfig, own?: ModelFactories) => createModelRegistry(httpOptions(llm), own),
      inject: [AppConfig, { token: ModelFactories, optional: true }],
    },
    KeyPoolRegistry,
    ModelStackFactory,
    // `null` if not configured: inject it with `@Optional()`.
    { provide: EmbeddingModel, useFactory: createEmbeddingModel, inject: [ModelStackFactory, AppConfig] },
    // `null` without a database.
    {
      provide: ModelBudget,
      useFactory: createModelBudget,
      inject: [AppConfig, TokenCounterRegistry, { token: Database, optional: true }],
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
