import type { ImageLimits, ModelCapabilities, ParameterLimits } from '../../chat/chat.types.js';
import { factsOf } from '../../models/model-facts.js';
import type { FormatMode } from '../../openai-wire/wire-dialect.types.js';

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

/** Search models, and the first reasoning model (github.com/truefoundry/models/pull/2006). */
const CHAT_ONLY = /^(?:gpt-.*-search-|o1-mini)/;

/** Whether a model is a reasoning model, by its name. */
export function isReasoning(model: string): boolean {
  return REASONING.test(model);
}

/**
 * Whether a model may return encrypted reasoning: another name, such as that of a deployment, does not exclude it.
 * @param model may have its vendor before its name, as `openai/gpt-5-mini`
 */
export function mayReason(model: string): boolean {
  const name = model.slice(model.lastIndexOf('/') + 1);
  return !NAMED.test(name) || isReasoning(name);
}

/** Whether a model has Chat Completions only: those for audio and search (developers.openai.com, "Models"). */
export function isChatOnly(model: string): boolean {
  return AUDIO.test(model) || CHAT_ONLY.test(model);
}

/** Capabilities by model name; an unknown model has those of the latest one. */
export function capabilitiesOf(model: string): ModelCapabilities {
  const {
    vision = true,
    audio,
    functionCalling = true,
    jsonMode = true,
  } = factsOf({ provider: 'openai', name: model });
  return {
    vision,
    imageLimits: IMAGE_LIMITS,
    ...(audio && { audio }),
    functionCalling,
    jsonMode,
    parameterLimits: limitsOf(model),
  };
}

/**
 * Reasoning models answer 400 to these parameters (developers.openai.com, "Reasoning models"); the API accepts at most
 * four stop sequences.
 */
export function limitsOf(model: string): ParameterLimits {
  if (!NAMED.test(model)) return { maxStops: 4, uncertain: ['temperature'] };
  const efforts = effortsOf(model);
  if (!isReasoning(model)) return { maxStops: 4, ...efforts };
  return { lacking: ['temperature', 'topP', 'frequencyPenalty', 'presencePenalty', 'stop'], ...efforts };
}

function effortsOf(name: string): Pick<ParameterLimits, 'efforts'> {
  const { effort } = factsOf({ provider: 'openai', name });
  return effort ? { efforts: effort } : {};
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
