/** History budget that fits every model in use, in tokens. */
const UNKNOWN_BUDGET = 8000;
const MOST_BUDGET = 16_000;
const WINDOW_SHARE = 1 / 4;

const K = 1024;

/**
 * Context windows in tokens by model name; the first matching pattern applies. From the providers' model pages:
 * platform.openai.com/docs/models, docs.claude.com/en/docs/about-claude/models,
 * api-docs.deepseek.com/quick_start/pricing, docs.bigmodel.cn, ai.google.dev/gemini-api/docs/models, docs.mistral.ai,
 * platform.moonshot.ai.
 */
const WINDOWS: readonly (readonly [pattern: RegExp, window: number])[] = [
  [/^gpt-4\.1/, 1_047_576],
  [/^gpt-5(?:\.\d+)?-chat/, 128_000],
  [/^gpt-(?:[5-9]|\d\d)/, 400_000],
  [/^(?:gpt-4o|chatgpt-4o|gpt-4-turbo|gpt-4-(?:1106|0125|vision)|o1-(?:mini|preview))/, 128_000],
  [/^gpt-4-32k/, 32_768],
  [/^gpt-4(?:-\d|$)/, 8192],
  [/^gpt-3\.?5-turbo-instruct/, 4096],
  [/^gpt-3\.?5/, 16_385],
  [/^(?:o\d|codex)/, 200_000],
  [/^gpt-oss/, 128 * K],
  [/^claude-(?:instant|2\.0)/, 100_000],
  [/^(?:claude|anthropic\.claude)/, 200_000],
  [/^deepseek/, 128_000],
  [/^glm-4-long/, 1_000_000],
  [/^glm-4\.5v/, 64_000],
  [/^glm-4v/, 16_000],
  [/^glm-(?:4\.[6-9]|[5-9])/, 200_000],
  [/^glm-4/, 128_000],
  [/^gemini-1\.0|^gemini-pro$/, 32_768],
  [/^gemini/, 1_048_576],
  [/^(?:mistral-(?:large|medium|small)|ministral|codestral|pixtral|devstral|magistral)/, 128_000],
  [/^(?:open-)?(?:mistral-7b|mixtral-8x7b)/, 32_768],
  [/^(?:kimi|moonshot-v1-128k)/, 128 * K],
  [/^moonshot-v1-32k/, 32 * K],
  [/^moonshot-v1-8k/, 8 * K],
];

/** A model: its provider, as in `LLM_PROVIDER`, and its name. */
export interface NamedModel {
  readonly provider: string;
  readonly name: string;
}

/** The context window of a model, in tokens; undefined if unknown. */
export function contextWindowOf({ provider, name }: NamedModel): number | undefined {
  // The window of a local model is a setting of its server.
  if (provider === 'ollama') return undefined;
  // Gateways prefix the name with the vendor: `openai/gpt-4o`.
  const own = name.toLowerCase().split('/').at(-1) ?? '';
  return WINDOWS.find(([pattern]) => pattern.test(own))?.[1];
}

/**
 * Default history budget, in tokens: a quarter of the smallest context window, at most 16,000; 8,000 for a model whose
 * window is unknown.
 */
export function defaultContextTokens(models: readonly NamedModel[]): number {
  const budgets = models.map((model) => {
    const window = contextWindowOf(model);
    return window === undefined ? UNKNOWN_BUDGET : Math.min(Math.floor(window * WINDOW_SHARE), MOST_BUDGET);
  });
  return Math.min(...budgets, MOST_BUDGET);
}
