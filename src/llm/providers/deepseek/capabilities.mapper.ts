import type { ModelCapabilities, ParameterLimits } from '../../chat.types.js';

/** Thinks only when it is asked to; all others do unless they are asked not to. */
const WITHOUT_THOUGHT = /^deepseek-chat/;

/**
 * What DeepSeek's model of that name can do: none of the API's models reads images, and one that thinks answers 400 to
 * whoever would make it call a tool ("Thinking mode does not support this tool_choice").
 */
export function capabilitiesOf(model: string): ModelCapabilities {
  const forcedToolChoice = WITHOUT_THOUGHT.test(model);
  return { vision: false, functionCalling: true, jsonMode: true, forcedToolChoice, parameterLimits: limitsOf(model) };
}

/** What has no effect on a model that thinks (api-docs.deepseek.com/guides/thinking_mode); the API has no seed. */
function limitsOf(model: string): ParameterLimits {
  if (WITHOUT_THOUGHT.test(model)) return { lacking: ['seed'], maxStops: 16 };
  return { lacking: ['temperature', 'topP', 'frequencyPenalty', 'presencePenalty', 'seed'], maxStops: 16 };
}
