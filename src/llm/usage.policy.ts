import type { Usage } from './chat.types.js';

/** Token counts of one call as a provider, or a model of the application, reports them. Each value may be anything. */
export type ReportedUsage = Readonly<Partial<Record<keyof Usage, unknown>>>;

/** No call has more tokens: the largest context windows hold about ten million. A larger count is a mistake. */
const MAX_TOKENS = 100_000_000;

/**
 * Checks the counts of one call. A count that is no number, negative or above 100 million is not reported. The result adds
 * up: the total is the larger of the reported total and the sum of its parts, and all tokens beside the prompt were
 * generated, so that reasoning outside the reported completion has the price of output.
 * @returns undefined where nothing is counted: the call is then not reported
 */
export function checkUsage(reported: ReportedUsage): Usage | undefined {
  const completion = tokensOf(reported.completionTokens);
  const reasoning = tokensOf(reported.reasoningTokens);
  // More reasoning than completion cannot be a part of it.
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
    ...partOf('reasoningTokens', reported, completionTokens),
  };
}

/** A part is at most its whole; absent where it is not reported. */
function partOf(name: 'cachedTokens' | 'reasoningTokens', reported: ReportedUsage, whole: number): Partial<Usage> {
  return isCount(reported[name]) ? { [name]: Math.min(tokensOf(reported[name]), whole) } : {};
}

function tokensOf(value: unknown): number {
  return isCount(value) ? Math.ceil(value) : 0;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= MAX_TOKENS;
}
