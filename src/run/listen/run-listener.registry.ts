import { Logger } from '@nestjs/common';
import { AppError, parseExactJson } from '../../common/index.js';
import type { RunItem } from '../run-item.factory.js';
import { eventTypesOf, type RunEventPattern, type ToldType } from './run-event-pattern.policy.js';
import type { RunNotice, RunNoticeListener, TellingRun } from './run-listener.types.js';

interface Listening {
  /** Who listens, for people. */
  readonly name: string;
  readonly listener: RunNoticeListener;
  isLate: boolean;
}

interface Told {
  readonly run: TellingRun;
  readonly item: RunItem;
  readonly listening: readonly Listening[];
}

/** After this time a listener that has not finished is told off, once, in ms. */
const LATE_MS = 30_000;

/**
 * Those who listen to every run that is executed here. They are told in a later turn of the event loop than the one that
 * the run goes on in, one event after the other; what they do with it is waited for by nobody.
 */
export class RunListenerRegistry {
  private readonly logger = new Logger(RunListenerRegistry.name);
  private readonly listening = new Map<ToldType, readonly Listening[]>();
  private told: Told[] = [];

  /**
   * @param name who listens, for the log
   * @returns a function that ends it
   * @throws AppError `VALIDATION_FAILED` for a pattern that no event meets
   */
  register<P extends RunEventPattern>(name: string, pattern: P, listener: RunNoticeListener<P>): () => void {
    const types = eventTypesOf(pattern);
    if (types.length === 0) {
      throw new AppError(
        'VALIDATION_FAILED',
        `${name} listens to "${pattern}", which no event of a run is called; there are: ${eventTypesOf('**').join(', ')}.`,
      );
    }
    // It is only told what its pattern meets.
    const added: Listening = { name, listener: listener as unknown as RunNoticeListener, isLate: false };
    for (const type of types) this.listening.set(type, [...this.of(type), added]);
    return () => {
      for (const type of types) {
        this.listening.set(
          type,
          this.of(type).filter((one) => one !== added),
        );
      }
    };
  }

  /** Takes note of what a run has done; costs next to nothing when nobody listens to it. */
  tell(run: TellingRun, item: RunItem): void {
    const listening = this.listening.get(item.event.type as ToldType);
    if (!listening || listening.length === 0) return;
    if (this.told.length === 0) setImmediate(() => this.flush());
    this.told.push({ run, item, listening });
  }

  /** Resolves when all that has been told so far was passed on; nothing to wait for when it was. */
  caughtUp(): Promise<void> | undefined {
    return this.told.length === 0 ? undefined : new Promise((resolve) => setImmediate(resolve));
  }

  /** Tells at once what has not been told yet. */
  flush(): void {
    const { told } = this;
    this.told = [];
    for (const { run, item, listening } of told) {
      const notice = toNotice(run, item);
      for (const one of listening) void this.call(one, notice);
    }
  }

  private of(type: ToldType): readonly Listening[] {
    return this.listening.get(type) ?? [];
  }

  private async call(listening: Listening, notice: RunNotice): Promise<void> {
    const { name, listener } = listening;
    let timer: NodeJS.Timeout | undefined;
    try {
      const pending = listener(notice);
      if (!isThenable(pending)) return;
      timer = setTimeout(() => this.warnLate(listening, notice), LATE_MS).unref();
      await pending;
    } catch (err) {
      this.logger.error({ err, run_id: notice.runId }, `${name}, who listens to "${notice.event.type}", failed`);
    } finally {
      clearTimeout(timer);
    }
  }

  private warnLate(listening: Listening, { event, runId }: RunNotice): void {
    if (listening.isLate) return;
    listening.isLate = true;
    const what = `has not finished with "${event.type}" after ${LATE_MS / 1000} s; this is told once`;
    this.logger.warn({ run_id: runId }, `${listening.name} ${what}`);
  }
}

/** A copy: whoever changes what it is told must not change what others read. */
function toNotice({ id, tenant, sessionId, agent }: TellingRun, item: RunItem): RunNotice {
  const event = parseExactJson(item.data) as RunNotice['event'];
  return frozen({ runId: id, tenant, sessionId, agent, event });
}

function frozen<T extends object>(value: T): T {
  for (const inner of Object.values(value)) if (typeof inner === 'object' && inner !== null) frozen(inner as object);
  return Object.freeze(value);
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
