import { Module, type DynamicModule } from '@nestjs/common';
import { AppConfig } from '../../config/index.js';
import { DatabaseFactMemory } from './database-fact-memory.js';
import { FactMemory } from './fact-memory.js';
import { FactStore } from './fact.store.js';
import { MemoryTools } from './memory.tool.js';

export interface LongTermMemoryOptions {
  /** Whether agents have its tools; by default as the configuration says. */
  readonly isEnabled: boolean | undefined;
}

/** The memory itself is always there; the tools that put it into agents' hands only where they are asked for. */
@Module({})
export class LongTermMemoryModule {
  static forRoot({ isEnabled }: LongTermMemoryOptions): DynamicModule {
    return {
      module: LongTermMemoryModule,
      providers: [
        FactStore,
        { provide: FactMemory, useClass: DatabaseFactMemory },
        {
          // `null` is no provider of tools.
          provide: MemoryTools,
          useFactory: (config: AppConfig, memory: FactMemory) =>
            (isEnabled ?? config.longTermMemory.isEnabled) ? new MemoryTools(memory) : null,
          inject: [AppConfig, FactMemory],
        },
      ],
      exports: [FactMemory],
    };
  }
}
