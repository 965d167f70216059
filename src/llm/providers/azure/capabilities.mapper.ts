import type { ModelCapabilities } from '../../chat.types.js';
import type { FormatMode } from '../../openai-wire/wire-dialect.types.js';
import {
  capabilitiesOf as openaiCapabilities,
  formatModeOf as openaiFormatMode,
} from '../openai/capabilities.mapper.js';

/**
 * Capabilities by deployment name, which often is the name of OpenAI's model. Other names get those of the latest
 * model; `LLM_CAPABILITIES` overrides them.
 */
export function capabilitiesOf(deployment: string): ModelCapabilities {
  return openaiCapabilities(modelOf(deployment));
}

export function formatModeOf(deployment: string): FormatMode {
  return openaiFormatMode(modelOf(deployment));
}

function modelOf(deployment: string): string {
  return deployment.replace(/^gpt-35/, 'gpt-3.5');
}
