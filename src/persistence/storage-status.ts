import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { Log } from '../errors/index.js';
import { steadyNow, untilAborted } from '../kernel/index.js';
import { withinLimit } from './server-limits.policy.js';
import { type StorageFault, storageFaultOf, storageUnavailable } from './storage-fault.policy.js';

/** Delay of the first probe, in ms: a restarted server ends all connections, and the pool needs a moment to drop them. */
const SETTLE_MS = 20;
/** Delays between two probes of a failed database, in ms: the first, and the longest. */
const FIRST_PROBE_MS = 100;
const LAST_PROBE_MS = 1_000;
/** Time after which a probe counts as failed, in ms. */
const PROBE_TIMEOUT_MS = 2_000;

interface Outage {
  fault: StorageFault;
  readonly since: number;
  refused: number;
}

/**
 * The availability of a database, from the results of its calls. While it is down, calls fail at once, and a probe finds
 * out when it answers again. The log has one line at the failure and one at the recovery.
 */
export class StorageStatus {
  private readonly logger = new Log('Database');
  private outage: Outage | null = null;
  /** From the first failed call until a probe succeeds. */
  private recovery: PromiseWithResolvers<void> | null = null;
  private wroteAt = Number.NEGATIVE_INFINITY;
  private readAt = Number.NEGATIVE_INFINITY;
  private isClosed = false;

  /** @param write a small write that bypasses this status */
  constructor(private readonly write: () => Promise<void>) {}

  /** The present fault; `null` if the database is available. */
  get fault(): StorageFault | null {
    return this.outage?.fault ?? null;
  }

  /** Time since the last successful write, in ms. */
  get msSinceWrite(): number {
    return steadyNow() - this.wroteAt;
  }

  /** @throws AppError `STORAGE_UNAVAILABLE` while the database is known to be down */
  check(use: 'read' | 'write'): void {
    const { outage } = this;
    if (!outage || (use === 'read' && !outage.fault.stopsReads)) return;
    outage.refused++;
    throw storageUnavailable(new Error(outage.fault.cause));
  }

  succeeded(use: 'read' | 'write'): void {
    this.readAt = steadyNow();
    if (use === 'write') this.wroteAt = this.readAt;
  }

  /**
   * The error of a failed call; the error itself if it is not a fault of the database. A probe then decides whether the
   * database is down.
   * @param mayBeStored whether the failed call was a write that may have been sent
   */
  failed(cause: unknown, mayBeStored: boolean): unknown {
    const fault = storageFaultOf(cause);
    if (!fault) return cause;
    if (!this.recovery) {
      this.recovery = Promise.withResolvers();
      void this.probe();
    }
    return storageUnavailable(cause, mayBeStored && fault.isOfConnection);
  }

  /** Resolves when the database is available, or closed. */
  async available(): Promise<void> {
    if (!this.isClosed) await this.recovery?.promise;
  }

  /** Writes a small row, unless another write succeeded within `ms`. @throws the driver's error */
  async proveWrite(ms: number): Promise<void> {
    this.check('write');
    if (this.msSinceWrite <= ms) return;
    try {
      await this.attempt();
    } catch (error) {
      throw this.failed(error, false);
    }
  }

  close(): void {
    this.isClosed = true;
    this.recovery?.resolve();
  }

  private async probe(): Promise<void> {
    let delayMs = FIRST_PROBE_MS;
    await rest(SETTLE_MS);
    while (!this.isClosed) {
      const from = steadyNow();
      const fault = await this.attempt().then(
        () => undefined,
        (error: unknown) => storageFaultOf(error),
      );
      if (!fault || this.isClosed || this.isAnsweredSince(from, fault)) break;
      this.goDown(fault);
      await rest(delayMs);
      delayMs = Math.min(2 * delayMs, LAST_PROBE_MS);
    }
    this.goUp();
  }

  /** Whether another call succeeded during a failed probe, whose connection may have been an old one. */
  private isAnsweredSince(from: number, { stopsReads }: StorageFault): boolean {
    return (stopsReads ? this.readAt : this.wroteAt) > from;
  }

  private async attempt(): Promise<void> {
    await withinLimit(PROBE_TIMEOUT_MS, this.write());
    this.succeeded('write');
  }

  private goDown(fault: StorageFault): void {
    if (this.outage) {
      this.outage.fault = fault;
      return;
    }
    this.outage = { fault, since: steadyNow(), refused: 0 };
    this.logger.error(`The database is unavailable: ${fault.cause}. Requests fail with 503 until it answers`);
  }

  private goUp(): void {
    const { outage, recovery } = this;
    this.outage = null;
    // In the same step: a later call must not wait for an outage that is over.
    this.recovery = null;
    recovery?.resolve();
    if (!outage || this.isClosed) return;
    const seconds = ((steadyNow() - outage.since) / 1000).toFixed(1);
    this.logger.log(`The database is available again after ${seconds} s; ${outage.refused} calls were refused`);
  }
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

/** Work whose database calls wait for the end of an outage, such as a run. */
export interface Patience {
  /** Ends a wait. */
  readonly signal: AbortSignal;
  /** Called when clients have waited for the database as long as they may. */
  onHeld(): void;
}

/** The longest random delay after an outage, in ms: the calls that wait do not return together. */
const SPREAD_MS = 100;

const patient = new AsyncLocalStorage<Patience | null>();

/** Runs work with patience, or without that of the surrounding work. */
export function withPatience<T>(patience: Patience | null, work: () => Promise<T>): Promise<T> {
  return patient.run(patience, work);
}

/** The patience of the current work. */
export function currentPatience(): Patience | null {
  return patient.getStore() ?? null;
}

/**
 * Waits for the end of an outage.
 * @param available resolves then
 * @param clientsMs time that clients have left to wait, in ms
 * @throws the reason of the abort
 */
export async function outlast(patience: Patience, available: Promise<void>, clientsMs: number): Promise<void> {
  const { signal } = patience;
  const timer = setTimeout(() => patience.onHeld(), Math.max(0, clientsMs));
  try {
    await untilAborted(available, signal);
    await untilAborted(pause(Math.random() * SPREAD_MS), signal);
  } finally {
    clearTimeout(timer);
  }
}
