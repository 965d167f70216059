import type { FakeRequest } from '../fake-llm.types.js';

export const PROVIDER_NAMES = [
  'openai',
  'responses',
  'azure',
  'deepseek',
  'moonshot',
  'glm',
  'qwen',
  'mistral',
  'gemini',
  'ollama',
  'vllm',
  'anthropic',
] as const;

export type ProviderName = (typeof PROVIDER_NAMES)[number];

/** An answer of a provider that rejects a request. */
export interface Rejection {
  readonly status: number;
  readonly body: unknown;
}

/** A rule that a provider enforces on requests. */
export interface ProviderRule {
  /** The first provider, and a name that is unique for it. */
  readonly id: `${ProviderName}/${string}`;
  readonly providers: readonly ProviderName[];
  /** One sentence. */
  readonly rule: string;
  /** URL of the provider's documentation or source, or of a report with the provider's error. */
  readonly source: string;
  readonly check: (request: FakeRequest) => Rejection | undefined;
}

/** A broken rule, in the terms of the provider's error body. */
export interface Fault {
  readonly message: string;
  readonly param?: string;
  readonly code?: string;
  readonly status?: number;
}

type RuleMaker = (
  name: string,
  rule: string,
  source: string,
  find: (request: FakeRequest) => Fault | undefined,
) => ProviderRule;

/** Makes the rules of providers with one form of error body. */
export function rulesOf(
  providers: readonly [ProviderName, ...ProviderName[]],
  toBody: (fault: Fault) => unknown,
): RuleMaker {
  return (name, rule, source, find) => ({
    id: `${providers[0]}/${name}`,
    providers,
    rule,
    source,
    check: (request) => {
      const fault = find(request);
      return fault && { status: fault.status ?? 400, body: toBody(fault) };
    },
  });
}
