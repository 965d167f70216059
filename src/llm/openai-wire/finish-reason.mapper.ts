import type { FinishReason } from '../chat.types.js';

/** Finish reasons of a reply that failed at the provider (GLM, DeepSeek, OpenRouter). */
const INTERRUPTED = new Set(['network_error', 'insufficient_system_resource', 'error']);

const REASONS: Readonly<Record<string, FinishReason>> = {
  length: 'length',
  max_tokens: 'length',
  model_length: 'length',
  content_filter: 'content_filter',
  sensitive: 'content_filter',
};

/** Whether the finish reason means that the provider aborted the reply. */
export function isInterrupted(wire: unknown): boolean {
  return typeof wire === 'string' && INTERRUPTED.has(wire);
}

/**
 * Maps a finish reason. An unknown one counts as `stop`. `stop` with tool calls becomes `tool_calls`, and `tool_calls`
 * without one becomes `stop`.
 */
export function toFinishReason(wire: unknown, hasCalls: boolean): FinishReason {
  const special = typeof wire === 'string' && Object.hasOwn(REASONS, wire) ? REASONS[wire] : undefined;
  return special ?? (hasCalls ? 'tool_calls' : 'stop');
}
