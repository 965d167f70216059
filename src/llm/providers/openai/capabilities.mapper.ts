import type { ImageLimits, ModelCapabilities, ParameterLimits } from '../../chat.types.js';
import type { FormatMode } from '../../openai-wire/wire-dialect.types.js';

/** Models without vision; all others since GPT-4 Turbo have it. */
const TEXT_ONLY = /^(?:gpt-3|gpt-4(?:-\d|$)|o1-(?:mini|preview)|o3-mini)/;
/** Models without tools: completion models and the first reasoning models. */
const WITHOUT_TOOLS = /instruct|^o1-(?:mini|preview)/;
/** Models before JSON mode, and before schemas (developers.openai.com, "Structured model outputs"). */
const WITHOUT_FORMATS = /^gpt-4(?:-0\d{3}|-32k.*)?$/;
const WITHOUT_SCHEMAS = /^(?:gpt-3|gpt-4-|gpt-4o-2024-05-13|chatgpt-)/;
/** Names of OpenAI's models. */
const NAMED = /^(?:ft:)?(?:gpt-|chatgpt|o\d|codex)/;
/** Reasoning models: the o series, and all since GPT-5 except the chat models. */
const REASONING = /^(?:o\d|codex|gpt-(?:[5-9]|\d\d)(?!.*chat))/;
/** From GPT-5.5 on, reasoning is on by default. */
const REASONS_BY_DEFAULT = /^gpt-(?:5\.[5-9]|[6-9]|\d\d)/;

/** 20 MB per image, 500 images per request (developers.openai.com, "Images and vision", image input requirements). */
const IMAGE_LIMITS: ImageLimits = { maxBase64Bytes: 20 * 1024 * 1024, maxCount: 500 };

/** Models with audio input (developers.openai.com, "Audio and speech"). */
const AUDIO = /^gpt-(?:audio|.*-audio)/;

/** Whether a model is a reasoning model, by its name. */
export function isReasoning(model: string): boolean {
  return REASONING.test(model);
}

/** Capabilities by model name; an unknown model has those of the latest one. */
export function capabilitiesOf(model: string): ModelCapabilities {
  const functionCalling = !WITHOUT_TOOLS.test(model);
  return {
    vision: !TEXT_ONLY.test(model),
    imageLimits: IMAGE_LIMITS,
    ...(AUDIO.test(model) && { audio: true }),
    functionCalling,
    jsonMode: functionCalling,
    parameterLimits: limitsOf(model),
  };
}

/**
 * Reasoning models answer 400 to these parameters (developers.openai.com, "Reasoning models"); the API accepts at most
 * four stop sequences.
 */
export function limitsOf(model: string): ParameterLimits {
  if (!NAMED.test(model)) return { maxStops: 4, uncertain: ['temperature'] };
  if (!isReasoning(model)) return { maxStops: 4 };
  return { lacking: ['temperature', 'topP', 'frequencyPenalty', 'presencePenalty', 'stop'] };
}

/**
 * Chat completions reject tools beside reasoning ("Function tools with reasoning_effort are not supported for …, use
 * /v1/responses or set reasoning_effort to 'none'"), even if reasoning is on by default only.
 */
export function withoutReasoningBesideTools(model: string, hasTools: boolean): Record<string, unknown> {
  return hasTools && REASONS_BY_DEFAULT.test(model) ? { reasoning_effort: 'none' } : {};
}

/** Response formats that a model supports, by its name. */
export function formatModeOf(model: string): FormatMode {
  if (WITHOUT_FORMATS.test(model)) return 'none';
  return WITHOUT_SCHEMAS.test(model) ? 'object' : 'strict';
}
