import { AppError, type ErrorCode } from '../../errors/index.js';
import { steadyNow } from '../../kernel/index.js';
import { type ChatModel, ModelWrapper } from '../chat/chat-model.js';
import type { CallOptions, ChatRequest, ChatResult, ChatStreamPart } from '../chat/chat.types.js';

const SLICES = 10;

/** Counts of successes and failures within the last `windowMs`, in ten slices. Times are of the steady clock, in ms. */
class OutcomeWindow {
  private readonly slices = Array.from({ length: SLICES }, () => ({ index: 0, succeeded: 0, failed: 0 }));
  private readonly sliceMs: number;

  constructor(windowMs: number) {
    this.sliceMs = windowMs / SLICES;
  }

  add(outcome: 'succeeded' | 'failed', now: number): void {
    const index = Math.floor(now / this.sliceMs);
    const slice = this.slices[index % SLICES]!;
    if (slice.index !== index) Object.assign(slice, { index, succeeded: 0, failed: 0 });
    slice[outcome]++;
  }

  counts(now: number): { readonly total: number; readonly failed: number } {
    const oldest = Math.floor(now / this.sliceMs) - SLICES + 1;
    const recent = this.slices.filter(({ index }) => index >= oldest);
    const failed = recent.reduce((sum, slice) => sum + slice.failed, 0);
    return { failed, total: recent.reduce((sum, slice) => sum + slice.succeeded, failed) };
  }

  clear(): void {
    for (const slice of this.slices) Object.assign(slice, { index: 0, succeeded: 0, failed: 0 });
  }
}

interface BreakerRules {
  /** Consecutive time-outs, refused connections or replies 502 to 504 that open a circuit with a fallback. */
  readonly failures: number;
  /** Maximum time until an open circuit admits the next request, in ms. */
  readonly maxPauseMs: number;
}

/** The state of a circuit: `half_open` admits a growing number of requests at a time. */
export type CircuitState = 'closed' | 'open' | 'half_open';

/** Failures of the provider. Rate limits and rejected requests do not count: they concern a key or one request. */
const FAULTS: readonly ErrorCode[] = ['MODEL_TIMEOUT', 'MODEL_UNREACHABLE', 'MODEL_UNAVAILABLE', 'MODEL_BAD_REPLY'];
/** Faults of this process, which no provider can cause. */
const LOCAL_CAUSES = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS', 'ERR_OUT_OF_MEMORY', 'PROCESS_SUSPENDED']);
const WINDOW_MS = 10_000;
/** Outcomes within the window below which a rate says little. */
const MIN_OUTCOMES = 20;
const FAILURE_RATE = 0.6;
const MIN_PAUSE_MS = 500;
/** Without a fallback, an open circuit admits one request in this time, in ms. */
const TRICKLE_MS = 1000;
/** A half-open circuit that may have so many requests at a time is closed. */
const CLOSED_AT = 16;

/**
 * Circuit breaker of a model. It counts the outcomes of requests after their retries, and each time-out at once. It opens
 * when most requests of the last ten seconds failed. After a pause it admits one request, then two, four, … until it closes.
 */
export class CircuitBreaker {
  private readonly window = new OutcomeWindow(WINDOW_MS);
  private consecutive = 0;
  /** End of the pause, by the steady clock; 0 while no pause is set. */
  private openUntil = 0;
  private closedAt = 0;
  private pauseMs = MIN_PAUSE_MS;
  private lastProbeAt = 0;
  /** Requests that may run at a time after the pause. */
  private share = 1;
  private probes = 0;
  private announcement: NodeJS.Timeout | undefined;

  constructor(
    private readonly rules: BreakerRules,
    /** Name in error messages. */
    private readonly what: string,
    private readonly hasFallback: boolean,
    /** Called with the number of requests that the circuit admits after a pause, `Infinity` when it has closed. */
    private readonly onAdmission: (requests: number) => void = () => undefined,
  ) {}

  get state(): CircuitState {
    if (this.openUntil === 0) return 'closed';
    return steadyNow() < this.openUntil ? 'open' : 'half_open';
  }

  /**
   * Admits a request. The caller must report its outcome by `ended`.
   * @returns whether the request tests an open circuit
   * @throws AppError `MODEL_CIRCUIT_OPEN`
   */
  enter(): boolean {
    if (this.openUntil === 0) return false;
    const now = steadyNow();
    const hasPlace = now >= this.openUntil && this.probes < this.share;
    if (!hasPlace && !this.trickles(now)) throw this.isOpen(now);
    this.probes++;
    this.lastProbeAt = now;
    return true;
  }

  /** Runs a request if the circuit admits it, and records its outcome. @throws as `enter`, and the request's error */
  async run<T>(call: () => Promise<T>): Promise<T> {
    const isProbe = this.enter();
    try {
      const result = await call();
      this.ended(isProbe);
      return result;
    } catch (error) {
      this.ended(isProbe, error);
      throw error;
    }
  }

