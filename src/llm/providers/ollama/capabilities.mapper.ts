import type { ModelCapabilities } from '../../chat/chat.types.js';
import { factsOf } from '../../models/model-facts.js';
import type { FormatMode } from '../../openai-wire/wire-dialect.types.js';

/** Capabilities of a local model, derived from the name of its family. */
export function capabilitiesOf(model: string): ModelCapabilities {
  const { vision = false, functionCalling = true, effort } = factsOf({ provider: 'ollama', name: model });
  return {
    vision,
    // Images must be inline data: Ollama fetches no URLs (docs.ollama.com/api/openai-compatibility).
    imageUrls: false,
    // Its list of image types (github.com/ollama/ollama, openai/openai.go, decodeImageURL).
    imageLimits: { mediaTypes: ['image/png', 'image/jpeg', 'image/webp'] },
    functionCalling,
    jsonMode: true,
    // The API ignores `tool_choice` (docs.ollama.com/api/openai-compatibility).
    forcedToolChoice: false,
    ...(effort && { parameterLimits: { efforts: effort } }),
  };
}

/** A schema becomes a grammar for the whole output, which excludes tool calls. */
export function formatModeOf(_model: string, hasTools: boolean): FormatMode {
  return hasTools ? 'none' : 'schema';
}
