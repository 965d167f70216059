import { factsOf } from '../../models/model-facts.js';
import type { ModelCapabilities, ParameterLimits } from '../../chat/chat.types.js';

/** Thinking is off by default; for all other models it is on. */
const WITHOUT_THOUGHT = /^deepseek-chat/;

/**
 * Capabilities by model name. No model of the API reads images. A thinking model answers 400 to a forced tool call
 * ("Thinking mode does not support this tool_choice").
 */
export function capabilitiesOf(model: string): ModelCapabilities {
  const forcedToolChoice = WITHOUT_THOUGHT.test(model);
  return { vision: false, functionCalling: true, jsonMode: true, forcedToolChoice, parameterLimits: limitsOf(model) };
}

/** Parameters without effect on a thinking model (api-docs.deepseek.com/guides/thinking_mode); the API has no seed. */
function limitsOf(model: string): ParameterLimits {
  const { effort } = factsOf({ provider: 'deepseek', name: model });
  const efforts = effort && { efforts: effort };
  if (WITHOUT_THOUGHT.test(model)) return { lacking: ['seed'], maxStops: 16, ...efforts };
  return { lacking: ['temperature', 'topP', 'frequencyPenalty', 'presencePenalty', 'seed'], maxStops: 16, ...efforts };
}
