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

/** The seven stages, in order. */
export function createPipeline(prompts: PromptBuilder, tools: ToolExecutor): readonly Processor[] {
  return [
    new PrepareToolsProcessor(prompts),
    new AskModelProcessor(),
    new TeeStreamProcessor(),
    new ExtractCallsProcessor(),
    new ExecuteToolsProcessor(new CallExecutor(tools)),
    new FormatResultsProcessor(),
    new ContinueOrFinishProcessor(),
  ];
}
