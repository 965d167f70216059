import { AppError } from '../../errors/index.js';
import type { RunEvent, RunFinishReason, RunItem } from '../../run/event/index.js';
import { toErrorCode } from './run.error.js';

/**
 * A reply started again with other text after a part of it was delivered, and a stream of text cannot retract text. The
 * run is not affected: it continues, and its answer can be read when it has ended.
 */
export class StreamRestartedError extends AppError {
  declare readonly code: 'STREAM_RESTARTED';

  /**
   * @param delivered all pieces that the stream yielded before, joined
   * @param runId the run that continues
   */
  constructor(
    readonly delivered: string,
    readonly runId: string,
  ) {
    super(
      'STREAM_RESTARTED',
      `The reply started again with other text after ${delivered.length} characters were delivered. Run "${runId}" continues: read its answer when it has ended, or ask with onRestart: 'hold'.`,
      { details: { run_id: runId } },
    );
    this.name = 'StreamRestartedError';
  }
}

export interface TextStreamOptions {
  readonly runId: string;
  /**
   * `live`: delivers text at once. `replies`: delivers a reply when it is complete. `answer`: delivers only the answer
   * of the run, when the run has completed.
   */
  readonly delivery: 'live' | 'replies' | 'answer';
  /** Called with the value of a structured answer before its text is delivered; rejects when the answer is invalid. */
  readonly accept?: (output: unknown) => Promise<unknown>;
}

/**
 * The text of a run, for readers that cannot retract text. The joined pieces are the run's answer, preceded by the
 * text of replies with tool calls (`live` and `replies`).
 * @param items the run's events from the first one on
 * @returns the finish reason of a completed run
 * @throws StreamRestartedError with the delivery `live`, when the text differs from the delivered text
 * @throws AppError with the failure's code when the run fails, `RUN_WAITING` when a person must decide, and the code of
 *   `stream.closed` when the run cannot be followed further
 */
export async function* textOf(
  items: AsyncIterable<RunItem>,
  options: TextStreamOptions,
): AsyncGenerator<string, RunFinishReason | null> {
  const text = new RunText(options);
  let reason: RunFinishReason | null = null;
  for await (const { event } of items) {
    assertContinues(event);
    if (event.type === 'run.completed') {
      reason = event.finish_reason;
      if ('output' in event) await options.accept?.(event.output);
    }
    const piece = text.take(event);
    if (piece !== '') yield piece;
  }
  return reason;
}

/** Compares the text of a run, which may start again, with its delivered text. */
export class RunText {
  /** The delivered text of the replies before the current one. */
  private earlier = '';
  /** The text of the last completed reply with tool calls. */
  private beside: string | null = null;
  /** The delivered text of the current reply, of all its attempts. */
  private delivered = '';
  /** How many UTF-16 units of `delivered` the current attempt has repeated. */
  private repeated = 0;
  /** Text of the current attempt behind `delivered` that is held back. */
  private pending = '';
  private isBlank = true;
  /** Whether the current reply is complete and has no tool calls: it is the answer unless another reply follows. */
  private isAnswer = false;

  constructor(private readonly options: Pick<TextStreamOptions, 'runId' | 'delivery'>) {}

  /** @returns the text that can be delivered now; may be empty */
  take(event: RunEvent): string {
    switch (event.type) {
      case 'message.delta':
        return this.follow(event.text, this.isAnswer);
      case 'step.restarted':
        return this.follow(event.text, true);
      case 'message.completed':
        return this.complete(event.text, event.tool_calls.length > 0);
      case 'run.completed':
        return this.end(event.result);
      case 'run.started':
      case 'run.resumed':
      case 'run.waiting':
      case 'run.failed':
      case 'run.cancelled':
      case 'step.started':
      case 'thought':
      case 'tool.started':
      case 'tool.progress':
      case 'tool.completed':
      case 'state.changed':
      case 'policy.decided':
      case 'node.started':
      case 'node.completed':
      case 'usage':
      case 'model.switched':
      case 'model.cached':
      case 'context.compacted':
      case 'history.repaired':
      case 'stream.closed':
        return '';
    }
  }

  /** Live text of the current reply, or of a new attempt at it. */
  private follow(text: string, isRestart: boolean): string {
    if (this.options.delivery !== 'live') return '';
    if (isRestart) this.restart();
    return this.append(text);
  }

  private restart(): void {
    this.repeated = 0;
    this.pending = '';
    this.isBlank = true;
    this.isAnswer = false;
  }

  private append(piece: string): string {
    const overlap = Math.min(piece.length, this.delivered.length - this.repeated);
    if (overlap === 0) return this.extend(piece);
    if (!this.delivered.startsWith(piece.slice(0, overlap), this.repeated)) throw this.restarted();
    this.repeated += overlap;
    return this.extend(piece.slice(overlap));
  }

  /** Holds back blank text, because a blank reply is requested again, and the first half of a surrogate pair. */
  private extend(text: string): string {
    if (text === '') return '';
    this.pending += text;
    this.isBlank &&= this.delivered === '' && text.trim() === '';
    if (this.isBlank) return '';
    const isHalf = /[\uD800-\uDBFF]$/.test(text);
    const piece = isHalf ? this.pending.slice(0, -1) : this.pending;
    this.pending = isHalf ? this.pending.slice(-1) : '';
    return this.deliver(piece);
  }

  /** The text of a completed reply is authoritative. */
  private complete(text: string, hasCalls: boolean): string {
    const { delivery } = this.options;
    this.isAnswer = !hasCalls && text !== '';
    // Without a live stream, an answer is delivered when no further reply can replace it.
    if (delivery === 'answer' || (delivery === 'replies' && !hasCalls)) return '';
    const piece = this.delivered === '' && text.trim() === '' ? '' : this.rest(text);
    if (hasCalls) this.closeReply();
    return piece;
  }

  private closeReply(): void {
    this.earlier += this.delivered;
    if (this.delivered !== '') this.beside = this.delivered;
    this.delivered = '';
    this.restart();
  }

  /** A run that ended before its answer has the last text beside tool calls as its result. */
  private end(result: string): string {
    return !this.isAnswer && result === this.beside ? '' : this.rest(result);
  }

  private rest(whole: string): string {
    if (!whole.startsWith(this.delivered)) throw this.restarted();
    this.pending = '';
    return this.deliver(whole.slice(this.delivered.length));
  }

  private deliver(piece: string): string {
    this.delivered += piece;
    this.repeated = this.delivered.length;
    return piece;
  }

  private restarted(): StreamRestartedError {
    return new StreamRestartedError(this.earlier + this.delivered, this.options.runId);
  }
}

function assertContinues(event: RunEvent): void {
  if (event.type === 'run.failed') {
    const { code, message, is_retryable, details } = event.error;
    throw new AppError(toErrorCode(code), message, {
      isRetryable: is_retryable,
      details: { ...details, run_id: event.run_id },
    });
  }
  if (event.type === 'run.waiting') {
    const message = `The run waits for a person (${event.reason}): decide on run ${event.run_id}, the run then continues.`;
    throw new AppError('RUN_WAITING', message, { details: { run_id: event.run_id, waiting: event.requests } });
  }
  if (event.type === 'stream.closed') {
    const { run_id, code } = event;
    throw new AppError(
      toErrorCode(code),
      `Run "${run_id}" cannot be followed further here (${code}); it has not ended.`,
      {
        details: { run_id },
      },
    );
  }
}
