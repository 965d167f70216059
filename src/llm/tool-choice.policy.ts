import type { ChatRequest, ModelCapabilities } from './chat.types.js';

/**
 * Adapts a request to a model that does not support forced tool calls. `none` removes the tools; a forced call becomes
 * optional, and the caller must check for it.
 */
export function fitToolChoice(request: ChatRequest, { forcedToolChoice = true }: ModelCapabilities): ChatRequest {
  const { toolChoice, tools, ...rest } = request;
  if (toolChoice === undefined || forcedToolChoice) return request;
  return toolChoice === 'none' ? rest : { ...rest, ...(tools && { tools }) };
}
