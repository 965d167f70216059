import { Module, type DynamicModule, type Type } from '@nestjs/common';
import { ToolModule } from '../tool/index.js';
import type { Processor } from './loop/processor.js';
import { ProcessorRegistry } from './loop/processor.registry.js';
import { PromptBuilder, ProtocolRegistry } from './loop/pipeline.js';
import { ReasoningEngine } from './reasoning.engine.js';
import { ToolCallEngine } from './tool-call.engine.js';

/** Directly before or after the named processor. */
export type ProcessorPlace = { readonly before: string } | { readonly after: string };

/** Places a custom processor directly before or after the named one: `{ use: Redact, before: 'format-results' }`. */
export type ProcessorPlacement = { readonly use: Type<Processor> } & ProcessorPlace;

export interface ReasoningModuleOptions {
  /** Custom builder of the system prompt. */
  readonly promptBuilder?: Type<PromptBuilder>;
  /** Custom stages of the pipeline. */
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

/** Maps a placement to the pipeline's form. */
export function toPlace(placement: ProcessorPlace): { side: 'before' | 'after'; name: string } {
  return 'before' in placement ? { side: 'before', name: placement.before } : { side: 'after', name: placement.after };
}
