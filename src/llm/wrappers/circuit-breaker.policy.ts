import { AppError, type ErrorCode } from '../../common/index.js';

export interface BreakerRules {
  /** Failures in a row that open the circuit; 0 is never. */
  readonly failures: number;
  /** After this time, in ms, one call may try. */
  readonly resetMs: number;
}

/** Faults of the provider's side; that it limits or refuses is no fault of it. */
const FAULTS: readonly ErrorCode[] = ['MODEL_TIMEOUT', 'MODEL_UNREACHABLE', 'MODEL_UNAVAILABLE', 'MODEL_BAD_REPLY'];

/**
 * Whether a model is asked at all: closed while it answers, open after so many failures in a row, and half open when one
 * call, the probe, tries whether it answers again.
 */
export class CircuitBreaker {
  private failed = 0;
  /** Epoch ms; 0 while it is closed. */
  private openUntil = 0;
  private isProbing = false;

  constructor(
    private readonly rules: BreakerRules,
    /** What the errors call it. */
    private readonly what: string,
  ) {}

  get state(): 'closed' | 'open' | 'half_open' {
    if (this.openUntil === 0) return 'closed';
    return this.isProbing || Date.now() >= this.openUntil ? 'half_open' : 'open';
  }

  /**
   * Lets a call through, whose end is to be told.
   * @returns whether it is the probe
   * @throws AppError `MODEL_CIRCUIT_OPEN`
   */
  enter(): boolean {
    if (this.openUntil === 0) return false;
    const leftMs = this.openUntil - Date.now();
    if (leftMs > 0 || this.isProbing) throw this.isOpen(Math.max(leftMs, 1));
    this.isProbing = true;
    return true;
  }

  /** Makes a call, if it lets it through, and hears how it ends. @throws as `enter`, and what the call throws */
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

  /** A call failed, or was given up, which says nothing of the model. */
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