  /** Records the outcome of a request; ignores errors that say nothing about the provider. */
  ended(isProbe: boolean, error?: unknown): void {
    if (isProbe) this.probes--;
    if (error === undefined) this.succeeded(isProbe);
    else this.failed(error, isProbe);
  }

  /** Records a failed attempt that is retried: a time-out counts at once, since its request may last for minutes. */
  attemptFailed(error: unknown): void {
    if (error instanceof AppError && error.code === 'MODEL_TIMEOUT') this.failed(error, false);
  }

  private succeeded(isProbe: boolean): void {
    const now = steadyNow();
    this.consecutive = 0;
    this.window.add('succeeded', now);
    if (!isProbe || this.openUntil === 0) return;
    this.openUntil = Math.min(this.openUntil, now);
    this.share *= 2;
    if (this.share < CLOSED_AT) return this.onAdmission(this.share);
    this.openUntil = 0;
    this.closedAt = now;
    this.window.clear();
    this.onAdmission(Number.POSITIVE_INFINITY);
  }

  private failed(error: unknown, isProbe: boolean): void {
    if (!(error instanceof AppError) || !FAULTS.includes(error.code) || isLocal(error)) return;
    const now = steadyNow();
    this.window.add('failed', now);
    this.consecutive = isOutage(error) ? this.consecutive + 1 : 0;
    if (this.openUntil === 0 ? this.isFailing(now) : isProbe && now >= this.openUntil) this.open(now);
  }

  private isFailing(now: number): boolean {
    if (this.hasFallback && this.consecutive >= this.rules.failures) return true;
    const { total, failed } = this.window.counts(now);
    return total >= MIN_OUTCOMES && failed / total >= FAILURE_RATE;
  }

  /** Pauses; the pause doubles until the circuit has been closed for a whole window. */
  private open(now: number): void {
    const isNew = this.openUntil === 0 && now - this.closedAt > WINDOW_MS;
    this.pauseMs = Math.min(isNew ? MIN_PAUSE_MS : this.pauseMs * 2, this.rules.maxPauseMs);
    // The jitter spreads the requests of several processes.
    this.openUntil = now + this.pauseMs * (0.75 + Math.random() / 4);
    if (isNew) this.lastProbeAt = now;
    this.share = 1;
    clearTimeout(this.announcement);
    this.announcement = setTimeout(() => this.onAdmission(this.share), this.openUntil - now).unref();
  }

  /** Without a fallback a paused caller has no other model, so one request a second finds out whether it works again. */
  private trickles(now: number): boolean {
    return !this.hasFallback && now - this.lastProbeAt >= TRICKLE_MS;
  }

  private isOpen(now: number): AppError {
    const pauseMs = Math.max(this.openUntil - now, 1);
    const leftMs = Math.ceil(this.hasFallback ? pauseMs : Math.min(pauseMs, TRICKLE_MS));
    const message = `Most requests to ${this.what} failed, so it is not asked for a while; try again in ${Math.ceil(leftMs / 1000)} s.`;
    return new AppError('MODEL_CIRCUIT_OPEN', message, { isRetryable: true, details: { retry_after_ms: leftMs } });
  }
}

/** A time-out, a refused connection, or a reply 502, 503 or 504: the provider did not handle the request. */
function isOutage({ code, details }: AppError): boolean {
  const status = details?.['provider_status'];
  return code === 'MODEL_TIMEOUT' || code === 'MODEL_UNREACHABLE' || status === 502 || status === 503 || status === 504;
}

function isLocal(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (LOCAL_CAUSES.has((cause as NodeJS.ErrnoException).code ?? '')) return true;
  }
  return false;
}

/** Rejects requests while the model's circuit is open. Retries are inside: those under way are not cut. */
export class BreakingModel extends ModelWrapper {
  /** @param onError called with each error, also of a rejected request */
  constructor(
    inner: ChatModel,
    /** Shared by all instances of the same model. */
    private readonly breaker: CircuitBreaker,
    private readonly onError: (error: unknown) => void = () => undefined,
  ) {
    super(inner);
  }

  async generate(request: ChatRequest, options?: CallOptions): Promise<ChatResult> {
    try {
      return await this.breaker.run(() => this.inner.generate(request, options));
    } catch (error) {
      this.onError(error);
      throw error;
    }
  }

  async *stream(request: ChatRequest, options?: CallOptions): AsyncGenerator<ChatStreamPart, void> {
    const isProbe = this.enter();
    // A reader that leaves early counts neither as success nor as failure.
    let outcome: unknown = null;
    try {
      for await (const part of this.inner.stream(request, options)) {
        if (part.type === 'finish') outcome = undefined;
        yield part;
      }
    } catch (error) {
      outcome = error;
      this.onError(error);
      throw error;
    } finally {
      this.breaker.ended(isProbe, outcome);
    }
  }

  private enter(): boolean {
    try {
      return this.breaker.enter();
    } catch (error) {
      this.onError(error);
      throw error;
    }
  }
}
