import { AppError, type ErrorCode } from '../errors/index.js';
import type { AssistantMessage, ChatRequest, ChatResult, FinishReason } from '../llm/chat/index.js';

/** A call of a scripted reply. */
export interface ScriptedCall {
  readonly name: string;
  /** A text is sent unchanged, as a model may write invalid JSON. Default: `{}`. */
  readonly arguments?: Readonly<Record<string, unknown>> | string;
  readonly id?: string;
}

/** A failed call: the status of the provider, no reply in time, no connection, or a reply that breaks off. */
export type ScriptedFault = number | 'timeout' | 'unreachable' | 'cut';

/** A reply of the model, or the failure of its call. */
export interface ScriptedMessage {
  readonly text?: string;
  /** The pieces of a streamed text; by default three characters each. */
  readonly pieces?: readonly string[];
  readonly reasoning?: string;
  readonly calls?: readonly ScriptedCall[];
  /** Default: `tool_calls` with calls, else `stop`. */
  readonly finishReason?: FinishReason;
  /** Tokens of prompt and completion; default `[10, 5]`. */
  readonly usage?: readonly [number, number];
  /** The call fails; a streamed one after its text. */
  readonly fault?: ScriptedFault;
}

/** A text, a message, a complete result, or an error to throw. */
export type ScriptedReply = string | ScriptedMessage | ChatResult | Error;

/** Computes a reply; it may wait. */
export type ScriptedReplier = (request: ChatRequest, signal?: AbortSignal) => ScriptedReply | Promise<ScriptedReply>;

/** Parts of a request that a line needs; a text must be contained. */
export interface RequestPattern {
  /** The last message of the user. */
  readonly text?: string | RegExp;
  /** The system message: it has the instructions of the agent. */
  readonly instructions?: string | RegExp;
  /** Name of a tool that the request offers. */
  readonly tool?: string;
  /** The last result of a tool, if it is the last message. */
  readonly result?: string | RegExp;
}

/** Selects requests: by the last message of the user, by parts, or by a function. */
export type RequestMatcher = string | RegExp | RequestPattern | ((request: ChatRequest) => boolean);

/** A line for certain requests. */
export interface ScriptRule {
  readonly when?: RequestMatcher;
  readonly reply: ScriptedReply | ScriptedReplier;
  /** How many requests it answers; default 1. A line with `any` answers all, and may be unused. */
  readonly times?: number | 'any';
}

export type ScriptLine = ScriptedReply | ScriptedReplier | ScriptRule;

const REFUSED = { code: 'MODEL_REFUSED', isRetryable: false } as const;
/** The codes of statuses, as for real providers. */
const STATUSES: readonly { readonly of: readonly number[]; readonly code: ErrorCode; readonly isRetryable: boolean }[] =
  [
    { of: [401, 403], code: 'MODEL_AUTHENTICATION', isRetryable: false },
    { of: [408], code: 'MODEL_TIMEOUT', isRetryable: true },
    { of: [429], code: 'MODEL_RATE_LIMITED', isRetryable: true },
  ];

/** A line as a rule. */
export function toRule(line: ScriptLine): ScriptRule {
  const isRule = typeof line === 'object' && 'reply' in line && !(line instanceof Error);
  return isRule ? line : { reply: line };
}

/** The complete result of a reply. */
export function toResult(reply: Exclude<ScriptedReply, Error>, model: string): ChatResult {
  if (typeof reply === 'object' && 'message' in reply) return reply;
  const { usage = [10, 5], finishReason, ...said } = typeof reply === 'string' ? { text: reply } : reply;
  const [promptTokens, completionTokens] = usage;
  const message = toMessage(said);
  return {
    message,
    finishReason: finishReason ?? (message.toolCalls ? 'tool_calls' : 'stop'),
    usage: { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens },
    model,
  };
}

function toMessage({ text = '', pieces, reasoning, calls }: ScriptedMessage): AssistantMessage {
  const toolCalls = calls?.map(({ id, name, arguments: args = {} }, at) => ({
    id: id ?? `call_${at}`,
    name,
    arguments: typeof args === 'string' ? args : JSON.stringify(args),
  }));
  return {
    role: 'assistant',
    content: pieces?.join('') ?? text,
    ...(reasoning !== undefined && { reasoning }),
    ...(toolCalls && { toolCalls }),
  };
}

/** The pieces of a streamed reply. */
export function piecesOf(reply: Exclude<ScriptedReply, Error>, { message }: ChatResult): readonly string[] {
  const given = typeof reply === 'object' && 'pieces' in reply ? reply.pieces : undefined;
  return given ?? message.content.match(/.{1,3}/gsu) ?? [];
}

/** The error of a reply with a fault, as of a real provider. */
export function faultOf(reply: Exclude<ScriptedReply, Error>, model: string): AppError | undefined {
  if (typeof reply !== 'object' || !('fault' in reply) || reply.fault === undefined) return undefined;
  const details = { provider: 'scripted', model };
  const fail = (code: ErrorCode, what: string, isRetryable = true, more = {}) =>
    new AppError(code, `The scripted model ${what}.`, { isRetryable, details: { ...details, ...more } });
  switch (reply.fault) {
    case 'timeout':
      return fail('MODEL_TIMEOUT', 'did not answer in time');
    case 'unreachable':
      return fail('MODEL_UNREACHABLE', 'cannot be reached');
    case 'cut':
      return fail('MODEL_BAD_REPLY', 'broke off in the middle of its reply');
    default: {
      const status = reply.fault;
      const other = status >= 500 ? ({ code: 'MODEL_UNAVAILABLE', isRetryable: true } as const) : REFUSED;
      const { code, isRetryable } = STATUSES.find(({ of }) => of.includes(status)) ?? other;
      return fail(code, `answered with HTTP ${status}`, isRetryable, { provider_status: status });
    }
  }
}
