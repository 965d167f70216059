import type {
  FunctionTool,
  ResponseCreateParamsBase,
  ResponseFormatTextConfig,
} from 'openai/resources/responses/responses';
import type { ChatRequest, ModelParameters, ToolChoice, ToolSpec } from '../chat/chat.types.js';
import type { StateOwner } from '../openai-wire/message.mapper.js';
import { formatted } from '../openai-wire/request.mapper.js';
import type { WireDialect } from '../openai-wire/wire-dialect.types.js';
import { OPENAI_STRICT, toStrictSchema } from '../strict-schema.mapper.js';
import type { PromptCaching } from '../wire/chat-codec.types.js';
import { toInputItems } from './input.mapper.js';

/** Parameters of Chat Completions that the Responses API lacks (developers.openai.com, "Create a model response"). */
export const CHAT_PARAMETERS = ['frequencyPenalty', 'presencePenalty', 'stop', 'seed'] as const;
/** "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16". */
const MIN_OUTPUT_TOKENS = 16;

/** Cache: an agent passes the same array with every call. Models may share it, and differ in strictness. */
const mapped = {
  strict: new WeakMap<readonly ToolSpec[], FunctionTool[]>(),
  plain: new WeakMap<readonly ToolSpec[], FunctionTool[]>(),
};

/** A model with the Responses API. */
export interface ResponsesTarget extends StateOwner {
  readonly formatMode?: WireDialect['formatMode'];
  /** Whether it may be a reasoning model, which returns encrypted reasoning and a summary of it. */
  readonly mayReason: boolean;
  /** Whether requests name the prefix that they share. */
  readonly hasCacheKey?: boolean;
}

/**
 * Converts fitted tools to the wire format; returns the same array for the same array.
 * @param isStrict whether the provider enforces schemas that it can
 */
export function toFunctionTools(tools: readonly ToolSpec[], isStrict: boolean): FunctionTool[] {
  const known = isStrict ? mapped.strict : mapped.plain;
  let wire = known.get(tools);
  if (!wire) known.set(tools, (wire = tools.map((tool) => toFunctionTool(tool, isStrict))));
  return wire;
}

/** The API makes a schema strict by itself unless `strict` is false: optional properties would become required. */
function toFunctionTool({ name, description, inputSchema }: ToolSpec, isStrict: boolean): FunctionTool {
  const strict = isStrict ? toStrictSchema(inputSchema, OPENAI_STRICT) : undefined;
  return {
    type: 'function',
    name,
    description,
    parameters: { ...(strict ?? inputSchema) },
    strict: strict !== undefined,
  };
}

/** Builds the body of `POST /responses`. JSON omits undefined fields. */
export function toResponsesBody(
  request: ChatRequest,
  target: ResponsesTarget,
  stream: boolean,
  caching?: PromptCaching,
): ResponseCreateParamsBase & Record<string, unknown> {
  const { model } = target;
  const tools = request.tools?.length ? request.tools : undefined;
  const mode = target.formatMode?.(model, tools !== undefined);
  const { field, messages } = formatted(request, mode);
  return {
    model,
    input: toInputItems(messages, target),
    ...(tools && { tools: toFunctionTools(tools, mode === 'strict'), tool_choice: toChoice(request.toolChoice) }),
    ...toParameters(request.parameters),
    ...(field && { text: { format: toFormat(field) } }),
    ...toReasoningFields(request.parameters, target),
    ...(target.hasCacheKey && { prompt_cache_key: caching?.key }),
    // Sessions are stored here, and any process can continue them.
    store: false,
    ...(stream && { stream: true }),
  };
}

function toReasoningFields(
  { effort }: ModelParameters = {},
  { mayReason }: ResponsesTarget,
): Pick<ResponseCreateParamsBase, 'reasoning' | 'include'> {
  if (!mayReason && effort === undefined) return {};
  return {
    reasoning: { ...(mayReason && { summary: 'auto' }), ...(effort !== undefined && { effort }) },
    ...(mayReason && { include: ['reasoning.encrypted_content'] }),
  };
}

/** Omits `auto`, the default. */
function toChoice(choice: ToolChoice | undefined): ResponseCreateParamsBase['tool_choice'] {
  if (choice === 'auto') return undefined;
  return typeof choice === 'object' ? { type: 'function', name: choice.name } : choice;
}

function toParameters({ temperature, topP, maxTokens }: ModelParameters = {}): Record<string, unknown> {
  return {
    temperature,
    top_p: topP,
    max_output_tokens: maxTokens === undefined ? undefined : Math.max(MIN_OUTPUT_TOKENS, maxTokens),
  };
}

/** Chat Completions nests the schema's fields; the Responses API does not. */
function toFormat({ json_schema: nested, ...field }: Readonly<Record<string, unknown>>): ResponseFormatTextConfig {
  return { ...field, ...(nested as object) } as unknown as ResponseFormatTextConfig;
}
