import type { ChatRequest, ModelCapabilities } from './chat.types.js';

/**
 * The request as a model takes it that cannot be made to call a tool: told none of them where it is to call none, and
 * free where it is to call one. Whoever needs the call looks whether it came.
 */
export function fitToolChoice(request: ChatRequest, { forcedToolChoice = true }: ModelCapabilities): ChatRequest {
  const { toolChoice, tools, ...rest } = request;
  if (toolChoice === undefined || forcedToolChoice) return request;
  return toolChoice === 'none' ? rest : { ...rest, ...(tools && { tools }) };
}
