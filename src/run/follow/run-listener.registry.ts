import { AppError, Log } from '../../errors/index.js';
import { parseExactJson } from '../../kernel/json/index.js';
import type { RunEvent } from '../event/run-event.types.js';
import type { RunItem } from '../event/run-item.factory.js';
import type { RunRecord } from '../run.types.js';

/** The run of an event. */
export type RunOrigin = Pick<RunRecord, 'id' | 'tenant' | 'sessionId' | 'agent'>;

type Matching<P extends RunEventPattern> = P extends '**'
  ? PublishedType
  : P extends `${infer Group}.*`
    ? Extract<PublishedType, `${Group}.${string}`>
    : P;

/** An event and its run, for listeners of all runs. Frozen, as all listeners share it. */
export interface RunNotice<P extends RunEventPattern = '**'> {
  readonly runId: string;
  readonly tenant: string;
  readonly sessionId: string | null;
  readonly agent: string;
  /** Time of the event, epoch ms. */
  readonly at: number;
  /** As in the journal and in a stream. */
  readonly event: Extract<PublishedEvent, { readonly type: Matching<P> }>;
}

/** May be slow, throw or reject: the run does not wait for it. */
export type RunNoticeListener<P extends RunEventPattern = '**'> = (notice: RunNotice<P>) => unknown;

/** The events that listeners of all runs receive; `stream.closed` goes to its follower only. */
export type PublishedEvent = Exclude<RunEvent, { readonly type: 'stream.closed' }>;
export type PublishedType = PublishedEvent['type'];

type GroupOf<T extends string> = T extends `${infer Group}.${string}` ? `${Group}.*` : never;

/** One type (`tool.completed`), all types of a group (`tool.*`), or all types (`**`). */
export type RunEventPattern = PublishedType | GroupOf<PublishedType> | '**';

const TYPES = Object.keys({
  'run.started': true,
  'run.resumed': true,
  'run.waiting': true,
  'run.completed': true,
  'run.failed': true,
  'run.cancelled': true,
  'step.started': true,
  'step.restarted': true,
  'message.delta': true,
  'message.completed': true,
  thought: true,
  'tool.started': true,
  'tool.progress': true,
  'tool.completed': true,
  'node.started': true,
  'node.completed': true,
  'state.changed': true,
  'policy.decided': true,
  usage: true,
  'model.switched': true,
  'model.cached': true,
  'context.compacted': true,
  'history.repaired': true,
} satisfies Record<PublishedType, true>) as readonly PublishedType[];

/** The event types that match a pattern; empty if no type matches. */
export function eventTypesOf(pattern: string): readonly PublishedType[] {
  if (pattern === '**') return TYPES;
  if (!pattern.endsWith('.*')) return TYPES.filter((type) => type === pattern);
  const prefix = pattern.slice(0, -1);
  return TYPES.filter((type) => type.startsWith(prefix));
}

interface Listening {
  /** The listener's name, for the log. */
  readonly name: string;
  readonly listener: RunNoticeListener;
  isLate: boolean;
}

interface Pending {
  readonly run: RunOrigin;
  readonly item: RunItem;
  readonly listening: readonly Listening[];
}

/** Duration of a listener call after which one warning is logged, in ms. */
const LATE_MS = 30_000;

/**
 * The listeners of every run that executes here. They are called in a later turn of the event loop than the run's own
 * work, one event after the other; the run does not wait for them.
 */
export class RunListenerRegistry {
  private readonly logger = new Log(RunListenerRegistry.name);
  private readonly listening = new Map<PublishedType, readonly Listening[]>();
  private pending: Pending[] = [];

  /**
   * @param name the listener's name, for the log
   * @returns a function that removes the listener
   * @throws AppError `VALIDATION_FAILED` for a pattern that matches no event
   */
  register<P extends RunEventPattern>(name: string, pattern: P, listener: RunNoticeListener<P>): () => void {
    const types = eventTypesOf(pattern);
    if (types.length === 0) {
      throw new AppError(
        'VALIDATION_FAILED',
        `${name} listens to "${pattern}", which matches no run event; the event types are: ${eventTypesOf('**').join(', ')}.`,
      );
    }
    // It receives only events that match its pattern.
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

  /** Queues an item for the listeners of its type; costs almost nothing without a listener. */
  publish(run: RunOrigin, item: RunItem): void {
    const listening = this.listening.get(item.event.type as PublishedType);
    if (!listening || listening.length === 0) return;
    if (this.pending.length === 0) setImmediate(() => this.flush());
    this.pending.push({ run, item, listening });
  }

  /** Resolves when the listeners have been called with all queued items; undefined if nothing is queued. */
  caughtUp(): Promise<void> | undefined {
    return this.pending.length === 0 ? undefined : new Promise((resolve) => setImmediate(resolve));
  }

  /** Calls the listeners at once with all queued items. */
  flush(): void {
    const { pending } = this;
    this.pending = [];
    for (const { run, item, listening } of pending) {
      const notice = toNotice(run, item);
      for (const one of listening) void this.call(one, notice);
    }
  }

  private of(type: PublishedType): readonly Listening[] {
    return this.listening.get(type) ?? [];
  }

  private async call(listening: Listening, notice: RunNotice): Promise<void> {
    const { name, listener } = listening;
    let timer: NodeJS.Timeout | undefined;
    try {
      const result = listener(notice);
      if (!isThenable(result)) return;
      timer = setTimeout(() => this.warnLate(listening, notice), LATE_MS).unref();
      await result;
    } catch (err) {
      this.logger.error({ err, run_id: notice.runId }, `${name}, a listener of "${notice.event.type}", failed`);
    } finally {
      clearTimeout(timer);
    }
  }

  private warnLate(listening: Listening, { event, runId }: RunNotice): void {
    if (listening.isLate) return;
    listening.isLate = true;
    const what = `has not finished with "${event.type}" after ${LATE_MS / 1000} s; this warning is logged once`;
    this.logger.warn({ run_id: runId }, `${listening.name} ${what}`);
  }
}

/** A frozen copy, so that one listener cannot change the data of another. */
function toNotice({ id, tenant, sessionId, agent }: RunOrigin, item: RunItem): RunNotice {
  const event = parseExactJson(item.data) as RunNotice['event'];
  return frozen({ runId: id, tenant, sessionId, agent, at: item.at, event });
}

function frozen<T extends object>(value: T): T {
  for (const inner of Object.values(value)) if (typeof inner === 'object' && inner !== null) frozen(inner as object);
  return Object.freeze(value);
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
