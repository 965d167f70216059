import type { ModelCapabilities } from '../../chat/chat.types.js';

/** Capabilities of the offline model. */
export function capabilitiesOf(_model: string): ModelCapabilities {
  return { vision: false, functionCalling: true, jsonMode: false, structuredOutput: false };
}
