import type { ChatRequest, ModelParameters, ToolChoice } from '../chat.types.js';
import type { Message } from '../message.types.js';
import { withFormat } from '../response-format.policy.js';
import { toWireMessages } from './message.mapper.js';
import { toWireFormat } from './response-format.mapper.js';
import { toWireTools } from './tool.mapper.js';
import type { FormatMode, WireDialect } from './wire-dialect.types.js';

export interface WireTarget {
  readonly model: string;
  readonly dialect: WireDialect;
}

interface FormattedRequest {
  readonly field?: Readonly<Record<string, unknown>>;
  readonly messages: readonly Message[];
}

/** Builds the body of `POST /chat/completions`. */
export function toWireBody(request: ChatRequest, target: WireTarget, stream: boolean): Record<string, unknown> {
  const { model, dialect } = target;
  const tools = request.tools?.length ? request.tools : undefined;
  const { field, messages } = formatted(request, dialect.formatMode?.(model, tools !== undefined));
  return {
    model,
    messages: toWireMessages(messages, dialect.reasoningEcho),
    ...(tools && { tools: toWireTools(tools), tool_choice: toWireChoice(request.toolChoice) }),
    ...(request.parameters && toWireParameters(request.parameters, dialect)),
    ...(field && { response_format: field }),
    ...dialect.extras?.(model, tools !== undefined),
    ...(stream && { stream: true, stream_options: { include_usage: true } }),
  };
}

/** The `response_format` field, and the messages with an instruction if the field is not sufficient. */
function formatted({ messages, responseFormat }: ChatRequest, mode: FormatMode = 'object'): FormattedRequest {
  if (responseFormat === undefined) return { messages };
  const { field, isTold } = toWireFormat(responseFormat, mode);
  return { ...(field && { field }), messages: isTold ? withFormat(messages, responseFormat) : messages };
}

/** Omits `auto`, the default. */
function toWireChoice(choice: ToolChoice | undefined): unknown {
  if (choice === 'auto') return undefined;
  if (typeof choice !== 'object') return choice;
  return { type: 'function', function: { name: choice.name } };
}

/** JSON omits undefined fields. */
function toWireParameters(parameters: ModelParameters, dialect: WireDialect): Record<string, unknown> {
  return {
    temperature: parameters.temperature,
    top_p: parameters.topP,
    frequency_penalty: parameters.frequencyPenalty,
    presence_penalty: parameters.presencePenalty,
    seed: parameters.seed,
    stop: parameters.stop,
    [dialect.maxTokensField]: parameters.maxTokens,
  };
}
