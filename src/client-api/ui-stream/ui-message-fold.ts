import { toErrorCode } from '../../agent/answer/index.js';
import { AppError } from '../../errors/index.js';
import type { WaitingRequest } from '../../run/decision/index.js';
import { NO_USAGE, type RunEvent, type RunFinishReason } from '../../run/event/index.js';
import { addUsage } from '../../run/usage/index.js';
import { TextParts, type TextStep } from '../text-parts.js';
import { waitingText } from '../waiting-text.mapper.js';
import type { UiChunk, UiFinishReason, UiMetadata } from './ui-chunk.types.js';
import { UiToolParts } from './ui-tool-parts.js';

/** The text and reasoning parts of a message. */
export class UiTextParts {
  /** Whether the message has a text. */
  hasText = false;
  private readonly parts: TextParts;
  private id = '';
  private count = 0;

  constructor(runId: string) {
    this.parts = new TextParts(runId);
  }

  take(event: Parameters<TextParts['take']>[0]): readonly UiChunk[] {
    return this.map(this.parts.take(event));
  }

  /** A text that is no reply of a model. */
  say(text: string): readonly UiChunk[] {
    return this.map(this.parts.say(text));
  }

  /** Ends the open part. */
  close(): readonly UiChunk[] {
    return this.map(this.parts.close());
  }

  reason(text: string): readonly UiChunk[] {
    const id = `reasoning-${++this.count}`;
    return [
      { type: 'reasoning-start', id },
      { type: 'reasoning-delta', id, delta: text },
      { type: 'reasoning-end', id },
    ];
  }

  private map(steps: readonly TextStep[]): readonly UiChunk[] {
    return steps.map((step): UiChunk => {
      if (step.kind === 'delta') return { type: 'text-delta', id: this.id, delta: step.text };
      if (step.kind === 'end') return { type: 'text-end', id: this.id };
      this.hasText = true;
      this.id = `text-${++this.count}`;
      return { type: 'text-start', id: this.id };
    });
  }
}

type Event<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;

export interface UiFoldOptions {
  readonly runId: string;
  readonly messageId: string;
  /** The tools that the page executes. */
  readonly clientTools: ReadonlySet<string>;
  /** Whether a wait that the page cannot end is reported as a text, or as an error. */
  readonly onWaiting: 'message' | 'error';
}

const REASONS: Readonly<Record<RunFinishReason, UiFinishReason>> = {
  stop: 'stop',
  length: 'length',
  content_filter: 'content-filter',
  iteration_limit: 'length',
  timeout: 'error',
  cancelled: 'other',
  error: 'error',
};

/** The chunks of a message from the events of its run. */
export class UiMessageFold {
  private readonly text: UiTextParts;
  private readonly tools: UiToolParts;
  private usage = NO_USAGE;
  private iteration = 0;
  private isStepOpen = false;
  private requests: readonly WaitingRequest[] | null = null;
  private conclusion: readonly UiChunk[] | null = null;
  private failure: AppError | null = null;

  constructor(private readonly options: UiFoldOptions) {
    this.text = new UiTextParts(options.runId);
    this.tools = new UiToolParts(options.runId, options.clientTools);
  }

  /** Whether the run waited at its last event. */
  get isWaiting(): boolean {
    return this.requests !== null;
  }

  get isOver(): boolean {
    return this.conclusion !== null || this.failure !== null;
  }

  /** The page has the parts of all events so far: the next chunks continue its message. */
  continue(): void {
    this.tools.continue();
    this.isStepOpen = false;
  }

  start(): UiChunk {
    const { messageId, runId } = this.options;
    return { type: 'start', messageId, messageMetadata: { run_id: runId } };
  }

