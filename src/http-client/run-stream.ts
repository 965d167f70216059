import { readEvents } from './event-stream.parser.js';
import type { ChatRequest, RunAnswer, RunEvent } from './generated/operations.js';
import { lostConnection, type HttpTransport } from './http-transport.js';
import { JackdawError } from './jackdaw.error.js';
import { MessageText } from './message-text.js';
import { delayOf, isRetryable, newKey, pause } from './retry.js';

/** Options of a stream. */
export interface StreamOptions {
  /** Ends the iteration without an error; the run continues. */
  readonly signal?: AbortSignal;
  /** With `signal`: its abort also cancels the run. Default: false. */
  readonly cancelOnAbort?: boolean;
}

/** Options of the stream of a new run. */
export interface ChatStreamOptions extends StreamOptions {
  /** Streams with this key get the events of one run, for 24 hours. Default: a random key. */
  readonly idempotencyKey?: string;
}

/** Options of the stream of an existing run. */
export interface FollowOptions extends StreamOptions {
  /** The `lastEventId` of an earlier stream; default: from the start of the run. */
  readonly after?: string;
}

/** The run of a stream: a new one by its request, or an existing one. */
export type StreamSource =
  | { readonly body: ChatRequest; readonly idempotencyKey?: string }
  | { readonly runId: string; readonly after?: string };

/**
 * The events of a run. An iteration opens the connection, resumes after a lost one at its position, and ends with the run or
 * when the run waits for a decision. A further iteration continues after the last event of the previous one. Only one
 * iteration at a time is possible.
 */
export class RunStream implements AsyncIterable<RunEvent> {
  private readonly request:
    { readonly body: ChatRequest; readonly headers: Readonly<Record<string, string>> } | undefined;
  private readonly message = new MessageText();
  private id: string | undefined;
  private position: string | undefined;
  private last: RunEvent | undefined;
  private isReading = false;

  constructor(
    private readonly transport: HttpTransport,
    source: StreamSource,
    private readonly options: StreamOptions,
  ) {
    if ('runId' in source) [this.id, this.position] = [source.runId, source.after];
    else this.request = { body: source.body, headers: { 'idempotency-key': source.idempotencyKey ?? newKey() } };
  }

  /** The run; undefined before the server has started it. */
  get runId(): string | undefined {
    return this.id;
  }

  /** The position after the last received event, for `runs.follow(id, { after })`. */
  get lastEventId(): string | undefined {
    return this.position;
  }

  /**
   * Each event once, in order. Types that a later server adds are possible.
   * @throws JackdawError if the request is refused, or after too many failed reconnections
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<RunEvent, void> {
    if (this.isReading) throw new Error('This stream is already being read: read it once at a time.');
    this.isReading = true;
    try {
      yield* this.resume();
    } finally {
      this.isReading = false;
      if (this.options.cancelOnAbort && this.isAborted) await this.cancel();
    }
  }

  /**
   * The text of the current message so far, at each change: display the latest. A model that is asked again replaces it, and
   * so does a message after tool calls. The last text is the result of the run.
   * @throws JackdawError as the iteration over the events; also if the run fails
   */
  async *text(): AsyncGenerator<string, void> {
    let shown: string | undefined;
    for await (const { type } of this) {
      const { text } = this.message;
      if (text !== shown && (text !== '' || type === 'step.restarted')) yield (shown = text);
    }
    this.assertNotFailed();
  }

  /**
   * Reads the rest of the stream. @returns the run, as `runs.get`: completed, cancelled or waiting
   * @throws JackdawError as `text`; the reason of the aborted signal
   */
  async answer(): Promise<RunAnswer> {
    for await (const _ of this);
    this.options.signal?.throwIfAborted();
    this.assertNotFailed();
    return this.transport.call('getRun', { path: { id: this.id ?? '' } }, this.options);
  }

