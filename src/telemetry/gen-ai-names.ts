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
