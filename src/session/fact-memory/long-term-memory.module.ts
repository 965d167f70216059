import { Module, type DynamicModule } from '@nestjs/common';
import { sessionConfig, type SessionConfig } from '../../config/namespaces/index.js';
import { EmbeddingModel, LlmModule, ModelStackFactory } from '../../llm/index.js';
import { Cassette } from '../../llm/cassette/index.js';
import { DatabaseFactMemory } from './database-fact-memory.js';
import { FactMemory } from './fact-memory.js';
import { FactVectorService } from './fact-vector.service.js';
import { FactStore } from './fact.store.js';
import { MemoryTools } from './memory-tools.js';

export interface LongTermMemoryOptions {
  /** Whether agents have the memory tools; by default the configured value. */
  readonly isEnabled: boolean | undefined;
  /** Replaces the configured model. */
  readonly embeddingModel: EmbeddingModel | undefined;
}

/** The memory is always available; agents get its tools only if enabled. */
@Module({})
export class LongTermMemoryModule {
  static forRoot({ isEnabled, embeddingModel }: LongTermMemoryOptions): DynamicModule {
    return {
      module: LongTermMemoryModule,
      global: true,
      imports: [LlmModule],
      providers: [
        FactStore,
        {
          provide: FactMemory,
          useFactory: (
            store: FactStore,
            stack: ModelStackFactory,
            configured: EmbeddingModel | null,
            cassette?: Cassette | null,
          ) => {
            const model = embeddingModel ? stack.accountedEmbedding(embeddingModel, cassette) : configured;
            return new DatabaseFactMemory(store, model && new FactVectorService(store, model));
          },
          inject: [FactStore, ModelStackFactory, EmbeddingModel, { token: Cassette, optional: true }],
        },
        {
          // `null` if not enabled, which is known at the start only: every other provider would be discovered as tools.
          provide: MemoryTools,
          useFactory: (config: SessionConfig, memory: FactMemory) =>
            (isEnabled ?? config.hasLongTermMemory) ? new MemoryTools(memory) : null,
          inject: [sessionConfig.KEY, FactMemory],
        },
      ],
      exports: [FactMemory],
    };
  }
}
