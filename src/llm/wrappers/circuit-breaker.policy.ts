import { AppError, type ErrorCode } from '../../errors/index.js';

export interface BreakerRules {
  /** Consecutive failures that open the circuit; 0 disables it. */
  readonly failures: number;
  /** Time until one probe call may run, in ms. */
  readonly resetMs: number;
}

/** Failures of the provider; rate limits and rejections do not count. */
const FAULTS: readonly ErrorCode[] = ['MODEL_TIMEOUT', 'MODEL_UNREACHABLE', 'MODEL_UNAVAILABLE', 'MODEL_BAD_REPLY'];

/**
 * Circuit breaker of a model: closed while calls succeed, open after consecutive failures, half open while one call,
 * the probe, tests whether the model works again.
 */
export class CircuitBreaker {
  private failed = 0;
  /** Epoch ms; 0 while the circuit is closed. */
  private openUntil = 0;
  private isProbing = false;

  constructor(
    private readonly rules: BreakerRules,
    /** Name in error messages. */
    private readonly what: string,
  ) {}

  get state(): 'closed' | 'open' | 'half_open' {
    if (this.openUntil === 0) return 'closed';
    return this.isProbing || Date.now() >= this.openUntil ? 'half_open' : 'open';
  }

  /**
   * Admits a call. The caller must report its outcome by `succeeded` or `ended`.
   * @returns whether the call is the probe
   * @throws AppError `MODEL_CIRCUIT_OPEN`
   */
  enter(): boolean {
    if (this.openUntil === 0) return false;
    const leftMs = this.openUntil - Date.now();
    if (leftMs > 0 || this.isProbing) throw this.isOpen(Math.max(leftMs, 1));
    this.isProbing = true;
    return true;
  }

  /** Runs a call if the circuit admits it, and records its outcome. @throws as `enter`, and the call's error */
  async run<T>(call: () => Promise<T>): Promise<T> {
    const isProbe = this.enter();
    try {
      const result = await call();
      this.succeeded();
      return result;
    } catch (error) {
      this.ended(error, isProbe);
      throw error;
    }
  }

  succeeded(): void {
    this.failed = 0;
    this.openUntil = 0;
    this.isProbing = false;
  }

  /** Records a failed call; ignores an abandoned one. */
  ended(error: unknown, isProbe: boolean): void {
    if (isProbe) this.isProbing = false;
    if (!(error instanceof AppError) || !FAULTS.includes(error.code)) return;
    this.failed++;
    if (isProbe || (this.rules.failures > 0 && this.failed >= this.rules.failures))
      this.openUntil = Date.now() + this.rules.resetMs;
  }

  private isOpen(leftMs: number): AppError {
    const message = `${this.what} failed ${this.failed} times in a row and is not asked for a while; try again in ${Math.ceil(leftMs / 1000)} s.`;
    return new AppError('MODEL_CIRCUIT_OPEN', message, { isRetryable: true, details: { retry_after_ms: leftMs } });
  }
}
