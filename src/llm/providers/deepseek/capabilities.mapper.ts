import type { ModelCapabilities } from '../../chat.types.js';

/** What DeepSeek's model of that name can do: none of the API's models reads images. */
export function capabilitiesOf(_model: string): ModelCapabilities {
  return { vision: false, functionCalling: true, jsonMode: true };
}
