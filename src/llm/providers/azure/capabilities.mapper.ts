import type { ModelCapabilities } from '../../chat.types.js';
import { capabilitiesOf as openaiCapabilities } from '../openai/capabilities.mapper.js';

/**
 * What a deployment can do, as far as its name tells: many bear the name of OpenAI's model. One of another name is taken
 * for the latest; `LLM_CAPABILITIES` says otherwise.
 */
export function capabilitiesOf(deployment: string): ModelCapabilities {
  return openaiCapabilities(deployment.replace(/^gpt-35/, 'gpt-3.5'));
}
