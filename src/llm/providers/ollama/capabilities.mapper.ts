import type { ModelCapabilities } from '../../chat.types.js';
import type { FormatMode } from '../../openai-wire/wire-dialect.types.js';

const VISION = /llava|vision|vl\b|gemma3|minicpm-v|moondream|llama4/i;
/** Model families whose prompt template does not support tools. */
const WITHOUT_TOOLS = /^(?:llava|gemma2?\b|gemma3\b|phi3|moondream|codellama|tinyllama|llama2|deepseek-r1)/i;

/** Capabilities of a local model, derived from the name of its family (ollama.com/search?c=tools). */
export function capabilitiesOf(model: string): ModelCapabilities {
  return {
    vision: VISION.test(model),
    // Images must be inline data: Ollama fetches no URLs (docs.ollama.com/api/openai-compatibility).
    imageUrls: false,
    // Its list of image types (github.com/ollama/ollama, openai/openai.go, decodeImageURL).
    imageLimits: { mediaTypes: ['image/png', 'image/jpeg', 'image/webp'] },
    functionCalling: !WITHOUT_TOOLS.test(model),
    jsonMode: true,
    // The API ignores `tool_choice` (docs.ollama.com/api/openai-compatibility).
    forcedToolChoice: false,
  };
}

/** A schema becomes a grammar for the whole output, which excludes tool calls. */
export function formatModeOf(_model: string, hasTools: boolean): FormatMode {
  return hasTools ? 'none' : 'schema';
}
