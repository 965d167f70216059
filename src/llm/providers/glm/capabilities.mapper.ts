import type { ModelCapabilities } from '../../chat.types.js';

/** The models that read images have a `v` behind their version: `glm-4v`, `glm-4.5v`. */
const VISION = /^glm-[\d.]+v/i;

/** What GLM's model of that name can do. */
export function capabilitiesOf(model: string): ModelCapabilities {
  return { vision: VISION.test(model), functionCalling: true, jsonMode: true };
}
