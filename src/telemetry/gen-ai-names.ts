/**
 * The names of OpenTelemetry's conventions for generative AI (gen-ai/1.42.0, status Development) as Prometheus writes them:
 * `_` for each dot, and the unit as a suffix. No other file contains one of these names.
 */
export const GEN_AI = {
  clientDuration: 'gen_ai_client_operation_duration_seconds',
  timeToFirstChunk: 'gen_ai_client_operation_time_to_first_chunk_seconds',
  operation: 'gen_ai_operation_name',
  provider: 'gen_ai_provider_name',
  model: 'gen_ai_request_model',
} as const;

/** The buckets that the conventions require for the duration of a call, in s. */
export const GEN_AI_BUCKETS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

/** The value of the label `operation` by kind of model. */
export type GenAiOperation = 'chat' | 'embeddings';

/**
 * The attributes of spans, as the conventions name them (semantic-conventions-genai, gen-ai/1.42.0). Names that begin
 * with `jackdaw.` are our own.
 */
export const ATTRIBUTES = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  requestModel: 'gen_ai.request.model',
  responseModel: 'gen_ai.response.model',
  finishReasons: 'gen_ai.response.finish_reasons',
  timeToFirstChunk: 'gen_ai.response.time_to_first_chunk',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheReadTokens: 'gen_ai.usage.cache_read.input_tokens',
  cacheWriteTokens: 'gen_ai.usage.cache_creation.input_tokens',
  reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
  conversation: 'gen_ai.conversation.id',
  agent: 'gen_ai.agent.name',
  workflow: 'gen_ai.workflow.name',
  tool: 'gen_ai.tool.name',
  toolType: 'gen_ai.tool.type',
  toolCall: 'gen_ai.tool.call.id',
  toolArguments: 'gen_ai.tool.call.arguments',
  toolResult: 'gen_ai.tool.call.result',
  inputMessages: 'gen_ai.input.messages',
  outputMessages: 'gen_ai.output.messages',
  mcpMethod: 'mcp.method.name',
  errorType: 'error.type',
  run: 'jackdaw.run.id',
  step: 'jackdaw.step.name',
  status: 'jackdaw.run.status',
  attempts: 'jackdaw.attempts',
  isCached: 'jackdaw.cached',
  cost: 'jackdaw.cost',
  node: 'jackdaw.node.kind',
} as const;
