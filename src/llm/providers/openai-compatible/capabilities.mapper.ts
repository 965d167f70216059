import type { ImageLimits, ModelCapabilities } from '../../chat.types.js';
import type { FormatMode } from '../../openai-wire/wire-dialect.types.js';

/** Limits of the model, independent of the server. */
const IMAGE_LIMITS: readonly (readonly [RegExp, ImageLimits])[] = [
  // docs.cloud.google.com, "Image understanding": no GIF, and 7 MB per inline image.
  [
    /gemini/i,
    { mediaTypes: ['image/png', 'image/jpeg', 'image/webp'], maxBase64Bytes: Math.ceil((7 * 1024 * 1024) / 3) * 4 },
  ],
  // docs.mistral.ai, "Vision", questions: 10 MB per image, and 8 images per request.
  [/mistral|pixtral/i, { maxBase64Bytes: Math.ceil((10 * 1024 * 1024) / 3) * 4, maxCount: 8 }],
];

/** Capabilities of an unknown server: those of most servers. */
export function capabilitiesOf(model: string): ModelCapabilities {
  const imageLimits = IMAGE_LIMITS.find(([name]) => name.test(model))?.[1];
  return { vision: false, functionCalling: true, jsonMode: true, ...(imageLimits && { imageLimits }) };
}

/**
 * Most servers support schemas. llama.cpp rejects a grammar beside tools; the model then gets the format as an
 * instruction.
 */
export function formatModeOf(_model: string, hasTools: boolean): FormatMode {
  return hasTools ? 'none' : 'schema';
}
