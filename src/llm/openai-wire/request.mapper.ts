import { hash } from 'node:crypto';
import type { ChatCompletionFunctionTool } from 'openai/resources/chat/completions';
import type { ChatRequest, ModelParameters, ResponseFormat, ToolChoice, ToolSpec } from '../chat.types.js';
import type { Message } from '../message.types.js';
import { withFormat } from '../tool-schema.mapper.js';
import { toStrictSchema } from '../strict-schema.mapper.js';
import { toWellFormedJson } from '../wire/reply.parser.js';
import { toTemplateMessages, withJsonArguments } from './chat-template.mapper.js';
import { type MessageRules, toWireMessages, type WireRequestMessage } from './message.mapper.js';
import type { FormatMode, WireDialect } from './wire-dialect.types.js';

/** Cache: an agent passes the same array with every call. */
const mapped = new WeakMap<readonly ToolSpec[], ChatCompletionFunctionTool[]>();
const texts = new WeakMap<readonly ChatCompletionFunctionTool[], string>();

/** Converts fitted tools to the wire format; returns the same array for the same array. */
export function toWireTools(tools: readonly ToolSpec[]): ChatCompletionFunctionTool[] {
  let wire = mapped.get(tools);
  if (!wire) mapped.set(tools, (wire = tools.map(toWireTool)));
  return wire;
}

/** The JSON of a converted array, cached. */
export function toToolsJson(tools: readonly ChatCompletionFunctionTool[]): string {
  const known = texts.get(tools);
  if (known !== undefined) return known;
  const text = toWellFormedJson(tools);
  texts.set(tools, text);
  return text;
}

function toWireTool({ name, description, inputSchema }: ToolSpec): ChatCompletionFunctionTool {
  return { type: 'function', function: { name, description, parameters: inputSchema } };
}

/** A response format in the wire format. */
interface WireFormat {
  /** `response_format`, if the request contains it. */
  readonly field?: Readonly<Record<string, unknown>>;
  /**
   * Whether the messages must contain the format as an instruction: JSON mode rejects prompts without the word JSON.
   */
  readonly isInPrompt: boolean;
}

const OBJECT: WireFormat = { field: { type: 'json_object' }, isInPrompt: true };
const IN_WORDS: WireFormat = { isInPrompt: true };
const DEFAULT_NAME = 'answer';

/**
 * Converts a format to the supported mode. JSON modes return objects, so other values are requested by an instruction.
 */
export function toWireFormat(format: ResponseFormat, mode: FormatMode): WireFormat {
  if (mode === 'none') return IN_WORDS;
  if (format === 'json') return OBJECT;
  const { schema, name = DEFAULT_NAME } = format;
  if (schema['type'] !== 'object') return IN_WORDS;
  if (mode === 'schema') return { field: { type: 'json_schema', json_schema: { name, schema } }, isInPrompt: true };
  const strict = mode === 'strict' ? toStrictSchema(schema, { maxOptional: 0, mayRefer: true }) : undefined;
  if (!strict) return OBJECT;
  return { field: { type: 'json_schema', json_schema: { name, schema: strict, strict: true } }, isInPrompt: false };
}

const LENGTH = 9;
const SHORT = /^[a-zA-Z0-9]{9}$/;

/** Replaces call ids by ids of nine letters and digits, which Mistral requires; valid ones stay. */
export function withShortIds(messages: readonly WireRequestMessage[]): WireRequestMessage[] {
  return messages.map((message) => {
    if (message.role === 'tool') return { ...message, tool_call_id: toShortId(message.tool_call_id) };
    if (message.role !== 'assistant' || !message.tool_calls) return message;
    return { ...message, tool_calls: message.tool_calls.map((call) => ({ ...call, id: toShortId(call.id) })) };
  });
}

/** The same id for the same id; different ids practically never collide (62^9 values). */
function toShortId(id: string): string {
  if (SHORT.test(id)) return id;
  return hash('sha256', id, 'base64')
    .replaceAll(/[^a-zA-Z0-9]/g, '')
    .slice(0, LENGTH);
}

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
