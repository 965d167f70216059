import { hash } from 'node:crypto';
import type { ChatCompletionFunctionTool } from 'openai/resources/chat/completions';
import type { ChatRequest, ModelParameters, ResponseFormat, ToolChoice, ToolSpec } from '../chat/chat.types.js';
import type { Message } from '../chat/message.types.js';
import { withFormat } from '../tool-schema.mapper.js';
import { OPENAI_STRICT, toStrictSchema } from '../strict-schema.mapper.js';
import type { PromptCaching } from '../wire/chat-codec.types.js';
import { toTemplateMessages, withJsonArguments } from './chat-template.mapper.js';
import { type MessageRules, toWireMessages, type WireRequestMessage } from './message.mapper.js';
import type { FormatMode, WireDialect } from './wire-dialect.types.js';

type WireTools = ChatCompletionFunctionTool[];

/** Cache: an agent passes the same array with every call. Models may share it, and differ in strictness. */
const mapped = {
  strict: new WeakMap<readonly ToolSpec[], WireTools>(),
  plain: new WeakMap<readonly ToolSpec[], WireTools>(),
};

/**
 * Converts fitted tools to the wire format; returns the same array for the same array.
 * @param isStrict whether the provider enforces schemas that it can
 */
export function toWireTools(tools: readonly ToolSpec[], isStrict = false): WireTools {
  const known = isStrict ? mapped.strict : mapped.plain;
  let wire = known.get(tools);
  if (!wire) known.set(tools, (wire = tools.map((tool) => toWireTool(tool, isStrict))));
  return wire;
}

function toWireTool({ name, description, inputSchema }: ToolSpec, isStrict: boolean): ChatCompletionFunctionTool {
  const strict = isStrict ? toStrictSchema(inputSchema, OPENAI_STRICT) : undefined;
  const parameters = { ...(strict ?? inputSchema) };
  return { type: 'function', function: { name, description, parameters, ...(strict && { strict: true }) } };
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
  const strict = mode === 'strict' ? toStrictSchema(schema, OPENAI_STRICT) : undefined;
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
export function toWireBody(
  request: ChatRequest,
  target: WireTarget,
  stream: boolean,
  caching?: PromptCaching,
): Record<string, unknown> {
  const { model, dialect } = target;
  const tools = request.tools?.length ? request.tools : undefined;
  const mode = dialect.formatMode?.(model, tools !== undefined);
  const { field, messages } = formatted(request, mode);
  return {
    model,
    messages: arrange(toWireMessages(messages, dialect.reasoningEcho, rulesOf(target)), dialect),
    ...(tools && { tools: toWireTools(tools, mode === 'strict'), tool_choice: toWireChoice(request.toolChoice) }),
    ...(request.parameters && toWireParameters(request.parameters, dialect)),
    ...(field && { response_format: field }),
    ...dialect.extras?.(model, tools !== undefined),
    ...toEffortFields(request.parameters, target),
    ...toCachingFields(caching, dialect),
    ...(stream && toStreamFields(dialect)),
  };
}

function toEffortFields({ effort }: ModelParameters = {}, { model, dialect }: WireTarget): Record<string, unknown> {
  if (effort === undefined) return {};
  return dialect.effortFields?.(effort, model) ?? { reasoning_effort: effort };
}

function toCachingFields(caching: PromptCaching | undefined, { hasCacheKey }: WireDialect): Record<string, unknown> {
  return hasCacheKey && caching?.key !== undefined ? { prompt_cache_key: caching.key } : {};
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
export function formatted({ messages, responseFormat }: ChatRequest, mode: FormatMode = 'object'): FormattedRequest {
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
