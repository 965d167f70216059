import { AppError } from '../../errors/index.js';
import type { CallRules, SecurityPolicies } from '../../tool-policy/index.js';
import type { ToolExecutor } from '../../tool/index.js';
import { PrepareToolsProcessor, type PromptBuilder } from './prepare-tools.processor.js';
import { AskModelProcessor } from './ask-model.processor.js';
import { CallDecider } from './call-decider.executor.js';
import { CallExecutor } from './call.executor.js';
import { ContinueOrFinishProcessor } from './continue-or-finish.processor.js';
import { FormatResultsProcessor } from './format-results.processor.js';
import { ExecuteToolsProcessor } from './execute-tools.processor.js';
import { ExtractCallsProcessor } from './extract-calls.processor.js';
import type { Processor } from './processor.js';
import { TeeStreamProcessor } from './tee-stream.processor.js';

/** A custom processor, placed directly before or after the named one. */
export interface PlacedProcessor {
  readonly processor: Processor;
  readonly side: 'before' | 'after';
  readonly name: string;
}

/** Dependencies of the stages. */
export interface PipelineServices {
  readonly tools: ToolExecutor;
  readonly policies: SecurityPolicies;
  /** `null` if calls are not counted, and no approval covers later calls. */
  readonly rules: CallRules | null;
}

/** The seven stages in order, with the placed processors inserted in the given order. */
export function createPipeline(
  prompts: PromptBuilder,
  { tools, policies, rules }: PipelineServices,
  placed: readonly PlacedProcessor[] = [],
): readonly Processor[] {
  const preparation = new PrepareToolsProcessor(prompts);
  const stages: readonly Processor[] = [
    preparation,
    new AskModelProcessor(),
    new TeeStreamProcessor(policies, preparation),
    new ExtractCallsProcessor(),
    new ExecuteToolsProcessor(new CallExecutor(tools, new CallDecider(tools, rules), policies), tools),
    new FormatResultsProcessor(),
    new ContinueOrFinishProcessor(),
  ];
  return placed.reduce(withProcessor, stages);
}

/** The pipeline with one more stage. @throws AppError `CONFIG_INVALID` if the named stage does not exist */
export function withProcessor(
  pipeline: readonly Processor[],
  { processor, side, name }: PlacedProcessor,
): readonly Processor[] {
  const at = pipeline.findIndex((stage) => stage.name === name);
  if (at < 0) {
    const known = pipeline.map((stage) => stage.name).join(', ');
    throw new AppError(
      'CONFIG_INVALID',
      `The processor "${processor.name}" cannot be put ${side} "${name}"; there is: ${known}.`,
    );
  }
  return pipeline.toSpliced(side === 'before' ? at : at + 1, 0, processor);
}
