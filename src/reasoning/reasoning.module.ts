import { Module, type DynamicModule, type Type } from '@nestjs/common';
import { ToolModule } from '../tool/index.js';
import { PromptBuilder } from './prompt.builder.js';
import { ProtocolRegistry } from './protocols/protocol.registry.js';
import { ReasoningEngine } from './reasoning.engine.js';

export interface ReasoningModuleOptions {
  /** Builds the system prompt in one's own way. */
  readonly promptBuilder?: Type<PromptBuilder>;
}

@Module({})
export class ReasoningModule {
  static forRoot({ promptBuilder = PromptBuilder }: ReasoningModuleOptions = {}): DynamicModule {
    return {
      module: ReasoningModule,
      imports: [ToolModule],
      providers: [ReasoningEngine, ProtocolRegistry, { provide: PromptBuilder, useClass: promptBuilder }],
      exports: [ReasoningEngine, ProtocolRegistry],
    };
  }
}
