import { AppError } from '../../common/index.js';
import type { ToolExecutor } from '../../tool/index.js';
import type { PromptBuilder } from '../prompt.builder.js';
import { AskModelProcessor } from './ask-model.processor.js';
import { CallExecutor } from './call.executor.js';
import { ContinueOrFinishProcessor } from './continue-or-finish.processor.js';
import { ExecuteToolsProcessor } from './execute-tools.processor.js';
import { ExtractCallsProcessor } from './extract-calls.processor.js';
import { FormatResultsProcessor } from './format-results.processor.js';
import { PrepareToolsProcessor } from './prepare-tools.processor.js';
import type { Processor } from './processor.js';
import { TeeStreamProcessor } from './tee-stream.processor.js';

/** A processor of one's own, right before or right after the one of a name. */
export interface PlacedProcessor {
  readonly processor: Processor;
  readonly side: 'before' | 'after';
  readonly name: string;
}

/** The seven stages, in order, and those that were put between them in the order given. */
export function createPipeline(
  prompts: PromptBuilder,
  tools: ToolExecutor,
  placed: readonly PlacedProcessor[] = [],
): readonly Processor[] {
  const pipeline: Processor[] = [
    new PrepareToolsProcessor(prompts),
    new AskModelProcessor(),
    new TeeStreamProcessor(),
    new ExtractCallsProcessor(),
    new ExecuteToolsProcessor(new CallExecutor(tools)),
    new FormatResultsProcessor(),
    new ContinueOrFinishProcessor(),
  ];
  for (const one of placed) place(pipeline, one);
  return pipeline;
}

function place(pipeline: Processor[], { processor, side, name }: PlacedProcessor): void {
  const at = pipeline.findIndex((stage) => stage.name === name);
  if (at < 0) {
    const known = pipeline.map((stage) => stage.name).join(', ');
    throw new AppError(
      'CONFIG_INVALID',
      `The processor "${processor.name}" cannot be put ${side} "${name}"; there is: ${known}.`,
    );
  }
  pipeline.splice(side === 'before' ? at : at + 1, 0, processor);
}
