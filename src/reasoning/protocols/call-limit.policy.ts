import type { ToolCall } from '../../llm/index.js';

/**
 * A reply with more calls, or a call with more parameters, is no plan but a fault, and would keep the tools busy for
 * hours. It is read no further. The first call too many stands among the others with one of these texts for its
 * arguments: they are no JSON, so the executor refuses the call and quotes the text to the model.
 */
export const MAX_CALLS = 1_000;
export const TOO_MANY_CALLS = `Over ${MAX_CALLS} calls`;
export const MAX_PARAMETERS = 1_000;
export const TOO_MANY_PARAMETERS = `Over ${MAX_PARAMETERS} parameters`;

/**
 * Marks of the format (tags, labels, fences) that a reply may have beside its calls; of the longest replies some thousands are known.
 * What stands behind more of them is looked at no further: text stays text, and calls are not read on.
 */
export const MAX_MARKS = 10_000;

/** The calls of a reply that is read no further than the first one too many. */
export function withinLimit(calls: readonly ToolCall[]): readonly ToolCall[] {
  const extra = calls[MAX_CALLS];
  return extra ? [...calls.slice(0, MAX_CALLS), { ...extra, arguments: TOO_MANY_CALLS }] : calls;
}
