import * as fc from 'fast-check';
import type { ProviderName } from './providers/index.js';
import { talks, type Talk } from './talk-plan.js';

/** A model of a provider, as a request names it. */
interface StrictModel {
  readonly strict: ProviderName;
  /** As in `LLM_PROVIDER`. */
  readonly provider: string;
  readonly model: string;
  readonly vision: boolean;
}

const model = (strict: ProviderName, provider: string, name: string, vision = false): StrictModel => ({
  strict,
  provider,
  model: name,
  vision,
});

export const STRICT_MODELS: readonly StrictModel[] = [
  model('openai', 'openai', 'gpt-5.6-luna', true),
  model('openai', 'openai', 'gpt-4o', true),
  model('azure', 'azure', 'prod-chat', true),
  model('deepseek', 'deepseek', 'deepseek-v4-flash'),
  model('glm', 'glm', 'glm-4.5v', true),
  model('ollama', 'ollama', 'qwen3-vl', true),
  model('anthropic', 'anthropic', 'claude-sonnet-4-5', true),
  model('anthropic', 'anthropic', 'claude-haiku-5-5', true),
  model('mistral', 'openai-compatible', 'mistral-small'),
  model('moonshot', 'openai-compatible', 'kimi-k2.6'),
  model('gemini', 'openai-compatible', 'gemini-3-flash'),
  model('qwen', 'openai-compatible', 'qwen3.5-plus'),
  model('qwen', 'openai-compatible', 'qwen3-32b'),
  model('vllm', 'openai-compatible', 'mistral-7b-instruct'),
];

/** The provider of a requested model. */
export function strictProviderOf(requested: string): ProviderName {
  const found = STRICT_MODELS.find(({ model: name }) => name === requested);
  if (!found) throw new Error(`No strict provider has the model ${requested}.`);
  return found.strict;
}

/** The model and the options of a turn. */
export interface Move {
  readonly model: StrictModel;
  readonly isStreamed: boolean;
  readonly images: readonly ImageKind[];
  readonly hasReasoning: boolean;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly toolChoice: 'none' | 'required' | undefined;
  /** Appended to the user's text, to calls and to results. */
  readonly tail: string;
}

type ImageKind = 'png' | 'url' | 'mislabelled' | 'gif';

const move: fc.Arbitrary<Move> = fc.record({
  model: fc.constantFrom(...STRICT_MODELS),
  isStreamed: fc.boolean(),
  images: fc.oneof(
    { weight: 4, arbitrary: fc.constant([]) },
    {
      weight: 1,
      arbitrary: fc.array(fc.constantFrom<ImageKind>('png', 'url', 'mislabelled', 'gif'), { maxLength: 3 }),
    },
  ),
  hasReasoning: fc.boolean(),
  parameters: fc.constantFrom(
    {},
    {},
    {},
    {},
    { temperature: 0.3 },
    { topP: 0.5 },
    { temperature: 1, topP: 0.9 },
    { maxTokens: 100, seed: 1 },
    { stop: ['END'] },
    { frequencyPenalty: 1 },
  ),
  toolChoice: fc.constantFrom(undefined, undefined, undefined, 'none', 'required'),
  tail: fc.constantFrom('', '', '', ' cut \ud83d'),
});

/** A planned session. The k-th event has the k-th move; the moves repeat. */
export interface ProviderSession {
  readonly talk: Talk;
  readonly moves: readonly Move[];
}

export const providerSessions: fc.Arbitrary<ProviderSession> = fc.record({
  talk: talks,
  moves: fc.array(move, { minLength: 1, maxLength: 4 }),
});
