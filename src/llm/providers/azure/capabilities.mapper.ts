import type { ModelCapabilities } from '../../chat/chat.types.js';
import type { FormatMode } from '../../openai-wire/wire-dialect.types.js';
import {
  capabilitiesOf as openaiCapabilities,
  formatModeOf as openaiFormatMode,
} from '../openai/capabilities.mapper.js';

/** Names of OpenAI's models. */
const NAMED = /^(?:gpt-|chatgpt|o\d|codex)/;

/**
 * Capabilities by deployment name, which often is the name of OpenAI's model. Other names get those of the latest
 * model; `LLM_CAPABILITIES` overrides them.
 */
export function capabilitiesOf(deployment: string): ModelCapabilities {
  const capabilities = openaiCapabilities(modelOf(deployment));
  if (NAMED.test(deployment)) return capabilities;
  // Behind it may be a reasoning model, which refuses every temperature but 1.
  const parameterLimits = { ...capabilities.parameterLimits, uncertain: ['temperature', 'stop'] as const };
  return { ...capabilities, parameterLimits };
}

export function formatModeOf(deployment: string): FormatMode {
  return openaiFormatMode(modelOf(deployment));
}

function modelOf(deployment: string): string {
  return deployment.replace(/^gpt-35/, 'gpt-3.5');
}
