import { RunText, toErrorCode } from '../../agent/answer/index.js';
import { AppError } from '../../errors/index.js';
import type { WaitingRequest } from '../../run/decision/index.js';
import { NO_USAGE, type RunEvent, type RunFinishReason, type RunItem, type RunUsage } from '../../run/event/index.js';
import { addUsage } from '../../run/usage/index.js';
import type { ToolCall } from '../../llm/chat/index.js';
import { toClientCallId } from '../client-call-id.js';
import { waitingText } from '../waiting-text.mapper.js';

/** A part of the reply to a client, in terms of all its protocols. */
export type ReplyPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string }
  /** The last part. */
  | {
      readonly kind: 'end';
      readonly reason: 'stop' | 'length' | 'content_filter' | 'tool_calls';
      /** The calls that the client executes; only with `tool_calls`. */
      readonly calls: readonly ToolCall[];
      /** Of the model calls for this reply. */
      readonly usage: RunUsage;
    };

type Event<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;

export interface ReplyOptions {
  readonly runId: string;
  /** Whether a wait for a person is reported as the text of the answer, or as an error. */
  readonly onWaiting: 'message' | 'error';
  /** Whether only the result is the answer, as of a workflow, whose messages belong to its nodes. */
  readonly isResultOnly: boolean;
  /** Whether the client reads the text while the model writes it; else the text of each reply follows its end. */
  readonly isStreaming: boolean;
  /** Whether the event may have changed something. */
  readonly mayHaveEffect: (event: RunEvent) => boolean;
}

const REASONS = {
  stop: 'stop',
  length: 'length',
  content_filter: 'content_filter',
  iteration_limit: 'length',
} as const;
const BETWEEN_REPLIES = '\n\n';

/**
 * The reply of a run, up to its end or its next wait.
 * @throws AppError with the code of a failed run. `details.has_effect` is set if a call may have changed something: a
 *   repeated request would change it twice
 */
export async function* replyOf(items: AsyncIterable<RunItem>, options: ReplyOptions): AsyncGenerator<ReplyPart, void> {
  const reply = new RunReply(options);
  for await (const { event } of items) {
    for (const part of reply.take(event)) {
      yield part;
      if (part.kind === 'end') return;
    }
  }
  throw new AppError('SHUTTING_DOWN', `The events of run "${options.runId}" ended before the run.`, {
    details: reply.details,
  });
}

class RunReply {
  private readonly text: RunText;
  private usage = NO_USAGE;
  private hasText = false;
  private isNewReply = false;
  private hasEffect = false;

  constructor(private readonly options: ReplyOptions) {
    const delivery = options.isStreaming ? 'live' : 'replies';
    this.text = new RunText({ runId: options.runId, delivery: options.isResultOnly ? 'answer' : delivery });
  }

  /** Of an error. */
  get details(): Readonly<Record<string, unknown>> {
    return { run_id: this.options.runId, ...(this.hasEffect && { has_effect: true }) };
  }

  take(event: RunEvent): readonly ReplyPart[] {
    const text = this.text.take(event);
    this.note(event);
    const parts: ReplyPart[] = text === '' ? [] : [this.toText(text)];
    if (event.type === 'thought') return [...parts, { kind: 'reasoning', text: event.text }];
    // The next text belongs to another message.
    if (event.type === 'message.completed') this.isNewReply = this.hasText;
    return [...parts, ...this.end(event)];
  }

  private note(event: RunEvent): void {
    if (event.type === 'usage') this.usage = addUsage(this.usage, event);
    // A run that this process hands over continues: a repeated request would be a second run.
    this.hasEffect ||= event.type === 'stream.closed' || this.options.mayHaveEffect(event);
  }

  private end(event: RunEvent): readonly ReplyPart[] {
    switch (event.type) {
      case 'run.waiting':
        return this.wait(event);
      case 'run.completed':
        return [this.toEnd(reasonOf(event.finish_reason))];
      case 'run.failed':
        throw this.failure(event.error.code, event.error.message, event.error.is_retryable);
      case 'run.cancelled':
        throw this.failure('RUN_CANCELLED', `Run "${event.run_id}" was cancelled.`, false);
      case 'stream.closed':
        throw this.failure(event.code, `Run "${event.run_id}" continues, and cannot be followed further here.`, false);
      case 'run.started':
      case 'run.resumed':
      case 'step.started':
      case 'tool.progress':
      case 'state.changed':
      case 'policy.decided':
      case 'node.started':
      case 'node.completed':
      case 'model.switched':
      case 'model.cached':
      case 'context.compacted':
      case 'history.repaired':
      case 'message.delta':
      case 'message.completed':
      case 'step.restarted':
      case 'thought':
      case 'tool.started':
      case 'tool.completed':
      case 'usage':
        return [];
    }
  }

  private wait({ requests }: Event<'run.waiting'>): readonly ReplyPart[] {
    const calls = requests.filter(({ by_client: isByClient }) => isByClient).map((one) => this.toCall(one));
    if (calls.length > 0) return [this.toEnd('tool_calls', calls)];
    const message = waitingText(this.options.runId, requests);
    if (this.options.onWaiting === 'error') throw this.failure('RUN_WAITING', message, false);
    return [this.toText(message), this.toEnd('stop')];
  }

  private toCall({ step, tool, arguments: args }: WaitingRequest): ToolCall {
    return { id: toClientCallId({ runId: this.options.runId, step }), name: tool, arguments: args };
  }

  private toText(text: string): ReplyPart {
    const separator = this.isNewReply ? BETWEEN_REPLIES : '';
    this.hasText = true;
    this.isNewReply = false;
    return { kind: 'text', text: separator + text };
  }

  private toEnd(reason: Extract<ReplyPart, { kind: 'end' }>['reason'], calls: readonly ToolCall[] = []): ReplyPart {
    return { kind: 'end', reason, calls, usage: this.usage };
  }

  private failure(code: string, message: string, isRetryable: boolean): AppError {
    return new AppError(toErrorCode(code), message, { isRetryable, details: this.details });
  }
}

function reasonOf(reason: RunFinishReason): 'stop' | 'length' | 'content_filter' {
  return REASONS[reason as keyof typeof REASONS] ?? 'stop';
}
