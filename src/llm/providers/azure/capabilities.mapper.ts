import type { ModelCapabilities } from '../../chat.types.js';
import type { ParameterLimits } from '../../parameter.policy.js';
import { capabilitiesOf as openaiCapabilities, limitsOf as openaiLimits } from '../openai/capabilities.mapper.js';

/**
 * What a deployment can do, as far as its name tells: many bear the name of OpenAI's model. One of another name is taken
 * for the latest; `LLM_CAPABILITIES` says otherwise.
 */
export function capabilitiesOf(deployment: string): ModelCapabilities {
  return openaiCapabilities(modelOf(deployment));
}

/** The same for what it does not take. */
export function limitsOf(deployment: string): ParameterLimits {
  return openaiLimits(modelOf(deployment));
}

function modelOf(deployment: string): string {
  return deployment.replace(/^gpt-35/, 'gpt-3.5');
}
