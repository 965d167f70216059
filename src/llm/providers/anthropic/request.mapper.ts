import type { ChatRequest, ModelParameters } from '../../chat.types.js';
import { defaultMaxTokens, thinksByDefault } from './capabilities.mapper.js';
import { calledTools, toWireConversation } from './message.mapper.js';
import { standIns, toWireChoice, toWireTools } from './tool.mapper.js';

/** Writes the body of `POST /v1/messages`. Undefined fields vanish when it is written as JSON. */
export function toWireBody(request: ChatRequest, model: string, stream: boolean): Record<string, unknown> {
  const { system, messages } = toWireConversation(request.messages, model);
  return {
    model,
    ...(system.trim() !== '' && { system }),
    messages,
    ...toolFields(request),
    ...toWireParameters(request.parameters ?? {}, model),
    // Without it the thoughts of these models come empty.
    ...(thinksByDefault(model) && { thinking: { type: 'adaptive', display: 'summarized' } }),
    ...(stream && { stream: true }),
  };
}

function toolFields({ tools = [], toolChoice, messages }: ChatRequest): Record<string, unknown> {
  if (tools.length > 0) return { tools: toWireTools(tools), tool_choice: toWireChoice(toolChoice) };
  const called = calledTools(messages);
  return called.length === 0 ? {} : { tools: standIns(called), tool_choice: { type: 'none' } };
}

function toWireParameters(parameters: ModelParameters, model: string): Record<string, unknown> {
  return {
    max_tokens: parameters.maxTokens ?? defaultMaxTokens(model),
    temperature: parameters.temperature,
    top_p: parameters.topP,
    stop_sequences: parameters.stop,
  };
}
