import type { ModelCapabilities } from '../../chat.types.js';

/** A server that nobody knows is taken to do what most do. */
export function capabilitiesOf(_model: string): ModelCapabilities {
  return { vision: false, functionCalling: true, jsonMode: true };
}
