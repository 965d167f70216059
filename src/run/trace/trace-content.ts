import type { ChatResult } from '../../llm/chat/index.js';
import { ATTRIBUTES as A, type Attributes, type Tracing } from '../../telemetry/index.js';
import { toRunUsage } from '../usage/run-usage.mapper.js';
import type { RunUsage } from '../usage/run-usage.types.js';

/** The result of a model step; lenient, as an earlier version may have recorded it. */
export type RecordedReply = Partial<ChatResult>;

/** The result of a tool step, as far as spans have it. */
export interface RecordedToolResult {
  readonly success?: boolean;
  readonly result?: unknown;
  readonly error?: string;
  readonly code?: string;
}

/** Tokens and cost of a call. Input tokens contain the cached ones, output tokens the reasoning. */
export function usageAttributes(usage: RunUsage): Attributes {
  return {
    [A.inputTokens]: usage.prompt_tokens,
    [A.outputTokens]: usage.completion_tokens,
    [A.cacheReadTokens]: usage.cached_tokens,
    [A.cacheWriteTokens]: usage.cache_write_tokens,
    [A.reasoningTokens]: usage.reasoning_tokens,
    [A.cost]: usage.cost,
  };
}

export function toUsageAttributes({ usage }: RecordedReply): Attributes {
  return usage ? usageAttributes(toRunUsage(usage)) : {};
}

/** Longest content of one attribute, in UTF-16 units. */
const MAX_LENGTH = 16_384;

/** Messages, arguments and results as attributes, masked; only with `TELEMETRY_CONTENT=on`. */
export class TraceContent {
  private readonly given = new Map<string, string>();

  constructor(private readonly tracing: Tracing) {}

  noteArguments(callId: string, given: string): void {
    if (this.tracing.hasContent) this.given.set(callId, given);
  }

  ofReply({ message, finishReason }: RecordedReply): Attributes {
    if (!this.tracing.hasContent || !message) return {};
    const calls = message.toolCalls ?? [];
    const parts = [
      ...(message.content === '' ? [] : [{ type: 'text', content: this.shown(message.content) }]),
      ...calls.map((call) => ({
        type: 'tool_call',
        id: call.id,
        name: call.name,
        arguments: this.shown(call.arguments),
      })),
    ];
    return { [A.outputMessages]: JSON.stringify([{ role: 'assistant', parts, finish_reason: finishReason }]) };
  }

  ofCall(callId: string | undefined, { success, result, error }: RecordedToolResult): Attributes {
    if (!this.tracing.hasContent) return {};
    const given = callId === undefined ? undefined : this.given.get(callId);
    const text = success ? textOf(result) : error;
    return {
      [A.toolArguments]: given === undefined ? undefined : this.shown(given),
      [A.toolResult]: text === undefined ? undefined : this.shown(text),
    };
  }

  /** The question and the answer of a run. */
  ofRun(question: string, answer: string, finishReason: string): Attributes {
    if (!this.tracing.hasContent) return {};
    const part = (text: string) => [{ type: 'text', content: this.shown(text) }];
    return {
      [A.inputMessages]: JSON.stringify([{ role: 'user', parts: part(question) }]),
      [A.outputMessages]: JSON.stringify([{ role: 'assistant', parts: part(answer), finish_reason: finishReason }]),
    };
  }

  /** Masked before it is cut, so that no part of a secret remains. */
  private shown(text: string): string {
    const masked = this.tracing.masked(text);
    return masked.length > MAX_LENGTH ? `${masked.slice(0, MAX_LENGTH)}…` : masked;
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
