import { factsOf } from '../../models/model-facts.js';
import type { ImageLimits, ModelCapabilities, ParameterLimits } from '../../chat/chat.types.js';

/** `claude-sonnet-4-5-20250929`, `claude-opus-5`, also after the prefix of a platform or gateway. */
const FAMILY_FIRST = /claude-(?:opus|sonnet|haiku|fable|mythos)-(\d+)(?:[-.](\d{1,2})(?!\d))?/i;
/** `claude-3-5-haiku-20241022`. */
const VERSION_FIRST = /claude-(\d+)(?:[-.](\d{1,2})(?!\d))?(?![\d])/i;
const NEWEST = 99;
/** The first model with an effort; thinking needs a budget. */
const OPUS_4_5 = /claude-opus-4[-.]5/i;
/**
 * 8000 pixels per side, or 2000 in a request with more than 20 images; 100 images per request (platform.claude.com,
 * "Vision", general limits). The API applies its limit of 5 MB to the base64 text: "image exceeds 5 MB maximum: … >
 * 5242880".
 */
const IMAGE_LIMITS: ImageLimits = {
  maxBase64Bytes: 5_242_880,
  maxSide: 8000,
  maxCount: 100,
  crowd: { above: 20, maxSide: 2000 },
};

/**
 * Capabilities by model name. An unknown Claude has those of the newest one. The API also serves other vendors' models,
 * for which only function calling is assumed.
 */
export function capabilitiesOf(model: string): ModelCapabilities {
  const generation = generationOf(model);
  const { effort } = factsOf({ provider: 'anthropic', name: model });
  const parameterLimits = {
    ...limitsOf(generation ?? 0),
    ...(effort && { efforts: effort }),
    ...(effortKindOf(model) !== 'effort' && { hasNoSamplingBesideEffort: true }),
  };
  if (generation === undefined) return { vision: false, functionCalling: true, jsonMode: false, parameterLimits };
  return {
    vision: generation >= 3,
    imageLimits: IMAGE_LIMITS,
    functionCalling: generation >= 3,
    jsonMode: enforcesSchemas(model),
    // Not with thinking (platform.claude.com, "Tool use with thinking").
    forcedToolChoice: !thinksByDefault(model),
    parameterLimits,
  };
}

/**
 * Unsupported parameters. Penalties and seed: always. Temperature and topP: since Claude 4.7; before that, both
 * together (platform.claude.com, "Migration guide").
 */
function limitsOf(generation: number): ParameterLimits {
  const sampling = generation >= 4.7 ? (['temperature', 'topP'] as const) : [];
  return {
    lacking: ['frequencyPenalty', 'presencePenalty', 'seed', ...sampling],
    maxTemperature: 1,
    isOneOfTemperatureAndTopP: generation >= 4.1,
  };
}

/** Whether the model enforces the schemas of answers and of strict tools (platform.claude.com, "Structured outputs"). */
export function enforcesSchemas(model: string): boolean {
  return (generationOf(model) ?? 0) >= 4.5;
}

/** Whether thinking is on by default: since Claude 5 (platform.claude.com, "Thinking"). */
export function thinksByDefault(model: string): boolean {
  return (generationOf(model) ?? 0) >= 5;
}

/**
 * Form of the effort in requests. `effort`: `output_config.effort` alone. `adaptive`: also `thinking`, which is off by
 * default. `budget`: a number of tokens for thinking (platform.claude.com, "Effort" and "Thinking").
 */
export function effortKindOf(model: string): 'effort' | 'adaptive' | 'budget' {
  const generation = generationOf(model);
  if (generation === undefined || generation >= 5 || OPUS_4_5.test(model)) return 'effort';
  return generation >= 4.6 ? 'adaptive' : 'budget';
}

/**
 * Default of `max_tokens`: the model's maximum, but not more than a reply without streaming can deliver in ten minutes
 * (platform.claude.com, "Models overview" and "Streaming").
 */
export function defaultMaxTokens(model: string): number {
  const generation = generationOf(model);
  if (generation === undefined) return 8192;
  if (generation >= 3.7) return 32_000;
  return generation >= 3.5 ? 8192 : 4096;
}

/** 4.5 for `claude-sonnet-4-5`; undefined for a model that is not Claude. */
export function generationOf(model: string): number | undefined {
  const [, major, minor = '0'] = FAMILY_FIRST.exec(model) ?? VERSION_FIRST.exec(model) ?? [];
  if (major !== undefined) return Number(`${major}.${minor}`);
  return /claude/i.test(model) ? NEWEST : undefined;
}
