import type { ImageLimits, ModelCapabilities, ParameterLimits } from '../../chat.types.js';

/** `claude-sonnet-4-5-20250929`, `claude-opus-5`, with a platform's or gateway's name before it. */
const FAMILY_FIRST = /claude-(?:opus|sonnet|haiku|fable|mythos)-(\d+)(?:[-.](\d{1,2})(?!\d))?/i;
/** `claude-3-5-haiku-20241022`. */
const VERSION_FIRST = /claude-(\d+)(?:[-.](\d{1,2})(?!\d))?(?![\d])/i;
const NEWEST = 99;
/**
 * 8000 pixels on a side, or 2000 in a request with more than 20 images; 100 images for a request (platform.claude.com,
 * "Vision", general limits). The API counts its 5 MB for an image in base64: "image exceeds 5 MB maximum: … > 5242880".
 */
const IMAGE_LIMITS: ImageLimits = {
  maxBase64Bytes: 5_242_880,
  maxSide: 8000,
  maxCount: 100,
  crowd: { above: 20, maxSide: 2000 },
};

/**
 * What Claude of that name can do; of a name that is not known yet, what the newest can. Behind the same API there are
 * also others' models, of which little is assumed.
 */
export function capabilitiesOf(model: string): ModelCapabilities {
  const generation = generationOf(model);
  const parameterLimits = limitsOf(generation ?? 0);
  if (generation === undefined) return { vision: false, functionCalling: true, jsonMode: false, parameterLimits };
  return {
    vision: generation >= 3,
    imageLimits: IMAGE_LIMITS,
    functionCalling: generation >= 3,
    jsonMode: generation >= 4.5,
    // Not while it thinks (platform.claude.com, "Tool use with thinking").
    forcedToolChoice: !thinksByDefault(model),
    parameterLimits,
  };
}

/**
 * What it does not take: what the API never had, since Claude 4.7 neither temperature nor topP, and before that not both
 * at once (platform.claude.com, "Migration guide").
 */
function limitsOf(generation: number): ParameterLimits {
  const sampling = generation >= 4.7 ? (['temperature', 'topP'] as const) : [];
  return {
    lacking: ['frequencyPenalty', 'presencePenalty', 'seed', ...sampling],
    maxTemperature: 1,
    isOneOfTemperatureAndTopP: generation >= 4.1,
  };
}

/** Whether it thinks before it answers without being asked to: all since Claude 5 (platform.claude.com, "Thinking"). */
export function thinksByDefault(model: string): boolean {
  return (generationOf(model) ?? 0) >= 5;
}

/**
 * The longest reply that is asked for when nobody says, in tokens: what the model can, but no more than a reply that is
 * not streamed can bring in ten minutes (platform.claude.com, "Models overview" and "Streaming").
 */
export function defaultMaxTokens(model: string): number {
  const generation = generationOf(model);
  if (generation === undefined) return 8192;
  if (generation >= 3.7) return 32_000;
  return generation >= 3.5 ? 8192 : 4096;
}

/** 4.5 for `claude-sonnet-4-5`; undefined when it is not a Claude. */
export function generationOf(model: string): number | undefined {
  const [, major, minor = '0'] = FAMILY_FIRST.exec(model) ?? VERSION_FIRST.exec(model) ?? [];
  if (major !== undefined) return Number(`${major}.${minor}`);
  return /claude/i.test(model) ? NEWEST : undefined;
}
