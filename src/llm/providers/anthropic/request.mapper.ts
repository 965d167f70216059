import type { JsonSchema } from '../../../kernel/index.js';
import type { ChatRequest, ModelParameters } from '../../chat.types.js';
import type { Message } from '../../message.types.js';
import { withFormat } from '../../response-format.policy.js';
import { toStrictSchema } from '../../strict-schema.mapper.js';
import { defaultMaxTokens, thinksByDefault } from './capabilities.mapper.js';
import { calledTools, toWireConversation } from './message.mapper.js';
import { standIns, toWireChoice, toWireTools } from './tool.mapper.js';

/** Builds the body of `POST /v1/messages`. JSON omits undefined fields. */
export function toWireBody(request: ChatRequest, model: string, stream: boolean): Record<string, unknown> {
  const schema = enforcedSchema(request);
  const { system, messages } = toWireConversation(messagesWithFormat(request, schema), model);
  return {
    model,
    ...(system.trim() !== '' && { system }),
    messages,
    ...toolFields(request),
    ...toWireParameters(request.parameters ?? {}, model),
    ...(schema && { output_config: { format: { type: 'json_schema', schema } } }),
    // Without it, the reasoning of these models is empty.
    ...(thinksByDefault(model) && { thinking: { type: 'adaptive', display: 'summarized' } }),
    ...(stream && { stream: true }),
  };
}

/**
 * Claude enforces JSON by schema only, without references and with at most 24 optional properties (platform.claude.com,
 * "Structured outputs").
 */
function enforcedSchema({ responseFormat }: ChatRequest): JsonSchema | undefined {
  if (responseFormat === undefined || responseFormat === 'json') return undefined;
  return toStrictSchema(responseFormat.schema, { maxOptional: 24, mayRefer: false });
}

function messagesWithFormat(
  { messages, responseFormat }: ChatRequest,
  schema: JsonSchema | undefined,
): readonly Message[] {
  return responseFormat === undefined || schema ? messages : withFormat(messages, responseFormat);
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
