import { Module, type OnApplicationShutdown } from '@nestjs/common';
import { AppConfig } from '../config/index.js';
import { EmbeddingModel } from './embedding-model.js';
import { createEmbeddingModel } from './embedding-model.factory.js';
import { createModelRegistry } from './model-registry.factory.js';
import { ModelRegistry } from './model.registry.js';

/** Provides the `ModelRegistry` with every provider, and closes its connections at shutdown. */
@Module({
  providers: [
    { provide: ModelRegistry, useFactory: createModelRegistry },
    // `null` where none is configured: inject it with `@Optional()`.
    { provide: EmbeddingModel, useFactory: createEmbeddingModel, inject: [ModelRegistry, AppConfig] },
    TokenCounterRegistry,
  ],
  exports: [ModelRegistry, EmbeddingModel, TokenCounterRegistry],
})
export class LlmModule implements OnApplicationShutdown {
  constructor(private readonly registry: ModelRegistry) {}

  async onApplicationShutdown(): Promise<void> {
    await this.registry.close();
  }
}
