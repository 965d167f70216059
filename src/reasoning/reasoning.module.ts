import { Module, type DynamicModule, type Type } from '@nestjs/common';
import { ToolModule } from '../tool/index.js';
import type { Processor } from './pipeline/processor.js';
import { ProcessorRegistry } from './pipeline/processor.registry.js';
import { PromptBuilder } from './prompt.builder.js';
import { ProtocolRegistry } from './protocols/protocol.registry.js';
import { ReasoningEngine } from './reasoning.engine.js';
import { ToolCallEngine } from './tool-call.engine.js';

/** Right before or right after the processor of a name. */
export type ProcessorPlace = { readonly before: string } | { readonly after: string };

/** Puts a processor right before or right after the one of a name: `{ use: Redact, before: 'format-results' }`. */
export type ProcessorPlacement = { readonly use: Type<Processor> } & ProcessorPlace;

export interface ReasoningModuleOptions {
  /** Builds the system prompt in one's own way. */
  readonly promptBuilder?: Type<PromptBuilder>;
  /** Stages of one's own in the pipeline. */
  readonly processors?: readonly ProcessorPlacement[];
}

@Module({})
export class ReasoningModule {
  static forRoot({ promptBuilder = PromptBuilder, processors = [] }: ReasoningModuleOptions = {}): DynamicModule {
    const types = processors.map(({ use }) => use);
    return {
      module: ReasoningModule,
      imports: [ToolModule],
      providers: [
        ReasoningEngine,
        ToolCallEngine,
        ProtocolRegistry,
        { provide: PromptBuilder, useClass: promptBuilder },
        ...types,
        {
          provide: ProcessorRegistry,
          useFactory: (...made: Processor[]) =>
            new ProcessorRegistry(made.map((processor, i) => ({ processor, ...toPlace(processors[i]!) }))),
          inject: types,
        },
      ],
      exports: [ReasoningEngine, ToolCallEngine, ProtocolRegistry],
    };
  }
}

/** A place as the pipeline takes it. */
export function toPlace(placement: ProcessorPlace): { side: 'before' | 'after'; name: string } {
  return 'before' in placement ? { side: 'before', name: placement.before } : { side: 'after', name: placement.after };
}
