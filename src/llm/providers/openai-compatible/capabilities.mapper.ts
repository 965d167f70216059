import type { ModelCapabilities } from '../../chat.types.js';
import type { FormatMode } from '../../openai-wire/wire-dialect.types.js';

/** A server that nobody knows is taken to do what most do. */
export function capabilitiesOf(_model: string): ModelCapabilities {
  return { vision: false, functionCalling: true, jsonMode: true };
}

/** Most take schemas; llama.cpp refuses a grammar beside tools, so the model is then told in words. */
export function formatModeOf(_model: string, hasTools: boolean): FormatMode {
  return hasTools ? 'none' : 'schema';
}
