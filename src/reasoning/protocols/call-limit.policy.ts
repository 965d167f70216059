import type { ToolCall } from '../../llm/index.js';

/**
 * Limits of calls in a reply and of parameters in a call. More of them are an error of the model and would occupy the
 * tools for hours; the parser stops there. The first call over the limit gets one of these texts as its arguments. They
 * are not JSON, so the executor rejects the call and quotes the text to the model.
 */
export const MAX_CALLS = 1_000;
export const TOO_MANY_CALLS = `Over ${MAX_CALLS} calls`;
export const MAX_PARAMETERS = 1_000;
export const TOO_MANY_PARAMETERS = `Over ${MAX_PARAMETERS} parameters`;

/**
 * Maximum marks of the format (tags, labels, fences) in a reply beside its calls; the longest known replies have some
 * thousands. The parser does not scan beyond: text stays text, and calls are not parsed.
 */
export const MAX_MARKS = 10_000;

/** The calls up to the limit, and the first one over it. */
export function withinLimit(calls: readonly ToolCall[]): readonly ToolCall[] {
  const extra = calls[MAX_CALLS];
  return extra ? [...calls.slice(0, MAX_CALLS), { ...extra, arguments: TOO_MANY_CALLS }] : calls;
}
