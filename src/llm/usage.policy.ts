import type { Usage } from './chat.types.js';

/** Token counts of one call as a provider or an application's model reports them, not validated. */
export type ReportedUsage = Readonly<Partial<Record<keyof Usage, unknown>>>;

/** Maximum plausible token count: the largest context windows hold about ten million. */
const MAX_TOKENS = 100_000_000;

/**
 * Validates the counts of one call. A count that is not a number, negative or above 100 million is ignored. The result
 * is consistent: the total is the larger of the reported total and the sum of its parts. All tokens beside the prompt
 * count as completion, so reasoning outside the reported completion has the output price.
 * @returns undefined if all counts are zero
 */
export function checkUsage(reported: ReportedUsage): Usage | undefined {
  const completion = tokensOf(reported.completionTokens);
  const reasoning = tokensOf(reported.reasoningTokens);
  // More reasoning than completion means that it is not part of the completion.
  const generated = reasoning > completion ? completion + reasoning : completion;
  const prompt = tokensOf(reported.promptTokens);
  const totalTokens = Math.max(tokensOf(reported.totalTokens), prompt + generated);
  const promptTokens = prompt > 0 ? prompt : totalTokens - generated;
  const completionTokens = totalTokens - promptTokens;
  if (totalTokens === 0) return undefined;
  return {
    promptTokens,
    completionTokens,
    totalTokens,
    ...partOf('cachedTokens', reported, promptTokens),
    ...partOf('cacheWriteTokens', reported, promptTokens - cachedOf(reported, promptTokens)),
    ...partOf('reasoningTokens', reported, completionTokens),
  };
}

/** A part is at most its whole; absent if it is not reported. */
function partOf(
  name: 'cachedTokens' | 'cacheWriteTokens' | 'reasoningTokens',
  reported: ReportedUsage,
  whole: number,
): Partial<Usage> {
  return isCount(reported[name]) ? { [name]: Math.min(tokensOf(reported[name]), whole) } : {};
}

function cachedOf({ cachedTokens }: ReportedUsage, prompt: number): number {
  return Math.min(tokensOf(cachedTokens), prompt);
}

function tokensOf(value: unknown): number {
  return isCount(value) ? Math.ceil(value) : 0;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= MAX_TOKENS;
}
