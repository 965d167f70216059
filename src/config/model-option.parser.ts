import { checked, list } from './env-value.schema.js';

/** The providers with variables of their own; an application may add others. */
export const LLM_PROVIDERS = [
  'openai',
  'anthropic',
  'azure',
  'deepseek',
  'glm',
  'ollama',
  'openai-compatible',
  'offline',
] as const;
export type LlmProvider = (typeof LLM_PROVIDERS)[number];

/** The model capabilities, by the names of `ModelCapabilities`. */
const CAPABILITIES = ['vision', 'imageUrls', 'audio', 'functionCalling', 'jsonMode', 'forcedToolChoice'] as const;
type CapabilityChanges = Readonly<Partial<Record<(typeof CAPABILITIES)[number], boolean>>>;

/** A model; without `model` the provider's default. */
export interface ModelChoice {
  readonly provider: string;
  readonly model?: string;
}

/** The parameters of model calls, by the names of `ModelParameters`. */
const PARAMETERS = [
  'temperature',
  'maxTokens',
  'topP',
  'frequencyPenalty',
  'presencePenalty',
  'stop',
  'seed',
  'effort',
] as const;
type QuirkParameter = (typeof PARAMETERS)[number];

const ENTRY = /^(!?)\s*([A-Za-z]+)$/;
const MOST_STOPS = 16;

/** `LLM_CAPABILITIES`: names, comma-separated; `!` before a name marks it as unsupported. Others are unchanged. */
export function capabilities() {
  const allowed = `some of ${CAPABILITIES.join(', ')}, each once, comma-separated, with ! before an unsupported one`;
  return checked((text): CapabilityChanges | undefined => {
    const changes: Record<string, boolean> = {};
    for (const part of text.split(',')) {
      const [, not, name = ''] = ENTRY.exec(part.trim()) ?? [];
      if (!CAPABILITIES.some((known) => known === name) || name in changes) return undefined;
      changes[name] = not === '';
    }
    return changes;
  }, allowed);
}

/** `LLM_QUIRKS`: `drop:parameter`, comma-separated. @returns the parameters */
export function quirks() {
  const allowed = `drop:parameter with a parameter of ${PARAMETERS.join(', ')}, each once, comma-separated`;
  return checked((text): readonly QuirkParameter[] | undefined => {
    const given = text.split(',').map((part) => /^drop:(.+)$/.exec(part.trim())?.[1]);
    const known = PARAMETERS.filter((name) => given.includes(name));
    return known.length === given.length ? known : undefined;
  }, allowed);
}

/** All parameters that `LLM_QUIRKS` can name. */
export const QUIRK_PARAMETERS: readonly QuirkParameter[] = PARAMETERS;

/** `LLM_STOP`: a text, or a JSON array of texts, for several texts or for characters that a variable cannot contain. */
export function stops() {
  return checked(parseStops, `a text, or a JSON array of 1 to ${MOST_STOPS} texts`);
}

function parseStops(text: string): readonly string[] | undefined {
  if (!text.startsWith('[')) return [text];
  try {
    const value: unknown = JSON.parse(text);
    const isTexts = Array.isArray(value) && value.every((one) => typeof one === 'string' && one !== '');
    return isTexts && value.length > 0 && value.length <= MOST_STOPS ? (value as string[]) : undefined;
  } catch {
    return undefined;
  }
}

const PATTERN = /^[^\s:*]+:\S+$/;

/**
 * `LLM_REQUEST_MODELS`: patterns of `provider:model`, comma-separated; `*` alone matches all, `none` matches nothing.
 */
export function modelPatterns() {
  return checked((text): readonly string[] | undefined => {
    if (text === 'none') return [];
    const patterns = text.split(',').map((part) => part.trim());
    return patterns.every((one) => one === '*' || PATTERN.test(one)) ? patterns : undefined;
  }, 'provider:model, with * for any characters, comma-separated; *, or none');
}

/** Models as `provider:model`, comma-separated; a provider alone means its default model. */
export function modelList() {
  return list(parseModel, `models as provider:model, comma-separated, of the providers ${LLM_PROVIDERS.join(', ')}`);
}

function parseModel(text: string): ModelChoice | undefined {
  const [provider = '', ...rest] = text.split(':');
  const known = LLM_PROVIDERS.find((one) => one === provider);
  if (rest.length === 0) return known && { provider: known };
  const model = rest.join(':');
  return model.trim() === '' ? undefined : known && { provider: known, model };
}