  take(event: RunEvent): readonly UiChunk[] {
    this.requests = null;
    switch (event.type) {
      case 'message.delta':
      case 'step.restarted':
        return this.inStep(event.iteration, this.text.take(event));
      case 'message.completed':
        this.tools.place(event);
        return this.inStep(event.iteration, this.text.take(event));
      case 'thought':
        return this.inStep(event.iteration, this.text.reason(event.text));
      case 'tool.started':
        return this.inStep(event.iteration, this.tools.start(event));
      case 'tool.completed':
        return this.inStep(event.iteration, this.tools.complete(event));
      case 'policy.decided':
        return 'request_id' in event ? this.tools.decide(event) : [];
      case 'usage':
        this.usage = addUsage(this.usage, event);
        return [];
      case 'run.waiting':
        this.requests = event.requests;
        return this.ask(event.requests);
      case 'run.completed':
        return this.complete(event);
      case 'run.failed':
        return this.fail(event.error.code, event.error.message, event.error.is_retryable);
      case 'run.cancelled':
        this.conclusion = [{ type: 'abort', reason: `Run "${event.run_id}" was cancelled.` }];
        return [];
      case 'stream.closed':
        return this.fail(event.code, `Run "${event.run_id}" cannot be followed further here.`, true);
      case 'run.started':
      case 'run.resumed':
      case 'step.started':
      case 'tool.progress':
      case 'state.changed':
      case 'node.started':
      case 'node.completed':
      case 'model.switched':
      case 'model.cached':
      case 'context.compacted':
      case 'history.repaired':
        return [];
    }
  }

  /**
   * The last chunks, after the last event.
   * @throws AppError with the code of a failed run, `RUN_WAITING`, or `SHUTTING_DOWN` if the run has not ended; call
   *   `close` before
   */
  end(): readonly UiChunk[] {
    if (this.failure) throw this.failure;
    if (this.conclusion) return this.conclusion;
    const { runId, onWaiting } = this.options;
    if (!this.requests) throw this.error('SHUTTING_DOWN', `The events of run "${runId}" ended before the run.`, true);
    if (this.requests.some(isForPage)) return [this.finish('tool-calls')];
    const text = waitingText(runId, this.requests);
    if (onWaiting === 'error') throw this.error('RUN_WAITING', text, false);
    return [...this.text.say(text), this.finish('stop')];
  }

  /** Ends the open parts. */
  close(): readonly UiChunk[] {
    const closed = this.text.close();
    if (!this.isStepOpen) return closed;
    this.isStepOpen = false;
    return [...closed, { type: 'finish-step' }];
  }

  private complete({ result, finish_reason: reason }: Event<'run.completed'>): readonly UiChunk[] {
    this.conclusion = [this.finish(REASONS[reason])];
    return this.text.hasText || result === '' ? [] : this.inStep(this.iteration, this.text.say(result));
  }

  private ask(requests: readonly WaitingRequest[]): readonly UiChunk[] {
    return requests.filter(isForPage).flatMap((request) => {
      const iteration = Number(request.step.split(':')[1]);
      return this.inStep(iteration, this.tools.ask(request));
    });
  }

  /** The chunks in the step of a model call, which they may open. */
  private inStep(iteration: number, chunks: readonly UiChunk[]): readonly UiChunk[] {
    if (chunks.length === 0 || iteration <= this.iteration) return chunks;
    this.iteration = iteration;
    const before = this.isStepOpen ? [{ type: 'finish-step' } as const] : [];
    this.isStepOpen = true;
    return [...before, { type: 'start-step' }, ...chunks];
  }

  private finish(finishReason: UiFinishReason): UiChunk {
    const messageMetadata: UiMetadata = { run_id: this.options.runId, usage: this.usage };
    return { type: 'finish', finishReason, messageMetadata };
  }

  private fail(code: string, message: string, isRetryable: boolean): readonly UiChunk[] {
    this.failure = this.error(code, message, isRetryable);
    return [];
  }

  private error(code: string, message: string, isRetryable: boolean): AppError {
    return new AppError(toErrorCode(code), message, { isRetryable, details: { run_id: this.options.runId } });
  }
}

/** Whether the page can answer: with the result of its own tool, or with an approval that the caller may give. */
function isForPage({ kind, by_client: isByClient, by_another: isByAnother }: WaitingRequest): boolean {
  return isByClient === true || (kind === 'approval' && !isByAnother);
}
