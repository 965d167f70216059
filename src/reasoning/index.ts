/** The reasoning loop of agents: a pipeline of named stages, and the protocols for tools and calls. */
export { enhance } from './enhance/enhance.factory.js';
export type { EnhanceOptions } from './enhance/enhance.factory.js';
export type { EnhancingTools } from './enhance/offered-tools.factory.js';
export { assertScriptPackages } from './script/script-thread.js';
export { REMINDER } from './loop/decided-result.factory.js';
export { Processor } from './loop/processor.js';
export { parseOutput } from './output/output.parser.js';
export { assertFormat } from './output/format.policy.js';
export { useOutcome } from './incomplete-outcome.policy.js';
export type { IncompleteReason, OnIncomplete } from './incomplete-outcome.policy.js';
export { PromptBuilder, protocolFor, ProtocolRegistry } from './loop/pipeline.js';
export {
  type Protocol,
  splitThoughts,
  type Conversation,
  type DecodeContext,
  type StreamDecoder,
  type DecodedReply,
} from './protocols/protocol.js';
export { toTranscript } from './loop/compact-context.executor.js';
export { areArgumentsChanged, withEditNote } from './loop/format-results.processor.js';
export { LOOP_VERSION, LOOP_VERSIONS, ReasoningEngine } from './reasoning.engine.js';
export { ReasoningModule, toPlace } from './reasoning.module.js';
export type { ProcessorPlace, ProcessorPlacement, ReasoningModuleOptions } from './reasoning.module.js';
export type { Loop, ReasoningOutcome, ReasoningRequest, WaitingRules } from './reasoning.types.js';
export { TOOL_CALL_VERSION, ToolCallEngine } from './tool-call.engine.js';
export type { ToolCallOutcome } from './tool-call.engine.js';
