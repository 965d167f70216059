import type { ImageLimits, ModelCapabilities } from '../../chat.types.js';
import type { FormatMode } from '../../openai-wire/wire-dialect.types.js';

/** Limits that depend on the model, whatever server it is behind. */
const IMAGE_LIMITS: readonly (readonly [RegExp, ImageLimits])[] = [
  // docs.cloud.google.com, "Image understanding": no GIF, and 7 MB for an inline image.
  [
    /gemini/i,
    { mediaTypes: ['image/png', 'image/jpeg', 'image/webp'], maxBase64Bytes: Math.ceil((7 * 1024 * 1024) / 3) * 4 },
  ],
  // docs.mistral.ai, "Vision", questions: 10 MB for an image, and 8 images for a request.
  [/mistral|pixtral/i, { maxBase64Bytes: Math.ceil((10 * 1024 * 1024) / 3) * 4, maxCount: 8 }],
];

/** Capabilities of a server that is not known: what most servers have. */
export function capabilitiesOf(model: string): ModelCapabilities {
  const imageLimits = IMAGE_LIMITS.find(([name]) => name.test(model))?.[1];
  return { vision: false, functionCalling: true, jsonMode: true, ...(imageLimits && { imageLimits }) };
}

/** Most take schemas; llama.cpp refuses a grammar beside tools, so the model is then told in words. */
export function formatModeOf(_model: string, hasTools: boolean): FormatMode {
  return hasTools ? 'none' : 'schema';
}
