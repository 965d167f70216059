import type { ChatRequest, ModelParameters, ToolChoice } from '../chat.types.js';
import type { Message } from '../message.types.js';
import { withFormat } from '../response-format.policy.js';
import { toTemplateMessages, withJsonArguments } from './chat-template.mapper.js';
import { type MessageRules, toWireMessages, type WireRequestMessage } from './message.mapper.js';
import { toWireFormat } from './response-format.mapper.js';
import { withShortIds } from './short-id.mapper.js';
import { toWireTools } from './tool.mapper.js';
import type { FormatMode, WireDialect } from './wire-dialect.types.js';

export interface WireTarget {
  readonly provider: string;
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
    messages: arrange(toWireMessages(messages, dialect.reasoningEcho, rulesOf(target)), dialect),
    ...(tools && { tools: toWireTools(tools), tool_choice: toWireChoice(request.toolChoice) }),
    ...(request.parameters && toWireParameters(request.parameters, dialect)),
    ...(field && { response_format: field }),
    ...dialect.extras?.(model, tools !== undefined),
    ...(stream && toStreamFields(dialect)),
  };
}

function toStreamFields({ reportsUsage }: WireDialect): Record<string, unknown> {
  return { stream: true, ...(!reportsUsage && { stream_options: { include_usage: true } }) };
}

function rulesOf({ provider, model, dialect }: WireTarget): MessageRules {
  const { hasSignatures, hasToolNames = false } = dialect;
  return { owner: { provider, model }, hasToolNames, ...(hasSignatures && { signer: model }) };
}

function arrange(messages: WireRequestMessage[], { arrangement, hasShortIds }: WireDialect): WireRequestMessage[] {
  const arranged = arrangement === 'template' ? toTemplateMessages(messages) : messages;
  const parsed = arrangement === 'json' ? arranged.map(withJsonArguments) : arranged;
  return hasShortIds ? withShortIds(parsed) : parsed;
}

/** The `response_format` field, and the messages with an instruction if the field is not sufficient. */
function formatted({ messages, responseFormat }: ChatRequest, mode: FormatMode = 'object'): FormattedRequest {
  if (responseFormat === undefined) return { messages };
  const { field, isInPrompt } = toWireFormat(responseFormat, mode);
  return { ...(field && { field }), messages: isInPrompt ? withFormat(messages, responseFormat) : messages };
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
    [dialect.seedField ?? 'seed']: parameters.seed,
    stop: parameters.stop,
    [dialect.maxTokensField]: parameters.maxTokens,
  };
}
