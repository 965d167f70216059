import type { ModelCapabilities } from '../../chat.types.js';

/** What the offline model can do. */
export function capabilitiesOf(_model: string): ModelCapabilities {
  return { vision: false, functionCalling: true, jsonMode: false, structuredOutput: false };
}
