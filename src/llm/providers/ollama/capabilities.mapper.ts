import type { ModelCapabilities } from '../../chat.types.js';
import type { FormatMode } from '../../openai-wire/wire-dialect.types.js';

const VISION = /llava|vision|vl\b|gemma3|minicpm-v|moondream|llama4/i;
/** Families whose template has no place for tools. */
const WITHOUT_TOOLS = /^(?:llava|gemma2?\b|gemma3\b|phi3|moondream|codellama|tinyllama|llama2|deepseek-r1)/i;

/** What the local model of that name can do, as far as its family's name tells (ollama.com/search?c=tools). */
export function capabilitiesOf(model: string): ModelCapabilities {
  return {
    vision: VISION.test(model),
    // It fetches nothing: pictures come as data (docs.ollama.com/api/openai-compatibility).
    imageUrls: false,
    functionCalling: !WITHOUT_TOOLS.test(model),
    jsonMode: true,
    // Its API passes over `tool_choice` (docs.ollama.com/api/openai-compatibility).
    forcedToolChoice: false,
  };
}

/** A schema becomes a grammar for all that the model writes, which leaves it no way to call a tool. */
export function formatModeOf(_model: string, hasTools: boolean): FormatMode {
  return hasTools ? 'none' : 'schema';
}
