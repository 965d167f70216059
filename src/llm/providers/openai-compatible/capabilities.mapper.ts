import { factsOf } from '../../models/model-facts.js';
import type { ImageLimits, ModelCapabilities, ParameterLimits } from '../../chat/chat.types.js';
import type { FormatMode, WireDialect } from '../../openai-wire/wire-dialect.types.js';
import { defaultMaxTokens, generationOf } from '../anthropic/capabilities.mapper.js';
import { isReasoning, limitsOf as openAiLimits } from '../openai/capabilities.mapper.js';
import type { ToolRules } from '../../tool-schema.mapper.js';

const MISTRAL = /mistral|mixtral|ministral|magistral|codestral|devstral|pixtral/i;
/** Kimi models that think by default. */
const KIMI = /kimi-k(?:2\.[5-9]|2-thinking|[3-9])/i;
/** Qwen models that think by default; instruct and coder models do not. */
const QWEN = /qwen3(?!.*(?:instruct|coder))/i;
/** Open Qwen models: "parameter.enable_thinking must be set to false for non-streaming calls" (DashScope). */
const OPEN_QWEN = /qwen3-\d+(?:\.\d+)?b(?!.*(?:instruct|coder))/i;
const DEEPSEEK = /deepseek-(?:v[4-9]|reasoner)/i;
const GEMINI = /gemini/i;
/**
 * Models whose chat templates require the tool's name in its result (github.com/scouzi1966/maclocal-api/issues/67,
 * github.com/abetlen/llama-cpp-python/pull/1407).
 */
const NAMED_RESULTS = /gemma|functionary/i;
/** From Gemini 3 on, a call without its thought signature is 400. */
const SIGNING_GEMINI = /gemini-(?:[3-9]|\d\d)/i;
/** Models that take a temperature; of another one it is not known. */
const SAMPLING =
  /mi[sx]tral|ministral|magistral|codestral|devstral|pixtral|qwen|deepseek|llama|gemma|glm-|gpt-(?:[34]|oss)|chatgpt|phi-?\d|command-|granite|hermes|nemotron|moonshot-v|grok/i;
/** All models of Moonshot's API. */
const MOONSHOT = /kimi|moonshot/i;
/** Behind an unknown server may be Gemini or Moonshot: the names that both accept. One object a kind, as a cache key. */
const ANY_SERVER: ToolRules = { name: /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/ };
/**
 * platform.moonshot.ai/docs/api/tool-use: 128 functions. "schema depth exceeds maximum limit of 10"
 * (github.com/anomalyco/opencode/issues/25495).
 */
const TYPED: ToolRules = { ...ANY_SERVER, isTyped: true, maxTools: 128, maxLevels: 10 };
/** "At most 512 function declarations can be specified" (github.com/google-gemini/gemini-cli/issues/19083). */
const OPEN_API: ToolRules = { ...ANY_SERVER, isOpenApi: true, maxTools: 512 };

/** Limits of the model, independent of the server. */
const IMAGE_LIMITS: readonly (readonly [RegExp, ImageLimits])[] = [
  // docs.cloud.google.com, "Image understanding": no GIF, and 7 MB per inline image.
  [
    GEMINI,
    { mediaTypes: ['image/png', 'image/jpeg', 'image/webp'], maxBase64Bytes: Math.ceil((7 * 1024 * 1024) / 3) * 4 },
  ],
  // docs.mistral.ai, "Vision", questions: 10 MB per image, and 8 images per request.
  [MISTRAL, { maxBase64Bytes: Math.ceil((10 * 1024 * 1024) / 3) * 4, maxCount: 8 }],
];

/** Capabilities of an unknown server: those of most servers, with the limits of well-known models. */
export function capabilitiesOf(model: string): ModelCapabilities {
  const imageLimits = IMAGE_LIMITS.find(([name]) => name.test(model))?.[1];
  const { effort } = factsOf({ provider: 'openai-compatible', name: model });
  const limits = limitsOf(model);
  const parameterLimits = effort ? { ...limits, efforts: effort } : limits;
  return {
    vision: false,
    functionCalling: true,
    jsonMode: true,
    ...(imageLimits && { imageLimits }),
    ...(generationOf(model) !== undefined && { maxReplyTokens: defaultMaxTokens(model) }),
    // "tool_choice 'specified' is incompatible with thinking enabled", and the same of Qwen and DeepSeek.
    ...([KIMI, QWEN, DEEPSEEK].some((name) => name.test(model)) && { forcedToolChoice: false }),
    ...(parameterLimits && { parameterLimits }),
  };
}

function limitsOf(model: string): ParameterLimits | undefined {
  // "invalid temperature: only 1 is allowed for this model" (platform.moonshot.ai).
  if (KIMI.test(model)) return { lacking: ['temperature', 'topP'] };
  // `Unknown name "frequency_penalty"` (ai.google.dev/gemini-api/docs/openai).
  if (GEMINI.test(model)) return { lacking: ['frequencyPenalty', 'presencePenalty'] };
  if (isReasoning(ownName(model))) return openAiLimits(ownName(model));
  return SAMPLING.test(model) ? undefined : { uncertain: ['temperature'] };
}

/** The name without the vendor before it, as gateways write it: `openai/gpt-5-mini`. */
function ownName(model: string): string {
  return model.slice(model.lastIndexOf('/') + 1);
}

/** Requirements of a model's own API on requests, by model name. */
export function requirementsOf(model: string): Partial<WireDialect> {
  return { toolRules: ANY_SERVER, ...ownRequirementsOf(model) };
}

function ownRequirementsOf(model: string): Partial<WireDialect> {
  if (MISTRAL.test(model)) {
    // Another server has the model under a path or a tag, as `mistralai/Ministral-8B` or `mistral:7b`.
    if (/[/:]/.test(model)) return { hasShortIds: true };
    // docs.mistral.ai/api: unknown fields are 422, and a stream always ends with its usage.
    return { hasShortIds: true, seedField: 'random_seed', reportsUsage: true };
  }
  // "thinking is enabled but reasoning_content is missing in assistant tool call message"
  if (KIMI.test(model)) return { reasoningEcho: 'with_calls', toolRules: TYPED };
  if (MOONSHOT.test(model)) return { toolRules: TYPED };
  if (DEEPSEEK.test(model)) return { reasoningEcho: 'with_calls' };
  if (OPEN_QWEN.test(model)) return { isStreamOnly: true };
  if (isReasoning(ownName(model))) return { maxTokensField: 'max_completion_tokens' };
  if (GEMINI.test(model)) {
    // github.com/NousResearch/hermes-agent/pull/19728: 400 without the name.
    return { toolRules: OPEN_API, hasSignatures: SIGNING_GEMINI.test(model), hasToolNames: true };
  }
  if (NAMED_RESULTS.test(model)) return { hasToolNames: true };
  return {};
}

/**
 * Most servers support schemas. llama.cpp rejects a grammar beside tools; the model then gets the format as an
 * instruction.
 */
export function formatModeOf(_model: string, hasTools: boolean): FormatMode {
  return hasTools ? 'none' : 'schema';
}
