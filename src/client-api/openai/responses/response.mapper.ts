import type { RunUsage } from '../../../run/event/index.js';
import type { FunctionTool, ResponseRequest } from './response-request.schema.js';
import type { ResponseState } from './response.types.js';

/** The facts of a response that its events do not have. */
export interface ResponseHead {
  readonly id: string;
  /** The conversation of the response, if it has one. */
  readonly sessionId: string | null;
  readonly echo: ResponseEcho;
}

/** The members of a request that its response repeats. */
export interface ResponseEcho {
  readonly model?: string;
  readonly instructions?: string | null;
  readonly previous_response_id?: string | null;
  readonly tools?: readonly FunctionTool[];
  readonly tool_choice?: unknown;
  readonly format?: unknown;
  readonly effort?: string | null;
  readonly temperature?: number | null;
  readonly top_p?: number | null;
  readonly max_output_tokens?: number | null;
  readonly metadata?: Readonly<Record<string, unknown>> | null;
  readonly store?: boolean | null;
  readonly background?: boolean | null;
}

export function toEcho(request: ResponseRequest, tools: readonly FunctionTool[]): ResponseEcho {
  const { model, instructions, tool_choice, text, reasoning, temperature, top_p, metadata, store } = request;
  const { previous_response_id, max_output_tokens, background } = request;
  return {
    model,
    ...given({ instructions, previous_response_id, tool_choice, temperature, top_p, max_output_tokens }),
    ...given({ metadata, store, background, format: text?.format, effort: reasoning?.effort }),
    ...(tools.length > 0 && { tools }),
  };
}

function given(members: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null));
}

/** Members of a response without a value of the request, or without a meaning for an agent. */
const DEFAULTS = {
  instructions: null,
  previous_response_id: null,
  tool_choice: 'auto',
  temperature: 1,
  top_p: 1,
  max_output_tokens: null,
  metadata: {},
  store: true,
  background: false,
  max_tool_calls: null,
  parallel_tool_calls: true,
  prompt_cache_key: null,
  safety_identifier: null,
  service_tier: 'default',
  top_logprobs: 0,
  presence_penalty: 0,
  frequency_penalty: 0,
  truncation: 'disabled',
  user: null,
};

/** A response with all members that the Open Responses specification requires (`ResponseResource`). */
export function toResponse({ id, sessionId, echo }: ResponseHead, state: ResponseState): object {
  const { status, output, usage, createdAt, completedAt, incompleteReason, error } = state;
  const { format = { type: 'text' }, effort = null, tools = [], ...repeated } = echo;
  return {
    ...DEFAULTS,
    model: '',
    ...repeated,
    id,
    object: 'response',
    created_at: Math.floor((createdAt ?? Date.now()) / 1000),
    completed_at: completedAt === null ? null : Math.floor(completedAt / 1000),
    status,
    error,
    incomplete_details: incompleteReason === null ? null : { reason: incompleteReason },
    output,
    reasoning: { effort, summary: null },
    text: { format },
    tools: tools.map(toTool),
    usage: completedAt === null ? null : toUsage(usage),
    ...(sessionId !== null && { conversation: { id: sessionId } }),
  };
}

function toTool({ name, description = null, parameters = null }: FunctionTool) {
  return { type: 'function', name, description, parameters, strict: false };
}

function toUsage(usage: RunUsage) {
  return {
    input_tokens: usage.prompt_tokens,
    input_tokens_details: { cached_tokens: usage.cached_tokens ?? 0 },
    output_tokens: usage.completion_tokens,
    output_tokens_details: { reasoning_tokens: usage.reasoning_tokens ?? 0 },
    total_tokens: usage.total_tokens,
  };
}
