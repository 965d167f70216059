import type { ErrorCode, JsonSchema } from '../common/index.js';
import type { AssistantMessage, Message } from './message.types.js';

/** What a model is told about a tool. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
}

export interface ModelParameters {
  readonly temperature?: number;
  /** In tokens. */
  readonly maxTokens?: number;
  readonly topP?: number;
  readonly stop?: readonly string[];
}

export interface ChatRequest {
  readonly messages: readonly Message[];
  readonly tools?: readonly ToolSpec[];
  readonly parameters?: ModelParameters;
}

export interface CallOptions {
  /** Aborts the call; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** When the answer is of no use any more, epoch ms: nobody waits for another attempt beyond it. */
  readonly deadlineAt?: number;
}

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** In tokens, as the provider counted them. */
export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
}

/** One whole reply: a model only gives it when the provider's reply was complete. */
export interface ChatResult {
  readonly message: AssistantMessage;
  readonly finishReason: FinishReason;
  readonly usage?: Usage;
  /** The model that answered, as the provider names it. */
  readonly model: string;
  /** How it came that another model answered than was asked, in order. */
  readonly switches?: readonly ModelSwitch[];
}

/** A model did not answer, and another one was asked; both as `provider:model`. */
export interface ModelSwitch {
  readonly from: string;
  readonly to: string;
  /** Why. */
  readonly code: ErrorCode;
}

/**
 * A stream is any number of deltas, then exactly one `finish` with the whole reply. A `restart` makes void what came
 * before it: the reply begins anew.
 */
export type ChatStreamPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'restart' }
  | { readonly type: 'finish'; readonly result: ChatResult };

export interface ModelCapabilities {
  readonly vision: boolean;
  readonly functionCalling: boolean;
  readonly jsonMode: boolean;
}
