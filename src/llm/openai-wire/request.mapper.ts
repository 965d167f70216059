import type { ChatRequest, ModelParameters } from '../chat.types.js';
import { toWireMessage } from './message.mapper.js';
import { toWireTools } from './tool.mapper.js';
import type { WireDialect } from './wire-dialect.types.js';

export interface WireTarget {
  readonly model: string;
  readonly dialect: WireDialect;
}

/** Writes the body of `POST /chat/completions`. */
export function toWireBody(request: ChatRequest, target: WireTarget, stream: boolean): Record<string, unknown> {
  const { model, dialect } = target;
  const tools = request.tools?.length ? request.tools : undefined;
  return {
    model,
    messages: request.messages.map((message) => toWireMessage(message, dialect.reasoningEcho)),
    ...(tools && { tools: toWireTools(tools) }),
    ...(request.parameters && toWireParameters(request.parameters, dialect)),
    ...dialect.extras?.(model, tools !== undefined),
    ...(stream && { stream: true, stream_options: { include_usage: true } }),
  };
}

/** Undefined fields vanish when the body is written as JSON. */
function toWireParameters(parameters: ModelParameters, dialect: WireDialect): Record<string, unknown> {
  return {
    temperature: parameters.temperature,
    top_p: parameters.topP,
    stop: parameters.stop,
    [dialect.maxTokensField]: parameters.maxTokens,
  };
}
