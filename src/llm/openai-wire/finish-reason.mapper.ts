import type { FinishReason } from '../chat.types.js';

/** Names that mean the reply was interrupted by the provider's own trouble (GLM, DeepSeek, OpenRouter). */
const INTERRUPTED = new Set(['network_error', 'insufficient_system_resource', 'error']);

const REASONS: Readonly<Record<string, FinishReason>> = {
  length: 'length',
  max_tokens: 'length',
  model_length: 'length',
  content_filter: 'content_filter',
  sensitive: 'content_filter',
};

/** Whether the provider says with it that it broke the reply off. */
export function isInterrupted(wire: unknown): boolean {
  return typeof wire === 'string' && INTERRUPTED.has(wire);
}

/**
 * Reads why a reply ended. What is unknown counts as its natural end; a natural end with calls is `tool_calls`, and
 * `tool_calls` without one is `stop`.
 */
export function toFinishReason(wire: unknown, hasCalls: boolean): FinishReason {
  const special = typeof wire === 'string' && Object.hasOwn(REASONS, wire) ? REASONS[wire] : undefined;
  return special ?? (hasCalls ? 'tool_calls' : 'stop');
}