  private async *resume(): AsyncGenerator<RunEvent, void> {
    for (let failures = 0; !this.isOver() && !this.isAborted;) {
      const failure = yield* this.connect(() => (failures = 0));
      if (failure === undefined || this.isAborted) return;
      failures++;
      const limit = this.id === undefined ? this.transport.retries : this.transport.reconnects;
      if (failures > limit || !isRetryable(failure, true)) throw failure;
      await pause(delayOf(failures, failure), this.options.signal);
    }
  }

  /** @param onEvent called for each event. @returns why the connection ended before the last event, if it did */
  private async *connect(onEvent: () => void): AsyncGenerator<RunEvent, JackdawError | undefined> {
    const response = await this.open().catch((error: unknown) => this.refusal(error));
    if (response instanceof JackdawError) return response;
    // After the last event of a run that has ended.
    if (response.status === 204) return undefined;
    this.id = response.headers.get('x-run-id') ?? this.id;
    try {
      return yield* this.read(response, onEvent);
    } catch (cause) {
      return cause instanceof JackdawError ? cause : lostConnection(cause);
    }
  }

  private async *read(response: Response, onEvent: () => void): AsyncGenerator<RunEvent, JackdawError | undefined> {
    let isEmpty = true;
    for await (const { id, data } of readEvents(response, this.transport.idleTimeoutMs)) {
      isEmpty = false;
      const event = JSON.parse(data) as RunEvent;
      if (event.type === 'stream.closed') return closedEarly(event.code);
      onEvent();
      this.receive(event, id);
      yield event;
      if (this.isOver() || this.isAborted) return undefined;
    }
    if (this.last?.type === 'run.waiting' || (isEmpty && (await this.isWaiting()))) return undefined;
    return closedEarly();
  }

  /** The error of a request without a stream. @throws an error of the caller, such as an invalid id */
  private refusal(error: unknown): JackdawError {
    if (error instanceof JackdawError) return error;
    if (this.isAborted) return lostConnection(error);
    throw error;
  }

  /** Of a stream that started after `run.waiting`, the server has no event to send. */
  private async isWaiting(): Promise<boolean> {
    const { status } = await this.transport.call('getRun', { path: { id: this.id ?? '' } }, this.options);
    return status === 'waiting';
  }

  /** Sends the request of a connection. Its response must start within the idle timeout. */
  private async open(): Promise<Response> {
    const { idleTimeoutMs } = this.transport;
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(lostConnection(`No response in ${idleTimeoutMs} ms.`)), idleTimeoutMs);
    const { signal = silence.signal } = this.options;
    try {
      return await this.send(AbortSignal.any([signal, silence.signal]));
    } finally {
      clearTimeout(timer);
    }
  }

  private send(signal: AbortSignal): Promise<Response> {
    if (this.id === undefined && this.request) return this.transport.open('streamChat', { ...this.request, signal });
    const headers = this.position === undefined ? undefined : { headers: { 'last-event-id': this.position } };
    return this.transport.open('streamRunEvents', { path: { id: this.id ?? '' }, ...headers, signal });
  }

  private receive(event: RunEvent, id: string | undefined): void {
    if (event.type === 'run.started') this.id = event.run_id;
    this.position = id ?? this.position;
    this.last = event;
    this.message.take(event);
  }

  private get isAborted(): boolean {
    return this.options.signal?.aborted === true;
  }

  /** Whether no event can follow. */
  private isOver(): boolean {
    const type = this.last?.type;
    return type === 'run.completed' || type === 'run.failed' || type === 'run.cancelled';
  }

  private assertNotFailed(): void {
    if (this.last?.type !== 'run.failed') return;
    const { error, run_id: runId } = this.last;
    throw new JackdawError(error.code, error.message, { runId });
  }

  private async cancel(): Promise<void> {
    if (this.id !== undefined && !this.isOver()) await this.transport.call('cancelRun', { path: { id: this.id } });
  }
}

/** The server has closed the stream of a run that continues. @param code of `stream.closed` */
function closedEarly(code = 'CONNECTION_FAILED'): JackdawError {
  const cause = code === 'CONNECTION_FAILED' ? undefined : new Error(`stream.closed: ${code}`);
  return new JackdawError('CONNECTION_FAILED', 'The server closed the stream before the end of the run.', { cause });
}
