import type { ModelCapabilities } from '../../chat.types.js';
import type { FormatMode } from '../../openai-wire/wire-dialect.types.js';
import {
  capabilitiesOf as openaiCapabilities,
  formatModeOf as openaiFormatMode,
} from '../openai/capabilities.mapper.js';

/**
 * What a deployment can do, as far as its name tells: many bear the name of OpenAI's model. One of another name is taken
 * for the latest; `LLM_CAPABILITIES` says otherwise.
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
