import { Module, type DynamicModule } from '@nestjs/common';
import { AppError } from '../../common/index.js';
import { AppConfig } from '../../config/index.js';
import { EmbeddingModel, LlmModule, ModelStackFactory } from '../../llm/index.js';
import { DatabaseFactMemory } from './database-fact-memory.js';
import { FactMemory } from './fact-memory.js';
import { FactVectorService } from './fact-vector.service.js';
import { FactStore } from './fact.store.js';
import { MemoryTools } from './memory.tool.js';

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
          useFactory: (store: FactStore, stack: ModelStackFactory, configured: EmbeddingModel | null) => {
            const model = embeddingModel ? stack.accountedEmbedding(embeddingModel) : configured;
            return new DatabaseFactMemory(store, model && new FactVectorService(store, model));
          },
          inject: [FactStore, ModelStackFactory, { token: EmbeddingModel, optional: true }],
        },
        {
          // `null` provides no tools.
          provide: MemoryTools,
          useFactory: (config: AppConfig, memory: FactMemory) => {
            if (!(isEnabled ?? config.longTermMemory.isEnabled)) return null;
            if (config.encryption.keys.length > 0) throw unencrypted();
            return new MemoryTools(memory);
          },
          inject: [AppConfig, FactMemory],
        },
      ],
      exports: [FactMemory],
    };
  }
}

/** Facts are searched by their words and stored unencrypted. */
function unencrypted(): AppError {
  return new AppError(
    'CONFIG_INVALID',
    'ENCRYPTION_KEYS is set, and what LONG_TERM_MEMORY keeps is not encrypted: leave out one of them.',
  );
}
